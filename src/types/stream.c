/* Streams: the row of the type, and ids. The work is done in ds/streamlog. */
#include "types/stream.h"

#include "base/checked.h"
#include "base/prefetch.h"
#include "types/type_operations.h"
#include "types/value.h"

enum { STREAM_IN_LOG = ENTRY_OUT_OF_LINE }; /* the only encoding */

struct streamlog *stream_log(const struct entry *entry) {
    CHECKED_ASSERT(entry_type(entry) == VALUE_STREAM);
    return entry_pointer(entry);
}

/* --- Changing --- */

struct entry *stream_load_new(struct slice key) {
    return entry_new_pointer(key, VALUE_STREAM, STREAM_IN_LOG, streamlog_new());
}

void stream_create(struct keyref *ref, struct slice key) {
    keyspace_add(ref, stream_load_new(key));
}

void stream_append(struct keyref *ref, struct stream_id id, const struct slice *texts, size_t pairs,
                   const struct stream_limits *limits) {
    uint64_t length = stream_length(ref->entry);
    streamlog_append(stream_log(ref->entry), id, texts, pairs, limits);
    keyspace_resized(ref, length, length + 1);
}

bool stream_delete(struct keyref *ref, struct stream_id id) {
    uint64_t length = stream_length(ref->entry);
    if (!streamlog_delete(stream_log(ref->entry), id)) return false;
    keyspace_resized(ref, length, length - 1);
    return true;
}

uint64_t stream_trim(struct keyref *ref, const struct stream_trim *trim, struct entry **cut) {
    uint64_t length = stream_length(ref->entry);
    struct streamlog *rest;
    uint64_t removed = streamlog_trim(stream_log(ref->entry), trim, &rest);
    *cut = rest ? entry_new_pointer(SLICE(""), VALUE_STREAM, STREAM_IN_LOG, rest) : NULL;
    keyspace_resized(ref, length, length - removed);
    return removed;
}

uint64_t stream_trimmed(const struct entry *entry, const struct stream_trim *trim) {
    return streamlog_trimmed(stream_log(entry), trim);
}

void stream_set_facts(struct keyref *ref, const struct stream_facts *facts) {
    struct stream_entry last;
    CHECKED_ASSERT(facts->added >= stream_length(ref->entry));
    CHECKED_ASSERT(!stream_edge(ref->entry, true, &last) ||
                   stream_id_compare(facts->last_id, last.id) >= 0);
    struct streamlog *log = stream_log(ref->entry);
    /* Ids that were looked at may be given again. */
    if (stream_id_compare(facts->last_id, streamlog_facts(log)->last_id) < 0)
        released_ids_forget(&streamlog_groups(log)->released, streamlog_pieces(log), STREAM_ID_MIN);
    *streamlog_facts(log) = *facts;
}

/* --- Reading --- */

uint64_t stream_length(const struct entry *entry) {
    return streamlog_length(stream_log(entry));
}

struct stream_facts stream_facts(const struct entry *entry) {
    return *streamlog_facts(stream_log(entry));
}

struct consumer_groups *stream_groups(const struct entry *entry) {
    return streamlog_groups(stream_log(entry));
}

struct pieces *stream_pieces(const struct entry *entry) {
    return streamlog_pieces(stream_log(entry));
}

struct producers *stream_producers(const struct entry *entry) {
    return streamlog_producers(stream_log(entry));
}

size_t stream_nodes(const struct entry *entry) {
    return streamlog_nodes(stream_log(entry));
}

struct slice stream_id_text(char buffer[STREAM_ID_TEXT_MAX], struct stream_id id) {
    size_t len = number_format_uint64(buffer, id.ms);
    buffer[len++] = '-';
    return slice_make(buffer, len + number_format_uint64(buffer + len, id.seq));
}

bool stream_id_decrement(struct stream_id *id) {
    if (id->ms == 0 && id->seq == 0) return false;
    if (id->seq == 0) id->ms--;
    id->seq--;
    return true;
}

