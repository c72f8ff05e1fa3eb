/* XDEL XDELEX XACKDEL XTRIM, and the trimming of XADD: see stream_delete.h.
 *
 * What is more than the removal of the first entries is propagated as what was done: XDEL and XACK,
 * which any server knows. XTRIM is propagated with the length that is left, so that a repetition
 * trims the same entries. */
#include "commands/streams/stream_delete.h"

#include "base/checked.h"
#include "commands/commands.h"

#include <stdlib.h>

/* --- Batches of ids, and the references to them --- */

enum { STREAM_BATCH = 512 };

struct id_batch {
    struct stream_id ids[STREAM_BATCH];
    size_t count;
};

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

/* Propagates NAME key [group] id …, unless there are none; `group` may be NULL. */
static void propagate_ids(struct call *call, struct slice name, struct slice key,
                          const struct consumer_group *group, const struct id_batch *batch) {
    struct slice argv[3 + STREAM_BATCH];
    char texts[STREAM_BATCH][STREAM_ID_TEXT_MAX];
    size_t argc = 0;
    if (!call->propagates || batch->count == 0) return;
    argv[argc++] = name;
    argv[argc++] = key;
    if (group) argv[argc++] = group->name;
    for (size_t i = 0; i < batch->count; i++)
        argv[argc++] = stream_id_text(texts[i], batch->ids[i]);
    call_propagate_as(call, argv, argc);
}

/* Ends that the entries with these ids, in ascending order, are pending, in all groups, and
 * propagates that. O(groups * log n + what was pending), where the ids are close together. */
static void drop_references(struct call *call, const struct entry *entry, struct slice key,
                            const struct id_batch *batch) {
    struct consumer_groups *groups = stream_groups(entry);
    for (size_t i = 0; i < consumer_groups_count(groups); i++) {
        struct consumer_group *group = consumer_groups_at(groups, i);
        struct pending_entry acknowledged[STREAM_BATCH];
        struct id_batch dropped;
        dropped.count = consumer_groups_acknowledge_all(stream_pieces(entry), group, batch->ids,
                                                        batch->count, acknowledged);
        for (size_t d = 0; d < dropped.count; d++) dropped.ids[d] = acknowledged[d].id;
        propagate_ids(call, SLICE("XACK"), key, group, &dropped);
    }
}

