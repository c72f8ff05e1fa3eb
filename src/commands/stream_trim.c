/* Trimming with KEEPREF, DELREF or ACKED, for XADD and XTRIM. */
#include "commands/stream_trim.h"

#include "commands/stream_batch.h"

/* With ~ and ACKED so many entries are looked at in one command; the next one goes on there. */
enum { LOOKED_MAX = 16 * 1024 };

/* Fills the batch with the ids of the next entries, up to `count`. */
static void next_ids(struct stream_iter *iter, uint64_t count, struct id_batch *batch) {
    struct stream_entry entry;
    batch->count = 0;
    while (batch->count < STREAM_BATCH && batch->count < count && streamlog_iter_next(iter, &entry))
        batch->ids[batch->count++] = entry.id;
}

/* --- DELREF --- */

/* Drops the references to the first `count` entries. */
static void drop_references_to_first(struct call *call, const struct entry *entry, struct slice key,
                                     uint64_t count) {
    struct stream_iter iter;
    struct id_batch batch;
    if (consumer_groups_count(stream_groups(entry)) == 0) return;
    stream_iter_start(&iter, entry, STREAM_ID_MIN, STREAM_ID_MAX, false);
    for (; count > 0; count -= batch.count) {
        next_ids(&iter, count, &batch);
        stream_drop_references(call, entry, key, &batch);
    }
}

/* --- ACKED --- */

/* An acknowledged trimming, while it runs. */
struct acknowledged_trim {
    struct call *call;
    struct keyref *ref;
    struct slice key;
    const struct stream_trim *trim;
    struct stream_id given; /* all groups have read the entries up to this id */
    uint64_t length;        /* before it */
    uint64_t removed;
    struct stream_id node_end; /* the last id of the node that is looked at */
    bool is_over;
};

/* Returns whether the entry is beyond what is to be trimmed. The limit is that of whole nodes: a
 * node that has more entries than may still be removed is not looked at. */
static bool is_beyond(struct acknowledged_trim *state, struct stream_id id) {
    const struct stream_trim *trim = state->trim;
    uint64_t count;
    bool begins = trim->limit > 0 && stream_id_compare(id, state->node_end) > 0 &&
                  streamlog_node_at(idindex_view(&stream_log(state->ref->entry)->index), id, &count,
                                    &state->node_end);
    if (begins && state->removed + count > trim->limit) return true;
    return trim->by_id ? stream_id_compare(id, trim->min_id) >= 0
                       : state->length - state->removed <= trim->max_length;
}

/* Deletes those that all groups have acknowledged. Returns how many of the ids were looked at:
 * fewer than all when the trimming is over. */
static size_t trim_batch(struct acknowledged_trim *state, const struct id_batch *batch) {
    struct id_batch deleted = {.count = 0};
    bool waits[STREAM_BATCH];
    size_t looked = 0;
    consumer_groups_find_waiting(stream_groups(state->ref->entry), batch->ids, batch->count, waits);
    for (; looked < batch->count; looked++) {
        struct stream_id id = batch->ids[looked];
        state->is_over = is_beyond(state, id);
        if (state->is_over) break;
        if (waits[looked] || !stream_delete(state->ref, id)) continue;
        deleted.ids[deleted.count++] = id;
        state->removed++;
    }
    stream_propagate_ids(state->call, SLICE("XDEL"), state->key, NULL, &deleted);
    return looked;
}

/* Trims what was released since earlier trimmings have looked at it, and then what none has looked
 * at, `max` entries at most. */
static void trim_batches(struct acknowledged_trim *state, uint64_t max) {
    const struct entry *entry = state->ref->entry;
    struct consumer_groups *groups = stream_groups(entry);
    struct id_batch batch;
    do {
        batch.count = consumer_groups_released(groups, state->given, batch.ids, STREAM_BATCH);
        if (batch.count == 0) {
            struct stream_iter iter;
            stream_iter_start(&iter, entry, groups->looked_until, state->given, false);
            next_ids(&iter, max, &batch);
            max -= batch.count;
        }
        size_t looked = trim_batch(state, &batch);
        consumer_groups_note_looked(groups, stream_pieces(entry), batch.ids, looked);
        state->is_over |=
            looked == 0 || stream_id_compare(batch.ids[looked - 1], STREAM_ID_MAX) == 0;
    } while (!state->is_over);
}

/* Deletes what all groups have acknowledged, of as many entries from the first one on as are
 * needed. Each entry is looked at once, and again when a group has acknowledged it. */
static uint64_t trim_acknowledged(struct call *call, struct keyref *ref, struct slice key,
                                  const struct stream_trim_options *options) {
    struct stream_trim trim = options->trim;
    struct acknowledged_trim state = {.call = call,
                                      .ref = ref,
                                      .key = key,
                                      .trim = &trim,
                                      .given = consumer_groups_given(stream_groups(ref->entry)),
                                      .length = stream_length(ref->entry)};
    trim_batches(&state, trim.whole_nodes ? LOOKED_MAX : UINT64_MAX);
    return state.removed;
}

/* --- All of them --- */

/* Without groups nothing waits for an acknowledgement. */
bool stream_trims_to_length(const struct entry *entry, const struct stream_trim_options *options) {
    return options->references != STREAM_ONLY_ACKNOWLEDGED ||
           consumer_groups_count(stream_groups(entry)) == 0;
}

uint64_t stream_trim_referenced(struct call *call, struct keyref *ref, struct slice key,
                                const struct stream_trim_options *options) {
    struct stream_trim trim = options->trim;
    struct entry *cut;
    /* Each entry is looked at anyway. */
    if (options->references != STREAM_KEEP_REFERENCES) trim.whole_nodes = false;
    if (!stream_trims_to_length(ref->entry, options))
        return trim_acknowledged(call, ref, key, options);
    if (options->references == STREAM_DROP_REFERENCES)
        drop_references_to_first(call, ref->entry, key,
                                 streamlog_trimmed(stream_log(ref->entry), &trim));
    uint64_t removed = stream_trim(ref, &trim, &cut);
    if (cut) call_free_part(call, cut);
    return removed;
}
