#include "engine/unknown_commands.h"

#include "base/log/log.h"
#include "base/text/sds.h"
#include "engine/client.h"
#include "engine/engine.h"
#include "table/secret.h"

#include <string.h>

static struct slice text_of(const struct unknown_name *name) {
    return slice_make(name->text, name->len);
}

static void append_word(struct unknown_name *name, struct slice word) {
    size_t len = word.len < UNKNOWN_WORD_MAX ? word.len : UNKNOWN_WORD_MAX;
    memcpy(name->text + name->len, word.ptr, len);
    name->len += len;
}

static struct unknown_name name_of(struct slice command, const struct slice *subcommand) {
    struct unknown_name name = {.len = 0};
    append_word(&name, secret_shown_name(command));
    if (!subcommand) return name;
    name.text[name.len++] = ' ';
    append_word(&name, *subcommand);
    return name;
}

/* Clients send these to find out what a server can do, and go on without it: no client misses
 * them. */
static bool is_probe(struct slice text) {
    static const char *const probes[] = {"client maint_notifications", "ft._list", "sentinel"};
    for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
        if (slice_is(text, probes[i])) return true;
    return false;
}

static bool is_logged(const struct unknown_commands *logged, struct slice text) {
    for (unsigned i = 0; i < logged->count; i++)
        if (slice_equal_nocase(text_of(&logged->names[i]), text)) return true;
    return false;
}

void unknown_command_note(const struct session *session, struct slice command,
                          const struct slice *subcommand) {
    struct engine *engine = session->requester.engine;
    struct unknown_commands *logged = engine->unknown_commands;
    if (logged->count == UNKNOWN_NAMES_MAX || session->flags & SESSION_NEEDS_AUTH ||
        engine->config.hide_user_data_from_log)
        return;
    struct unknown_name name = name_of(command, subcommand);
    if (is_probe(text_of(&name)) || is_logged(logged, text_of(&name))) return;
    logged->names[logged->count++] = name;
    sds quoted = sds_append_quoted(sds_new(SLICE("")), text_of(&name));
    log_notice("A client sent a command that this server does not have: %s%s", quoted,
               logged->count == UNKNOWN_NAMES_MAX ? " (further ones are not logged)" : "");
    sds_free(quoted);
}