/* Returns whether the text is one of these words, in any case. */
static bool is_references(struct slice text, enum stream_references *references) {
    if (slice_is(text, "keepref"))
        *references = STREAM_KEEP_REFERENCES;
    else if (slice_is(text, "delref"))
        *references = STREAM_DROP_REFERENCES;
    else if (slice_is(text, "acked"))
        *references = STREAM_ONLY_ACKNOWLEDGED;
    else
        return false;
    return true;
}

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
        } else if (!has_references && is_references(call->argv[at], &deletion->references)) {
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
    propagate_ids(deletion->call, SLICE("XACK"), deletion->key, deletion->group, &acknowledged);
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
    propagate_ids(deletion->call, SLICE("XDEL"), deletion->key, NULL, &deleted);
    if (deletion->references != STREAM_DROP_REFERENCES) return;
    sort_ids(&unreferenced);
    drop_references(deletion->call, deletion->ref.entry, deletion->key, &unreferenced);
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

/* --- Options of trimming --- */

static bool parse_threshold(struct call *call, size_t index, struct stream_trim_options *options) {
    int64_t length;
    if (options->strategy == STREAM_MINID)
        return stream_parse_id(call, index, 0, &options->trim.min_id);
    if (!call_integer(call, index, &length)) return false;
    options->trim.max_length = (uint64_t)length;
    return length >= 0 || reply_error(call->reply, "ERR The MAXLEN argument must be >= 0.");
}

static bool parse_strategy(struct call *call, size_t *index, struct stream_trim_options *options,
                           enum stream_strategy strategy) {
    size_t at = *index + 1;
    if (options->strategy != STREAM_NO_TRIM)
        return reply_error(call->reply,
                           "ERR syntax error, MAXLEN and MINID options at the same time are not "
                           "compatible");
    options->strategy = strategy;
    options->trim.by_id = strategy == STREAM_MINID;
    bool has_more = at + 1 < call->argc;
    if (has_more && slice_equal(call->argv[at], SLICE("~"))) {
        options->trim.whole_nodes = true;
        at++;
    } else if (has_more && slice_equal(call->argv[at], SLICE("="))) {
        at++;
    }
    *index = at + 1;
    return parse_threshold(call, at, options);
}

bool stream_parse_trim(struct call *call, size_t *index, struct stream_trim_options *options,
                       bool *taken) {
    struct slice word = call->argv[*index];
    *taken = true;
    if (*index + 1 < call->argc) {
        if (slice_is(word, "maxlen")) return parse_strategy(call, index, options, STREAM_MAXLEN);
        if (slice_is(word, "minid")) return parse_strategy(call, index, options, STREAM_MINID);
        if (slice_is(word, "limit")) {
            options->has_limit = true;
            *index += 2;
            return call_integer_within(call, *index - 1, 0, INT64_MAX, &options->limit,
                                       "ERR The LIMIT argument must be >= 0.");
        }
    }
    if (!options->has_references && is_references(word, &options->references)) {
        options->has_references = true;
        ++*index;
        return true;
    }
    *taken = false;
    return true;
}

/* The work of one command that trims whole nodes and names no limit. */
static uint64_t default_limit(const struct call *call) {
    enum { NODES = 100, DEFAULT = 10000, MAX = 1000000 };
    size_t entries = call->limits->stream.node_entries;
    if (entries == 0) return DEFAULT;
    return entries < MAX / NODES ? entries * NODES : MAX;
}

bool stream_check_trim(struct call *call, struct stream_trim_options *options) {
    if (options->limit > 0 && options->strategy == STREAM_NO_TRIM)
        return reply_error(call->reply,
                           "ERR syntax error, LIMIT cannot be used without specifying a trimming "
                           "strategy");
    if (call_is_repeated(call)) return true; /* Redis propagates = with LIMIT */
    if (options->has_limit && !options->trim.whole_nodes)
        return reply_error(call->reply,
                           "ERR syntax error, LIMIT cannot be used without the special ~ option");
    if (options->has_limit)
        options->trim.limit = (uint64_t)options->limit;
    else if (options->trim.whole_nodes)
        options->trim.limit = default_limit(call);
    return true;
}

/* --- Trimming --- */

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
    streamlog_iter_start(&iter, stream_log(entry), STREAM_ID_MIN, STREAM_ID_MAX, false);
    for (; count > 0; count -= batch.count) {
        next_ids(&iter, count, &batch);
        drop_references(call, entry, key, &batch);
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

/* Returns whether the entry is beyond what is to be trimmed; it may have been deleted. The limit
 * is that of whole nodes: a node that has more entries than may still be removed is not looked
 * at. */
static bool is_beyond(struct acknowledged_trim *state, struct stream_id id) {
    const struct stream_trim *trim = state->trim;
    const struct entry *entry = state->ref->entry;
    struct stream_entry found;
    uint64_t count;
    bool begins = trim->limit > 0 && stream_id_compare(id, state->node_end) > 0;
    if (begins && !stream_find(entry, id, &found)) return false; /* it says nothing of a node */
    if (begins && streamlog_node_at(stream_log(entry), id, &count, &state->node_end) &&
        state->removed + count > trim->limit)
        return true;
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
    propagate_ids(state->call, SLICE("XDEL"), state->key, NULL, &deleted);
    return looked;
}

/* Deletes what all groups have acknowledged, of as many entries from the first one on as are
 * needed. Each entry is looked at once, and again when a group has acknowledged it: first what was
 * released since earlier trimmings have looked at it, then what none has looked at. */
static uint64_t trim_acknowledged(struct call *call, struct keyref *ref, struct slice key,
                                  const struct stream_trim *trim) {
    struct consumer_groups *groups = stream_groups(ref->entry);
    struct acknowledged_trim state = {.call = call,
                                      .ref = ref,
                                      .key = key,
                                      .trim = trim,
                                      .given = consumer_groups_given(groups),
                                      .length = stream_length(ref->entry)};
    uint64_t max = trim->whole_nodes ? LOOKED_MAX : UINT64_MAX;
    struct id_batch batch;
    while (!state.is_over) {
        batch.count = consumer_groups_released(groups, state.given, batch.ids, STREAM_BATCH);
        if (batch.count == 0) {
            struct stream_iter iter;
            streamlog_iter_start(&iter, stream_log(ref->entry), groups->looked_until, state.given,
                                 false);
            next_ids(&iter, max, &batch);
            max -= batch.count;
        }
        size_t looked = trim_batch(&state, &batch);
        if (looked == 0) break;
        consumer_groups_note_looked(groups, stream_pieces(ref->entry), batch.ids, looked);
        if (stream_id_compare(batch.ids[looked - 1], STREAM_ID_MAX) == 0) break;
    }
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
    if (!stream_trims_to_length(ref->entry, options))
        return trim_acknowledged(call, ref, key, &trim);
    /* Each entry is looked at anyway. */
    if (options->references != STREAM_KEEP_REFERENCES) trim.whole_nodes = false;
    if (options->references == STREAM_DROP_REFERENCES)
        drop_references_to_first(call, ref->entry, key,
                                 streamlog_trimmed(stream_log(ref->entry), &trim));
    uint64_t removed = stream_trim(ref, &trim, &cut);
    if (cut) call_free(call, cut, FREE_IN_POOL);
    return removed;
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
    CALL_CHANGED(call, &ref, key, EVENT_STREAM, "xtrim", removed, .flags = CHANGE_WAKES_NOBODY);
    if (!stream_trims_to_length(ref.entry, &options)) return;
    CALL_PROPAGATE(call, SLICE("XTRIM"), key, SLICE("MAXLEN"), SLICE("="),
                   number_text(length, (int64_t)stream_length(ref.entry)));
}
