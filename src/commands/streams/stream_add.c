/* XADD XSETID XCFGSET XIDMPRECORD
 *
 * XADD is propagated as what it did: with the id that was chosen, and, when entries were trimmed,
 * with the length that is left, so that a repetition trims the same entries.
 *
 * Producers add entries with ids of their own (iids), so that none is added twice
 * (ds/streams/producers.h): XADD with IDMP or IDMPAUTO. It is propagated as XADD without them and
 * XIDMPRECORD, so that a server which knows neither gets the entry all the same. A duplicate
 * changes only a counter, and is not propagated. */
#include "base/hash/sha256.h"
#include "base/memory/alloc.h"
#include "commands/commands.h"
#include "commands/streams/stream_trim.h"

/* --- IDMP producer iid | IDMPAUTO producer --- */

enum { IID_SIZE = 16 };

struct producer_option {
    struct slice name; /* of the producer; without bytes: neither was given */
    struct slice iid;
    bool is_auto;
    char bytes[IID_SIZE]; /* of the iid that IDMPAUTO computes */
};

static bool is_given(const struct producer_option *producer) {
    return producer->name.len > 0;
}

/* Takes the option at argv[*index] and moves *index past it. Sets *taken to whether it was
 * there. */
static bool parse_producer(struct call *call, size_t *index, struct producer_option *producer,
                           bool *taken) {
    size_t at = *index, left = call->argc - at - 1;
    bool is_auto = slice_is(call->argv[at], "idmpauto");
    *taken = (is_auto && left >= 1) || (slice_is(call->argv[at], "idmp") && left >= 2);
    if (!*taken) return true;
    if (is_given(producer))
        return reply_error(call->reply, "ERR syntax error, IDMP/IDMPAUTO specified multiple times");
    producer->is_auto = is_auto;
    producer->name = call->argv[at + 1];
    if (!is_auto) producer->iid = call->argv[at + 2];
    *index = at + (is_auto ? 2 : 3);
    if (!is_given(producer))
        return reply_error(call->reply,
                           is_auto ? "ERR syntax error, IDMPAUTO requires a non-empty producer ID"
                                   : "ERR syntax error, IDMP requires a non-empty producer ID");
    return is_auto || producer->iid.len > 0 ||
           reply_error(call->reply, "ERR syntax error, IDMP requires a non-empty idempotent ID");
}

/* The SHA-256 of a field and a value, with the field's length before them, so that it is known
 * where it ends. */
static void hash_pair(uint64_t words[SHA256_SIZE / 8], const struct slice *texts) {
    enum { SHORT = 240 };
    uint64_t len = texts[0].len;
    size_t size = sizeof(len) + texts[0].len + texts[1].len;
    char short_bytes[SHORT], *bytes = size <= SHORT ? short_bytes : mem_alloc(size);
    memcpy(bytes, &len, sizeof(len));
    slice_copy(bytes + sizeof(len), texts[0]);
    slice_copy(bytes + sizeof(len) + texts[0].len, texts[1]);
    sha256((uint8_t *)words, slice_make(bytes, size));
    if (bytes != short_bytes) mem_free(bytes);
}

/* IDMPAUTO: computes the iid from the fields and values, whatever their order, which may be given
 * only once. O(texts). */
static void set_iid(struct producer_option *producer, const struct slice *texts, size_t pairs) {
    enum { WORDS = SHA256_SIZE / 8 };
    uint64_t sum[WORDS] = {0}, words[WORDS];
    for (size_t i = 0; i < pairs; i++) {
        hash_pair(words, texts + 2 * i);
        for (size_t w = 0; w < WORDS; w++) sum[w] += words[w];
    }
    memcpy(producer->bytes, sum, IID_SIZE);
    producer->iid = slice_make(producer->bytes, IID_SIZE);
}

/* Returns whether the entry was added before, and replies its id. It counts the duplicate. A
 * command that is repeated (call_is_repeated) and says only that it was a duplicate is one in any
 * case: without the entry it replies null. O(log producers + iids of the producer). */
