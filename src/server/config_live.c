#include "server/config_live.h"

#include "config/config_table.h"
#include "engine/engine.h"
#include "server/parts.h"
#include "server/settings/tls_watch.h"

struct changing {
    struct engine *engine;
    struct tls_setup tls; /* what TLS used before */
};

/* The config_apply_function: undoing what TLS uses must not fail. */
static bool apply_change(const struct config_directive *directive, bool is_undo, void *arg,
                         sds *error) {
    struct changing *changing = arg;
    bool is_for_tls = directive->effect == EFFECT_TLS || directive->effect == EFFECT_LISTENERS;
    if (is_undo && is_for_tls) tls_watch_restore(changing->engine, &changing->tls);
    if (is_undo && directive->effect == EFFECT_TLS) return true;
    if (parts_configure(changing->engine, directive->effect, error)) return true;
    if (!*error) /* of the listeners: the words depend on the directive */
        *error = sds_new(slice_is(SLICE("bind"), directive->name)
                             ? SLICE("Failed to bind to specified addresses.")
                             : SLICE("Unable to listen on this port. Check server logs."));
    return false;
}

bool config_live_change(struct engine *engine, const struct config_change *changes, size_t count,
                        size_t *culprit, sds *error) {
    struct changing changing = {.engine = engine, .tls = tls_watch_save(engine)};
    bool is_done =
        config_change_all(&engine->config, changes, count, apply_change, &changing, culprit, error);
    tls_setup_free(&changing.tls);
    return is_done;
}