bool stream_id_increment(struct stream_id *id) {
    if (id->ms == UINT64_MAX && id->seq == UINT64_MAX) return false;
    id->seq++;
    if (id->seq == 0) id->ms++;
    return true;
}

bool stream_next_id(struct stream_id id, int64_t now_ms, struct stream_id *next) {
    *next = id;
    if (now_ms > 0 && (uint64_t)now_ms > id.ms) {
        *next = (struct stream_id){(uint64_t)now_ms, 0};
        return true;
    }
    return stream_id_increment(next);
}

void stream_iter_start(struct stream_iter *iter, const struct entry *entry, struct stream_id first,
                       struct stream_id last, bool reverse) {
    streamlog_iter_start(iter, streamlog_index_of(stream_log(entry)), first, last, reverse);
}

bool stream_edge(const struct entry *entry, bool last, struct stream_entry *edge) {
    struct stream_iter iter;
    stream_iter_start(&iter, entry, STREAM_ID_MIN, STREAM_ID_MAX, last);
    return streamlog_iter_next(&iter, edge);
}

bool stream_find(const struct entry *entry, struct stream_id id, struct stream_entry *found) {
    struct stream_iter iter;
    stream_iter_start(&iter, entry, id, id, false);
    return streamlog_iter_next(&iter, found);
}

bool stream_finder_next(struct stream_finder *finder, struct stream_id id,
                        struct stream_entry *found) {
    enum { STEPS = 4 };
    int order = -1;
    for (int step = 0; finder->has_last && step < STEPS; step++) {
        order = stream_id_compare(finder->last.id, id);
        if (order >= 0) break;
        finder->has_last = streamlog_iter_next(&finder->iter, &finder->last);
    }
    if (order < 0) {
        stream_iter_start(&finder->iter, finder->stream, id, STREAM_ID_MAX, false);
        finder->has_last = streamlog_iter_next(&finder->iter, &finder->last);
        if (!finder->has_last) return false;
        order = stream_id_compare(finder->last.id, id);
    }
    *found = finder->last;
    return order == 0;
}

/* --- What every type has --- */

static const char *stream_encoding_name(const struct entry *entry) {
    (void)entry;
    return "stream";
}

static size_t stream_value_size(const struct entry *entry) {
    (void)entry;
    return sizeof(struct streamlog *);
}

static size_t stream_allocated(const struct entry *entry) {
    return streamlog_allocated(stream_log(entry));
}

/* A captured log goes over to its capture. */
static size_t stream_free_effort(const struct entry *entry) {
    const struct streamlog *log = stream_log(entry);
    if (streamlog_is_captured(log)) return 1;
    return type_free_effort(streamlog_allocations(log), streamlog_allocated(log));
}

static bool stream_prefetch(struct value_lookup *lookup, unsigned step) {
    (void)step;
    prefetch(stream_log(lookup->entry));
    return false;
}

static void stream_free_value(struct entry *entry) {
    streamlog_free(stream_log(entry));
}

static void stream_own_value(struct entry *entry) {
    entry_set_pointer(entry, streamlog_copy(stream_log(entry)));
}

static void stream_relocate(struct entry *entry, struct relocator *relocator,
                            struct relocate_cursor *cursor) {
    entry_set_pointer(entry, streamlog_relocate(stream_log(entry), relocator, cursor));
}

static bool stream_check(const struct entry *entry) {
    return entry_check(entry) && entry_type(entry) == VALUE_STREAM &&
           entry_encoding(entry) == STREAM_IN_LOG && streamlog_check(stream_log(entry));
}

/* --- Captures --- */

static struct capture *stream_capture(struct entry *entry, size_t *left) {
    struct streamlog *log = stream_log(entry);
    bool small = streamlog_allocated(log) < VALUE_CAPTURE_MIN;
    return small ? NULL : streamlog_capture_begin(log, left);
}

static bool stream_is_captured(const struct entry *entry) {
    return streamlog_is_captured(stream_log(entry));
}

const struct type_operations stream_operations = TYPE_OPERATIONS(stream);