static bool find_duplicate(struct call *call, const struct entry *entry,
                           const struct producer_option *producer) {
    struct producers *producers = entry ? stream_producers(entry) : NULL;
    bool is_repeated = call_is_repeated(call);
    struct stream_id id;
    bool was_added = producers && producers_find(producers, producer->name, producer->iid,
                                                 is_repeated ? 0 : call->now_ms, &id);
    if (was_added) {
        stream_reply_id(call->reply, id);
        producers->duplicates++;
    } else if (is_repeated) {
        reply_null(call->reply);
    }
    return was_added || is_repeated;
}

/* Remembers the entry that was added. */
static void remember(struct call *call, const struct entry *entry,
                     const struct producer_option *producer, struct stream_id id) {
    struct producers *producers =
        streamlog_need_producers(stream_log(entry), call->limits->producers);
    producers_add(producers, stream_pieces(entry), producer->name, producer->iid, id);
    producers_expire(producers, stream_pieces(entry), call->now_ms);
}

/* --- XADD key [NOMKSTREAM] [MAXLEN | MINID …] [IDMP … | IDMPAUTO …] id field value … --- */

struct addition {
    struct call *call;
    struct keyref ref;
    bool only_existing; /* NOMKSTREAM */
    struct stream_trim_options trim;
    struct producer_option producer;
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
        if (!parse_producer(call, &at, &addition->producer, &taken)) return false;
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
    if (is_given(&addition->producer) && given.has_ms && !call_is_repeated(call))
        return reply_error(call->reply, "ERR syntax error, IDMP/IDMPAUTO can be used only with "
                                        "auto-generated IDs");
    if (given.has_seq && stream_id_compare(given.id, STREAM_ID_MIN) == 0)
        return reply_error(call->reply, "ERR The ID specified in XADD must be greater than 0-0");
    if (addition->producer.is_auto)
        set_iid(&addition->producer, call->argv + addition->first, addition->pairs);
    return true;
}

/* Chooses the id. Returns false when no valid id after the last one is left. */
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
    CALL_CHANGED(call, ref, key, EVENT_STREAM, "xadd", 1);
    if (trimmed) call_notify(call, EVENT_STREAM, "xtrim", key);
    if (to_length) propagate(addition, trimmed);
    if (!is_given(&addition->producer)) return;
    const struct producer_option *producer = &addition->producer;
    char text[STREAM_ID_TEXT_MAX];
    remember(call, ref->entry, producer, addition->id);
    CALL_PROPAGATE(call, SLICE("XIDMPRECORD"), key, producer->name, producer->iid,
                   stream_id_text(text, addition->id));
}

void xadd_command(struct call *call) {
    struct addition addition = {.call = call};
    if (!parse(&addition)) return;
    if (!call_find_typed_write(call, call->argv[1], VALUE_STREAM, &addition.ref)) return;
    /* With an id that the server has chosen a repeated command says that it was no duplicate. */
    if (is_given(&addition.producer) && !addition.given.has_ms &&
        find_duplicate(call, addition.ref.entry, &addition.producer))
        return;
    if (!addition.ref.entry && addition.only_existing)
        reply_null(call->reply);
    else if (check(&addition))
        add(&addition);
}

/* --- XSETID key last-id [ENTRIESADDED count] [MAXDELETEDID id] --- */

/* Finds the stream argv[1]; otherwise replies the error. */
static bool need_stream(struct call *call, struct keyref *ref) {
    if (!call_find_typed_write(call, call->argv[1], VALUE_STREAM, ref)) return false;
    return ref->entry || reply_error(call->reply, "ERR no such key");
}

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
    if (!parse_xsetid(call, &setting) || !need_stream(call, &ref) ||
        !check_setting(call, ref.entry, &setting))
        return;
    struct stream_facts facts = stream_facts(ref.entry);
    facts.last_id = setting.last;
    if (setting.added >= 0) facts.added = (uint64_t)setting.added;
    if (stream_id_compare(setting.max_deleted, STREAM_ID_MIN) > 0)
        facts.max_deleted_id = setting.max_deleted;
    stream_set_facts(&ref, &facts);
    reply_ok(call->reply);
    CALL_CHANGED(call, &ref, key, EVENT_STREAM, "xsetid", 1, .flags = CHANGE_WAKES_NOBODY);
}

/* --- XIDMPRECORD key producer iid id --- */

