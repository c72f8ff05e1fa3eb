/* XDEL XDELEX XACKDEL: entries that are deleted by their ids.
 *
 * They are propagated as what was done: XDEL and XACK, which any server knows. */
#include "base/checked.h"
#include "commands/commands.h"
#include "commands/streams/stream_references.h"

#include <stdlib.h>

/* --- XDEL key id … --- */

void xdel_command(struct call *call) {
    struct slice key = call->argv[1];
    struct keyref ref;
    uint64_t removed = 0;
    if (!call_find_typed_write(call, key, VALUE_STREAM, &ref)) return;
    if (ref.entry && !stream_check_ids(call, (struct id_range){2, call->argc})) return;
    for (size_t i = 2; ref.entry && i < call->argc; i++)
        removed += stream_delete(&ref, stream_id_at(call, i));
    reply_integer(call->reply, (int64_t)removed);
    if (removed > 0)
        CALL_CHANGED(call, &ref, key, EVENT_STREAM, "xdel", removed, .flags = CHANGE_WAKES_NOBODY);
}

/* --- Batches of ids --- */

static int compare_ids(const void *a, const void *b) {
    return stream_id_compare(*(const struct stream_id *)a, *(const struct stream_id *)b);
}

/* Brings the ids into ascending order. O(n log n), O(n) if they are. */
static void sort_ids(struct id_batch *batch) {
    size_t sorted = 1;
    while (sorted < batch->count && compare_ids(&batch->ids[sorted - 1], &batch->ids[sorted]) <= 0)
        sorted++;
    if (sorted < batch->count) qsort(batch->ids, batch->count, sizeof(*batch->ids), compare_ids);
}

/* The place of an id that is in a sorted batch. */
static size_t place_of_id(const struct id_batch *sorted, struct stream_id id) {
    const struct stream_id *found =
        bsearch(&id, sorted->ids, sorted->count, sizeof(*sorted->ids), compare_ids);
    CHECKED_ASSERT(found);
    return (size_t)(found - sorted->ids);
}

/* --- XDELEX key [KEEPREF | DELREF | ACKED] IDS count id …, XACKDEL key group … --- */

/* What is replied of an id. */
enum outcome { OUTCOME_NONE = -1, OUTCOME_DELETED = 1, OUTCOME_KEPT = 2 };

struct deletion {
    struct call *call;
    struct keyref ref;
    struct slice key;
    struct consumer_group *group; /* XACKDEL */
    bool acknowledges;            /* XACKDEL, even if there is no such group */
    enum stream_references references;
    struct id_range ids;
    uint64_t deletions;
    uint64_t changes;
};

static bool parse_deletion(struct deletion *deletion, size_t at) {
    struct call *call = deletion->call;
    bool has_references = false;
    while (at < call->argc) {
        if (slice_is(call->argv[at], "ids")) { /* given twice, the last ones count */
            if (at + 1 == call->argc) return call_syntax_error(call);
            if (!stream_parse_id_list(
                    call, &at, &deletion->ids, INT64_MAX,
                    "ERR Number of IDs must be a positive integer",
                    "ERR The `numids` parameter must match the number of arguments"))
                return false;
        } else if (!has_references && stream_is_references(call->argv[at], &deletion->references)) {
            has_references = true;
            at++;
        } else {
            return call_syntax_error(call);
        }
    }
    return deletion->ids.end > 0 || call_syntax_error(call);
}

/* Acknowledges the ids for XACKDEL; those that were not pending have no outcome. */
static void acknowledge(struct deletion *deletion, const struct id_batch *batch,
                        enum outcome *outcomes) {
    const struct propagation to = {.call = deletion->call};
    struct id_batch acknowledged = {.count = 0};
    for (size_t i = 0; i < batch->count; i++) {
        if (consumer_groups_acknowledge(stream_groups(deletion->ref.entry),
                                        stream_pieces(deletion->ref.entry), deletion->group,
                                        batch->ids[i], true))
            acknowledged.ids[acknowledged.count++] = batch->ids[i];
        else
            outcomes[i] = OUTCOME_NONE;
    }
    deletion->changes += acknowledged.count;
    stream_propagate_ids(&to, SLICE("XACK"), deletion->key, deletion->group, &acknowledged);
}

