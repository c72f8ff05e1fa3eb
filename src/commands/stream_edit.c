/* XADD XTRIM XSETID
 *
 * XADD and XTRIM are propagated as what they did: with the id that was chosen, and, when entries
 * were trimmed, with the length that is left, so that a repetition trims the same entries. */
#include "base/alloc.h"
#include "commands/commands.h"
#include "commands/stream_producers.h"
#include "commands/stream_trim.h"

/* --- XADD key [NOMKSTREAM] [MAXLEN | MINID …] [IDMP … | IDMPAUTO …] id field value … --- */

struct addition {
    struct call *call;
    struct keyref ref;
    bool only_existing; /* NOMKSTREAM */
    struct stream_trim_options trim;
    struct stream_producer producer;
    struct stream_new_id given;
    struct stream_id id;
    size_t first; /* argv index of the first field */
    size_t pairs;
};

static bool parse_options(struct addition *addition) {
    struct call *call = addition->call;
    size_t at = 2;
    while (at < call->argc && !slice_equal(call->argv[at], SLICE("*"))) {
        bool taken;
        if (!stream_parse_trim(call, &at, &addition->trim, &taken)) return false;
        if (taken) continue;
        if (!stream_parse_producer(call, &at, &addition->producer, &taken)) return false;
        if (taken) continue;
        if (!slice_is(call->argv[at], "nomkstream")) break;
        addition->only_existing = true;
        at++;
    }
    addition->first = at + 1;
    return (at >= call->argc || stream_parse_new_id(call, at, &addition->given)) &&
           stream_check_trim(call, &addition->trim);
}

static bool parse(struct addition *addition) {
    struct call *call = addition->call;
    if (!parse_options(addition)) return false;
    size_t left = call->argc > addition->first ? call->argc - addition->first : 0;
    addition->pairs = left / 2;
    if (left < 2 || left % 2) return call_wrong_arity(call);
    struct stream_new_id given = addition->given;
    if (stream_has_producer(&addition->producer) && given.has_ms && !call_is_repeated(call))
        return reply_error(call->reply, "ERR syntax error, IDMP/IDMPAUTO can be used only with "
                                        "auto-generated IDs");
    if (given.has_seq && stream_id_compare(given.id, STREAM_ID_MIN) == 0)
        return reply_error(call->reply, "ERR The ID specified in XADD must be greater than 0-0");
    if (addition->producer.is_auto)
        stream_set_iid(&addition->producer, call->argv + addition->first, addition->pairs);
    return true;
}

/* Chooses the id; false when there is none after the last one. */
static bool choose_id(struct addition *addition, struct stream_id last) {
    struct stream_new_id given = addition->given;
    addition->id = given.id;
    if (!given.has_ms) return stream_next_id(last, addition->call->now_ms, &addition->id);
    if (!given.has_seq && given.id.ms == last.ms) {
        addition->id = last;
        return last.seq < UINT64_MAX && stream_id_increment(&addition->id);
    }
    return stream_id_compare(addition->id, last) > 0;
}

/* Replies why the entry cannot be added. */
static bool check(struct addition *addition) {
    struct call *call = addition->call;
    struct stream_id last = STREAM_ID_MIN;
    uint64_t bytes = 0;
    const char *error = NULL;
    if (addition->ref.entry) last = stream_facts(addition->ref.entry).last_id;
    for (size_t i = addition->first; i < call->argc; i++) bytes += call->argv[i].len;
    if (stream_id_compare(last, STREAM_ID_MAX) == 0)
        error = "ERR The stream has exhausted the last possible ID, unable to add more items";
    else if (bytes > STREAM_ENTRY_MAX)
        error = "ERR Elements are too large to be stored";
    else if (!choose_id(addition, last))
        error = "ERR The ID specified in XADD is equal or smaller than the target stream top item";
    if (error) reply_error(call->reply, error);
    return !error;
}

/* The arguments XADD key [MAXLEN = length] id, before the fields and values. */
static void propagate(const struct addition *addition, bool trimmed) {
    enum { WORDS_MAX = 6 };
    struct call *call = addition->call;
    if (!call->propagates) return;
    char id[STREAM_ID_TEXT_MAX], length[INT64_TEXT_MAX];
    size_t texts = 2 * addition->pairs, count = 0;
    struct slice *argv = mem_alloc((WORDS_MAX + texts) * sizeof(*argv));
    argv[count++] = SLICE("XADD");
    argv[count++] = call->argv[1];
    if (trimmed) {
        argv[count++] = SLICE("MAXLEN");
        argv[count++] = SLICE("=");
        argv[count++] = number_text(length, (int64_t)stream_length(addition->ref.entry));
    }
    argv[count++] = stream_id_text(id, addition->id);
    memcpy(argv + count, call->argv + addition->first, texts * sizeof(*argv));
    call_propagate_as(call, argv, count + texts);
    mem_free(argv);
}

