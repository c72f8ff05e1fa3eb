/* XDEL XSETID */
#include "commands/commands.h"
#include "commands/stream_common.h"

void xdel_command(struct call *call) {
    struct slice key = call->argv[1];
    struct keyref ref;
    struct stream_id id;
    uint64_t removed = 0;
    if (!call_find_typed_write(call, key, VALUE_STREAM, &ref)) return;
    if (!ref.entry) {
        reply_integer(call->reply, 0);
        return;
    }
    for (size_t i = 2; i < call->argc; i++)
        if (!stream_parse_id(call, i, 0, &id)) return;
    for (size_t i = 2; i < call->argc; i++) {
        stream_parse_id(call, i, 0, &id);
        removed += stream_delete(&ref, id);
    }
    reply_integer(call->reply, (int64_t)removed);
    if (removed > 0) call_touched(call, &ref, key, EVENT_STREAM, "xdel", removed);
}

/* --- XSETID key last-id [ENTRIESADDED count] [MAXDELETEDID id] --- */

struct setting {
    struct stream_id last;
    int64_t added; /* -1: not given */
    struct stream_id max_deleted;
};

static bool parse_option(struct call *call, size_t at, struct setting *setting) {
    if (slice_is(call->argv[at], "entriesadded")) {
        if (!call_integer(call, at + 1, &setting->added)) return false;
        return setting->added >= 0 ||
               reply_error(call->reply, "ERR entries_added must be positive");
    }
    if (!slice_is(call->argv[at], "maxdeletedid")) return call_syntax_error(call);
    if (!stream_parse_id(call, at + 1, 0, &setting->max_deleted)) return false;
    return stream_id_compare(setting->last, setting->max_deleted) >= 0 ||
           reply_error(call->reply, "ERR The ID specified in XSETID is smaller than the provided "
                                    "max_deleted_entry_id");
}

static bool parse(struct call *call, struct setting *setting) {
    if (!stream_parse_id(call, 2, 0, &setting->last)) return false;
    for (size_t at = 3; at < call->argc; at += 2) {
        if (at + 1 == call->argc) return call_syntax_error(call);
        if (!parse_option(call, at, setting)) return false;
    }
    return true;
}

static bool check(struct call *call, const struct entry *entry, const struct setting *setting) {
    struct stream_entry last;
    if (stream_id_compare(setting->last, stream_facts(entry).max_deleted_id) < 0)
        return reply_error(call->reply, "ERR The ID specified in XSETID is smaller than current "
                                        "max_deleted_entry_id");
    if (!stream_edge(entry, true, &last)) return true;
    if (stream_id_compare(setting->last, last.id) < 0)
        return reply_error(call->reply,
                           "ERR The ID specified in XSETID is smaller than the target stream top "
                           "item");
    return setting->added < 0 || (uint64_t)setting->added >= stream_length(entry) ||
           reply_error(call->reply,
                       "ERR The entries_added specified in XSETID is smaller than the target "
                       "stream length");
}

void xsetid_command(struct call *call) {
    struct setting setting = {.added = -1, .max_deleted = STREAM_ID_MIN};
    struct slice key = call->argv[1];
    struct keyref ref;
    if (!parse(call, &setting)) return;
    if (!call_find_typed_write(call, key, VALUE_STREAM, &ref)) return;
    if (!ref.entry) {
        reply_error(call->reply, "ERR no such key");
        return;
    }
    if (!check(call, ref.entry, &setting)) return;
    struct stream_facts facts = stream_facts(ref.entry);
    facts.last_id = setting.last;
    if (setting.added >= 0) facts.added = (uint64_t)setting.added;
    if (stream_id_compare(setting.max_deleted, STREAM_ID_MIN) > 0)
        facts.max_deleted_id = setting.max_deleted;
    stream_set_facts(&ref, &facts);
    reply_ok(call->reply);
    call_touched(call, &ref, key, EVENT_STREAM, "xsetid", 1);
}