/* Those that a group still waits for are kept. */
static void keep_waiting(const struct deletion *deletion, const struct id_batch *batch,
                         enum outcome *outcomes) {
    struct id_batch sorted = *batch;
    bool waits[STREAM_BATCH];
    sort_ids(&sorted);
    consumer_groups_find_waiting(stream_groups(deletion->ref.entry), sorted.ids, sorted.count,
                                 waits);
    for (size_t i = 0; i < batch->count; i++)
        if (outcomes[i] != OUTCOME_NONE && waits[place_of_id(&sorted, batch->ids[i])])
            outcomes[i] = OUTCOME_KEPT;
}

/* Deletes what is left, and drops the references to it for DELREF. */
static void delete_rest(struct deletion *deletion, const struct id_batch *batch,
                        enum outcome *outcomes) {
    const struct propagation to = {.call = deletion->call};
    struct id_batch deleted = {.count = 0}, unreferenced = {.count = 0};
    for (size_t i = 0; i < batch->count; i++) {
        if (outcomes[i] != OUTCOME_DELETED) continue;
        bool existed = stream_delete(&deletion->ref, batch->ids[i]);
        if (existed)
            deleted.ids[deleted.count++] = batch->ids[i];
        else if (!deletion->acknowledges)
            outcomes[i] = OUTCOME_NONE;
        unreferenced.ids[unreferenced.count++] = batch->ids[i];
    }
    deletion->deletions += deleted.count;
    stream_propagate_ids(&to, SLICE("XDEL"), deletion->key, NULL, &deleted);
    if (deletion->references != STREAM_DROP_REFERENCES) return;
    sort_ids(&unreferenced);
    stream_drop_references(&to, deletion->ref.entry, deletion->key, &unreferenced);
}

/* Deletes some of the ids, as many as are looked at together, and replies what became of each. */
static void delete_batch(struct deletion *deletion, const struct id_batch *batch) {
    enum outcome outcomes[STREAM_BATCH];
    for (size_t i = 0; i < batch->count; i++) outcomes[i] = OUTCOME_DELETED;
    if (deletion->acknowledges) acknowledge(deletion, batch, outcomes);
    if (deletion->references == STREAM_ONLY_ACKNOWLEDGED) keep_waiting(deletion, batch, outcomes);
    delete_rest(deletion, batch, outcomes);
    for (size_t i = 0; i < batch->count; i++) reply_integer(deletion->call->reply, outcomes[i]);
}

/* Where there is nothing to delete the ids are not looked at. */
static void delete_ids(struct deletion *deletion) {
    struct call *call = deletion->call;
    struct id_range ids = deletion->ids;
    struct id_batch batch;
    bool has_target = deletion->ref.entry && (!deletion->acknowledges || deletion->group);
    if (has_target && !stream_check_ids(call, ids)) return;
    reply_array(call->reply, ids.end - ids.from);
    if (!has_target) {
        for (size_t i = ids.from; i < ids.end; i++) reply_integer(call->reply, OUTCOME_NONE);
        return;
    }
    call_propagate_nothing(call);
    for (size_t at = ids.from; at < ids.end; at += batch.count) {
        batch.count = ids.end - at < STREAM_BATCH ? ids.end - at : STREAM_BATCH;
        for (size_t i = 0; i < batch.count; i++) batch.ids[i] = stream_id_at(call, at + i);
        delete_batch(deletion, &batch);
    }
    if (deletion->deletions > 0)
        CALL_CHANGED(call, &deletion->ref, deletion->key, EVENT_STREAM, "xdel",
                     deletion->deletions + deletion->changes, .flags = CHANGE_WAKES_NOBODY);
    else
        CALL_CHANGED(call, &deletion->ref, deletion->key, EVENT_NONE, NULL, deletion->changes,
                     .flags = CHANGE_UNSEEN);
}

void xdelex_command(struct call *call) {
    struct deletion deletion = {.call = call, .key = call->argv[1]};
    if (parse_deletion(&deletion, 2) &&
        call_find_typed_write(call, deletion.key, VALUE_STREAM, &deletion.ref))
        delete_ids(&deletion);
}

void xackdel_command(struct call *call) {
    struct deletion deletion = {.call = call, .key = call->argv[1], .acknowledges = true};
    if (!parse_deletion(&deletion, 3) ||
        !call_find_typed_write(call, deletion.key, VALUE_STREAM, &deletion.ref))
        return;
    if (deletion.ref.entry)
        deletion.group = consumer_groups_find(stream_groups(deletion.ref.entry), call->argv[2]);
    delete_ids(&deletion);
}