static void add(struct addition *addition) {
    struct call *call = addition->call;
    struct slice key = call->argv[1];
    struct keyref *ref = &addition->ref;
    if (!ref->entry) stream_create(ref, key);
    stream_append(ref, addition->id, call->argv + addition->first, addition->pairs,
                  &call->limits->stream);
    stream_reply_id(call->reply, addition->id);
    bool trims = addition->trim.strategy != STREAM_NO_TRIM;
    bool to_length = stream_trims_to_length(ref->entry, &addition->trim);
    /* Before the deletions, which may be of this entry, too. */
    if (!to_length) propagate(addition, false);
    bool trimmed = trims && stream_trim_referenced(call, ref, key, &addition->trim) > 0;
    call_touched(call, ref, key, EVENT_STREAM, "xadd", 1);
    if (trimmed) call_notify(call, EVENT_STREAM, "xtrim", key);
    if (to_length) propagate(addition, trimmed);
    if (stream_has_producer(&addition->producer))
        stream_note_producer(call, ref->entry, &addition->producer, addition->id);
}

/* Returns whether a producer has added the entry before, and replies its id. With an id that the
 * server has chosen a repeated command says that it had not. */
static bool reply_duplicate(const struct addition *addition) {
    return stream_has_producer(&addition->producer) && !addition->given.has_ms &&
           stream_reply_duplicate(addition->call, addition->ref.entry, &addition->producer);
}

void xadd_command(struct call *call) {
    struct addition addition = {.call = call};
    if (!parse(&addition)) return;
    if (!call_find_typed_write(call, call->argv[1], VALUE_STREAM, &addition.ref)) return;
    if (reply_duplicate(&addition)) return;
    if (!addition.ref.entry && addition.only_existing)
        reply_null(call->reply);
    else if (check(&addition))
        add(&addition);
}

/* --- XTRIM key MAXLEN | MINID [= | ~] threshold [LIMIT count] --- */

static bool parse_xtrim(struct call *call, struct stream_trim_options *options) {
    bool taken = true;
    size_t at = 2;
    while (at < call->argc && taken)
        if (!stream_parse_trim(call, &at, options, &taken)) return false;
    if (!taken) return call_syntax_error(call);
    if (options->strategy == STREAM_NO_TRIM && options->limit == 0)
        return reply_error(call->reply,
                           "ERR syntax error, XTRIM must be called with a trimming strategy");
    return stream_check_trim(call, options);
}

void xtrim_command(struct call *call) {
    struct stream_trim_options options = {0};
    struct slice key = call->argv[1];
    struct keyref ref;
    char length[INT64_TEXT_MAX];
    if (!parse_xtrim(call, &options)) return;
    if (!call_find_typed_write(call, key, VALUE_STREAM, &ref)) return;
    uint64_t removed = ref.entry ? stream_trim_referenced(call, &ref, key, &options) : 0;
    reply_integer(call->reply, (int64_t)removed);
    if (removed == 0) return;
    call_touched_unwaited(call, &ref, key, EVENT_STREAM, "xtrim", removed);
    if (!stream_trims_to_length(ref.entry, &options)) return;
    CALL_PROPAGATE(call, SLICE("XTRIM"), key, SLICE("MAXLEN"), SLICE("="),
                   number_text(length, (int64_t)stream_length(ref.entry)));
}

/* --- XSETID key last-id [ENTRIESADDED count] [MAXDELETEDID id] --- */

struct setting {
    struct stream_id last;
    int64_t added; /* -1: not given */
    struct stream_id max_deleted;
};

static bool parse_setting(struct call *call, size_t at, struct setting *setting) {
    if (slice_is(call->argv[at], "entriesadded")) {
        if (!call_integer(call, at + 1, &setting->added)) return false;
        if (setting->added < 0 && call_is_repeated(call))
            setting->added = INT64_MAX; /* it has overflowed at another server */
        return setting->added >= 0 ||
               reply_error(call->reply, "ERR entries_added must be positive");
    }
    if (!slice_is(call->argv[at], "maxdeletedid")) return call_syntax_error(call);
    if (!stream_parse_id(call, at + 1, 0, &setting->max_deleted)) return false;
    return stream_id_compare(setting->last, setting->max_deleted) >= 0 ||
           reply_error(call->reply, "ERR The ID specified in XSETID is smaller than the provided "
                                    "max_deleted_entry_id");
}

static bool parse_xsetid(struct call *call, struct setting *setting) {
    if (!stream_parse_id(call, 2, 0, &setting->last)) return false;
    for (size_t at = 3; at < call->argc; at += 2) {
        if (at + 1 == call->argc) return call_syntax_error(call);
        if (!parse_setting(call, at, setting)) return false;
    }
    return true;
}

/* Redis 7.0 sets ids that are smaller than the greatest one deleted, and propagates that. */
static bool check_setting(struct call *call, const struct entry *entry,
                          const struct setting *setting) {
    struct stream_entry last;
    bool is_behind = stream_id_compare(setting->last, stream_facts(entry).max_deleted_id) < 0;
    if (is_behind && !call_is_repeated(call))
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
    if (!parse_xsetid(call, &setting)) return;
    if (!call_find_typed_write(call, key, VALUE_STREAM, &ref)) return;
    if (!ref.entry) {
        reply_error(call->reply, "ERR no such key");
        return;
    }
    if (!check_setting(call, ref.entry, &setting)) return;
    struct stream_facts facts = stream_facts(ref.entry);
    facts.last_id = setting.last;
    if (setting.added >= 0) facts.added = (uint64_t)setting.added;
    if (stream_id_compare(setting.max_deleted, STREAM_ID_MIN) > 0)
        facts.max_deleted_id = setting.max_deleted;
    stream_set_facts(&ref, &facts);
    reply_ok(call->reply);
    call_touched_unwaited(call, &ref, key, EVENT_STREAM, "xsetid", 1);
}