/* What has been there before must be the same; what is repeated is right. Returns whether there is
 * something to do. */
static bool check_record(struct call *call, const struct entry *entry,
                         const struct producer_option *producer, struct stream_id id) {
    const struct producers *producers = stream_producers(entry);
    struct stream_id before;
    struct stream_entry found;
    if (!call_is_repeated(call) && !stream_find(entry, id, &found))
        return reply_error(call->reply, "ERR No such message in stream");
    if (!producers ||
        !producers_find(producers, producer->name, producer->iid, call->now_ms, &before))
        return true;
    if (stream_id_compare(before, id) == 0) {
        reply_ok(call->reply);
        return false;
    }
    return call_is_repeated(call) ||
           reply_error(call->reply,
                       "ERR IID already exists for this producer with a different stream ID");
}

static bool parse_record(struct call *call, struct producer_option *producer,
                         struct stream_id *id) {
    if (!stream_parse_id(call, 4, 0, id)) return false;
    *producer = (struct producer_option){.name = call->argv[2], .iid = call->argv[3]};
    if (producer->name.len == 0)
        return reply_error(call->reply, "ERR producer ID must be non-empty");
    return producer->iid.len > 0 || reply_error(call->reply, "ERR idempotent ID must be non-empty");
}

void xidmprecord_command(struct call *call) {
    struct keyref ref;
    struct producer_option producer;
    struct stream_id id;
    if (!parse_record(call, &producer, &id) || !need_stream(call, &ref) ||
        !check_record(call, ref.entry, &producer, id))
        return;
    remember(call, ref.entry, &producer, id);
    reply_ok(call->reply);
    CALL_CHANGED(call, &ref, call->argv[1], EVENT_NONE, NULL, 1, .flags = CHANGE_UNSEEN);
}

/* --- XCFGSET key [IDMP-DURATION seconds] [IDMP-MAXSIZE iids] --- */

/* One of the two: 0, it was not given. */
static bool parse_limit(struct call *call, size_t at, const char *again, const char *out_of_range,
                        int64_t max, uint32_t *limit) {
    int64_t number;
    if (*limit != 0) return reply_error(call->reply, again);
    if (!call_integer_within(call, at, 1, max, &number, out_of_range)) return false;
    *limit = (uint32_t)number;
    return true;
}

static bool parse_limits(struct call *call, struct producers_limits *limits) {
    for (size_t at = 2; at < call->argc; at += 2) {
        bool good;
        if (at + 1 == call->argc) return call_syntax_error(call);
        if (slice_is(call->argv[at], "idmp-duration"))
            good = parse_limit(call, at + 1, "ERR IDMP-DURATION specified multiple times",
                               "ERR IDMP-DURATION must be between 1 and 86400 seconds",
                               PRODUCERS_DURATION_MAX, &limits->duration_s);
        else if (slice_is(call->argv[at], "idmp-maxsize"))
            good = parse_limit(call, at + 1, "ERR IDMP-MAXSIZE specified multiple times",
                               "ERR IDMP-MAXSIZE must be between 1 and 10000 entries",
                               PRODUCERS_IIDS_MAX, &limits->iids);
        else
            return call_syntax_error(call);
        if (!good) return false;
    }
    return call->argc > 2 ||
           reply_error(call->reply, "ERR At least one parameter must be specified");
}

void xcfgset_command(struct call *call) {
    struct keyref ref;
    struct producers_limits given = {0, 0};
    if (!need_stream(call, &ref) || !parse_limits(call, &given)) return;
    const struct producers *before = stream_producers(ref.entry);
    struct producers_limits old = before ? before->limits : call->limits->producers;
    if (given.duration_s == 0) given.duration_s = old.duration_s;
    if (given.iids == 0) given.iids = old.iids;
    reply_ok(call->reply);
    if (given.duration_s == old.duration_s && given.iids == old.iids) return;
    struct producers *producers = streamlog_need_producers(stream_log(ref.entry), given);
    producers_set_limits(producers, stream_pieces(ref.entry), given);
    CALL_CHANGED(call, &ref, call->argv[1], EVENT_NONE, NULL, 1, .flags = CHANGE_UNSEEN);
}
