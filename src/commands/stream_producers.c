/* XCFGSET XIDMPRECORD, and IDMP and IDMPAUTO of XADD: see stream_producers.h.
 *
 * An entry that was added so is propagated as XADD without IDMP and XIDMPRECORD, so that a server
 * which knows neither gets the entry all the same. A duplicate changes only a counter, and is not
 * propagated. */
#include "commands/stream_producers.h"

#include "base/alloc.h"
#include "base/sha256.h"
#include "commands/commands.h"

/* --- IDMP producer iid | IDMPAUTO producer --- */

static bool fail_empty(struct call *call, bool is_auto, bool has_name) {
    if (is_auto)
        return reply_error(call->reply, "ERR syntax error, IDMPAUTO requires a non-empty producer "
                                        "ID");
    return reply_error(call->reply,
                       has_name ? "ERR syntax error, IDMP requires a non-empty idempotent ID"
                                : "ERR syntax error, IDMP requires a non-empty producer ID");
}

bool stream_parse_producer(struct call *call, size_t *index, struct stream_producer *producer,
                           bool *taken) {
    size_t at = *index, left = call->argc - at - 1;
    bool is_auto = slice_is(call->argv[at], "idmpauto");
    *taken = (is_auto && left >= 1) || (slice_is(call->argv[at], "idmp") && left >= 2);
    if (!*taken) return true;
    if (stream_has_producer(producer))
        return reply_error(call->reply, "ERR syntax error, IDMP/IDMPAUTO specified multiple times");
    producer->is_auto = is_auto;
    producer->name = call->argv[at + 1];
    if (!is_auto) producer->iid = call->argv[at + 2];
    *index = at + (is_auto ? 2 : 3);
    bool has_name = producer->name.len > 0;
    if (has_name && (is_auto || producer->iid.len > 0)) return true;
    return fail_empty(call, is_auto, has_name);
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

void stream_set_iid(struct stream_producer *producer, const struct slice *texts, size_t pairs) {
    enum { WORDS = SHA256_SIZE / 8 };
    uint64_t sum[WORDS] = {0}, words[WORDS];
    for (size_t i = 0; i < pairs; i++) {
        hash_pair(words, texts + 2 * i);
        for (size_t w = 0; w < WORDS; w++) sum[w] += words[w];
    }
    memcpy(producer->bytes, sum, STREAM_IID_SIZE);
    producer->iid = slice_make(producer->bytes, STREAM_IID_SIZE);
}

/* --- In XADD --- */

bool stream_reply_duplicate(struct call *call, const struct entry *entry,
                            const struct stream_producer *producer) {
    struct producers *producers = entry ? stream_producers(entry) : NULL;
    bool is_repeated = call_is_repeated(call);
    struct stream_id id;
    bool was_added =
        producers &&
        (is_repeated ? producers_find_any(producers, producer->name, producer->iid, &id)
                     : producers_find(producers, producer->name, producer->iid, call->now_ms, &id));
    if (!was_added && !is_repeated) return false;
    if (was_added)
        stream_reply_id(call->reply, id);
    else
        reply_null(call->reply);
    if (was_added) producers->duplicates++;
    return true;
}

void stream_note_producer(struct call *call, const struct entry *entry,
                          const struct stream_producer *producer, struct stream_id id) {
    struct producers *producers =
        streamlog_need_producers(stream_log(entry), call->limits->producers);
    char text[STREAM_ID_TEXT_MAX];
    producers_add(producers, stream_pieces(entry), producer->name, producer->iid, id);
    producers_expire(producers, stream_pieces(entry), call->now_ms);
    CALL_PROPAGATE(call, SLICE("XIDMPRECORD"), call->argv[1], producer->name, producer->iid,
                   stream_id_text(text, id));
}

/* --- XIDMPRECORD key producer iid id --- */

/* What has been there before must be the same; what is repeated is right. Returns whether there is
 * something to do. */
static bool check_record(struct call *call, const struct entry *entry,
                         const struct stream_producer *producer, struct stream_id id) {
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

static bool parse_record(struct call *call, struct stream_producer *producer,
                         struct stream_id *id) {
    if (!stream_parse_id(call, 4, 0, id)) return false;
    *producer = (struct stream_producer){.name = call->argv[2], .iid = call->argv[3]};
    if (producer->name.len == 0)
        return reply_error(call->reply, "ERR producer ID must be non-empty");
    return producer->iid.len > 0 || reply_error(call->reply, "ERR idempotent ID must be non-empty");
}

/* Finds the stream; otherwise replies the error. */
static bool need_stream(struct call *call, struct keyref *ref) {
    if (!call_find_typed_write(call, call->argv[1], VALUE_STREAM, ref)) return false;
    return ref->entry || reply_error(call->reply, "ERR no such key");
}

void xidmprecord_command(struct call *call) {
    struct keyref ref;
    struct stream_producer producer;
    struct stream_id id;
    if (!parse_record(call, &producer, &id) || !need_stream(call, &ref) ||
        !check_record(call, ref.entry, &producer, id))
        return;
    struct producers *producers =
        streamlog_need_producers(stream_log(ref.entry), call->limits->producers);
    producers_add(producers, stream_pieces(ref.entry), producer.name, producer.iid, id);
    producers_expire(producers, stream_pieces(ref.entry), call->now_ms);
    reply_ok(call->reply);
    call_touched_aside(call, ref.entry, call->argv[1], EVENT_STREAM, NULL, 1);
}

/* --- XCFGSET key [IDMP-DURATION seconds] [IDMP-MAXSIZE iids] --- */

/* One of the two: 0, it was not given. */
static bool parse_limit(struct call *call, size_t at, const char *again, const char *out_of_range,
                        int64_t max, uint32_t *limit) {
    int64_t number;
    if (*limit != 0) return reply_error(call->reply, again);
    if (!call_integer(call, at, &number)) return false;
    if (number < 1 || number > max) return reply_error(call->reply, out_of_range);
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
    call_touched_aside(call, ref.entry, call->argv[1], EVENT_STREAM, NULL, 1);
}
