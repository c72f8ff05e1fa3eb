/* config_commands: CONFIG. */
#include "admin/admin_commands.h"
#include "config/config_table.h"
#include "engine/engine.h"
#include "engine/lazyfree.h"
#include "net/net.h"
#include "reclaim/evict.h"
#include "replication/primary/replicas.h"
#include "resp/reply.h"
#include "server/config_live.h"
#include "server/settings/user_files.h"
#include "session/outbox.h"
#include "session/session.h"
#include "table/secret.h"

#include "base/memory/alloc.h"
#include "base/text/glob.h"

#include <errno.h>

/* --- GET --- */

/* The names that were replied already, and their number. */
struct shown {
    struct config_name_set set;
    size_t count;
};

static void show(struct call *call, struct shown *shown, const struct config_directive *directive,
                 struct slice name) {
    if (!config_name_set_add(&shown->set, directive, name)) return;
    shown->count++;
    if (secret_is_directive(name)) outbox_clear_replies(call_session(call));
    sds value = config_append_value(&call->engine->config, directive, sds_new(SLICE("")));
    reply_bulk(call->reply, name);
    reply_bulk(call->reply, sds_slice(value));
    secret_free(value);
}

static const struct config_directive *find(struct slice name) {
    const struct config_directive *directive = config_find(name);
    return directive && !(directive->flags & CONFIG_FILE_ONLY) ? directive : NULL;
}

static bool is_pattern(struct slice text) {
    for (size_t i = 0; i < text.len; i++)
        if (strchr("*?[", text.ptr[i]) && text.ptr[i]) return true;
    return false;
}

static void show_if_matching(struct call *call, struct shown *shown,
                             const struct config_directive *directive, const char *name,
                             struct slice pattern) {
    struct slice text = slice_of_cstr(name);
    if (glob_match(pattern, text, true)) show(call, shown, directive, text);
}

static void show_matching(struct call *call, struct shown *shown, struct slice pattern) {
    for (size_t i = 0; i < config_table_count; i++) {
        const struct config_directive *directive = &config_table[i];
        if (directive->flags & (CONFIG_HIDDEN | CONFIG_FILE_ONLY)) continue;
        show_if_matching(call, shown, directive, directive->name, pattern);
        if (directive->alias) show_if_matching(call, shown, directive, directive->alias, pattern);
    }
}

/* A directive that is requested by name is replied with the name that the client used. */
void config_get_command(struct call *call) {
    struct shown shown = {0};
    size_t mark = reply_begin(call->reply);
    for (size_t i = 2; i < call->argc; i++) {
        struct slice text = call->argv[i];
        if (is_pattern(text)) {
            show_matching(call, &shown, text);
        } else {
            const struct config_directive *directive = find(text);
            if (directive) show(call, &shown, directive, text);
        }
    }
    reply_map_end(call->reply, mark, shown.count);
}

/* --- SET --- */

static void refuse_set(struct call *call, struct slice name, const char *why) {
    reply_error_format(call->reply,
                       "ERR CONFIG SET failed (possibly related to argument '%.*s') - %s",
                       slice_precision(name), name.ptr, why);
}

/* Reads the pairs into `changes`. Returns false when it has replied an error: the first one in the
 * order of arguments. */
static bool read_changes(struct call *call, struct config_change *changes, size_t count) {
    struct engine *engine = call->engine;
    struct config_name_set named = {0};
    for (size_t i = 0; i < count; i++) {
        struct slice name = call->argv[2 + 2 * i];
        const struct config_directive *directive = find(name);
        if (!directive) {
            name = secret_shown(call->command, call->argv, call->argc, 2 + 2 * i);
            return reply_error_format(
                call->reply, "ERR Unknown option or number of arguments for CONFIG SET - '%.*s'",
                slice_precision(name), name.ptr);
        }
        if (directive->flags & CONFIG_NOT_LOADING && engine->restrictions & RESTRICTED_LOADING)
            return reply_error(call->reply, LOADING_REFUSAL);
        const char *why = NULL;
        if (directive->flags & CONFIG_IMMUTABLE)
            why = "can't set immutable config";
        else if (directive->flags & CONFIG_PROTECTED &&
                 !session_has_access(call_session(call), engine->config.enable_protected_configs))
            why = "can't set protected config";
        else if (!config_name_set_add(&named, directive, name))
            why = "duplicate parameter";
        if (why) {
            refuse_set(call, name, why);
            return false;
        }
        changes[i] = (struct config_change){directive, call->argv[3 + 2 * i]};
    }
    return true;
}

/* Logs, once for each name, that a value has no effect. */
static void note_ignored(struct call *call, const struct config_change *changes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct config_directive *directive = changes[i].directive;
        const char *why = config_why_ignored(directive, changes[i].value);
        struct slice name = call->argv[2 + 2 * i];
        if (!why || !config_name_set_add(&call->engine->config_source.noted, directive, name))
            continue;
        log_write(directive->flags & CONFIG_MISSED ? LOG_WARNING : LOG_NOTICE,
                  "CONFIG SET: '%s' is ignored: %s", config_name_matched(directive, name), why);
    }
}

void config_set_command(struct call *call) {
    size_t count = (call->argc - 2) / 2;
    if (call->argc % 2 != 0) {
        call_syntax_error(call);
        return;
    }
    struct config_change *changes = mem_alloc(count * sizeof(*changes));
    size_t culprit = 0;
    sds error = NULL;
    if (read_changes(call, changes, count)) {
        if (config_live_change(call->engine, changes, count, &culprit, &error)) {
            note_ignored(call, changes, count);
            reply_ok(call->reply);
        } else {
            refuse_set(call, call->argv[2 + 2 * culprit], error);
        }
    }
    sds_free(error);
    mem_free(changes);
}

/* --- The other subcommands --- */

void config_rewrite_command(struct call *call) {
    struct engine *engine = call->engine;
    const char *path = engine->config_source.path;
    if (sds_len(path) == 0) {
        reply_error(call->reply, "ERR The server is running without a config file");
    } else if (user_files_rewrite_config(engine, path, false)) {
        log_notice("CONFIG REWRITE executed with success.");
        reply_ok(call->reply);
    } else {
        const char *reason = strerror(errno);
        log_warning("CONFIG REWRITE failed: %s: %s", path, reason);
        reply_error_format(call->reply, "ERR Rewriting config file: %s", reason);
    }
}

void config_resetstat_command(struct call *call) {
    struct engine *engine = call->engine;
    stats_reset(&engine->stats);
    net_reset_totals(engine->net);
    engine->replicas->stats = (struct sync_stats){0};
    engine->evict->exceeded_us = engine->evict->total_us = 0;
    lazyfree_reset_freed(engine->lazyfree);
    reply_ok(call->reply);
}

COMMAND_FORM(config_help_command, call_help,
             "GET <pattern> [<pattern> ...]\n"
             "    Return the directives whose names match, and their values.\n"
             "SET <directive> <value> [<directive> <value> ...]\n"
             "    Change directives: all of them, or none if one is refused.\n"
             "RESETSTAT\n"
             "    Set the counters that INFO reports to zero.\n"
             "REWRITE\n"
             "    Write the values in force to the configuration file.\n")
