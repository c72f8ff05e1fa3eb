/* XTRIM, and the trimming of XADD: see stream_trim.h. XTRIM is a work (engine/work.h) where it
 * looks at many entries one by one.
 *
 * What is more than the removal of the first entries is propagated as what was done: XDEL and XACK,
 * which any server knows. XTRIM is propagated with the length that is left, so that a repetition
 * trims the same entries. */
#include "commands/streams/stream_trim.h"

#include "commands/commands.h"
#include "engine/claim.h"
#include "engine/work.h"
#include "types/value.h"

/* --- Options --- */

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
    if (!options->has_references && stream_is_references(word, &options->references)) {
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

/* A trimming, while it runs. */
struct trimming {
    const struct propagation *to;
    struct keyref *ref;
    struct slice key;
    const struct stream_trim *trim;
    /* With ACKED: */
    struct stream_id given; /* all groups have read the entries up to this id */
    uint64_t length;        /* before it */
    uint64_t removed;
    struct stream_id node_end; /* the last id of the node that is looked at */
    bool is_over;
};

/* Fills the batch with the ids of the next entries, up to `count`. */
static void next_ids(struct stream_iter *iter, uint64_t count, struct id_batch *batch) {
    struct stream_entry entry;
    batch->count = 0;
    while (batch->count < STREAM_BATCH && batch->count < count && streamlog_iter_next(iter, &entry))
        batch->ids[batch->count++] = entry.id;
}

/* --- DELREF --- */

/* Drops the references to the first `count` entries. */
static void drop_references_to_first(const struct trimming *state, uint64_t count) {
    const struct entry *entry = state->ref->entry;
    struct stream_iter iter;
    struct id_batch batch;
    if (consumer_groups_count(stream_groups(entry)) == 0) return;
    streamlog_iter_start(&iter, stream_log(entry), STREAM_ID_MIN, STREAM_ID_MAX, false);
    for (; count > 0; count -= batch.count) {
        next_ids(&iter, count, &batch);
        stream_drop_references(state->to, entry, state->key, &batch);
    }
}

/* --- ACKED --- */

/* With ~ and ACKED so many entries are looked at in one command; the next one goes on there. */
enum { LOOKED_MAX = 16 * 1024 };

/* Returns whether the entry is beyond what is to be trimmed; it may have been deleted. The limit
 * is that of whole nodes: a node that has more entries than may still be removed is not looked
 * at. */
static bool is_beyond(struct trimming *state, struct stream_id id) {
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
static size_t trim_batch(struct trimming *state, const struct id_batch *batch) {
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
    stream_propagate_ids(state->to, SLICE("XDEL"), state->key, NULL, &deleted);
    return looked;
}

/* Fills the batch with the next entries to look at, and takes those that none has looked at from
 * *max. */
static void next_batch(const struct entry *entry, struct stream_id given, uint64_t *max,
                       struct id_batch *batch) {
    const struct consumer_groups *groups = stream_groups(entry);
    struct stream_iter iter;
    batch->count = consumer_groups_released(groups, given, batch->ids, STREAM_BATCH);
    if (batch->count > 0) return;
    streamlog_iter_start(&iter, stream_log(entry), groups->looked_until, given, false);
    next_ids(&iter, *max, batch);
    *max -= batch->count;
}

static uint64_t looked_max(const struct stream_trim *trim) {
    return trim->whole_nodes ? LOOKED_MAX : UINT64_MAX;
}

/* Deletes what all groups have acknowledged, of as many entries from the first one on as are
 * needed. Each entry is looked at once, and again when a group has acknowledged it: first what was
 * released since earlier trimmings have looked at it, then what none has looked at. */
static uint64_t trim_acknowledged(struct trimming *state) {
    struct entry *entry = state->ref->entry;
    struct consumer_groups *groups = stream_groups(entry);
    uint64_t max = looked_max(state->trim);
    state->given = consumer_groups_given(groups);
    state->length = stream_length(entry);
    while (!state->is_over) {
        struct id_batch batch;
        next_batch(entry, state->given, &max, &batch);
        size_t looked = trim_batch(state, &batch);
        if (looked == 0) break;
        consumer_groups_note_looked(groups, stream_pieces(entry), batch.ids, looked);
        if (stream_id_compare(batch.ids[looked - 1], STREAM_ID_MAX) == 0) break;
    }
    return state->removed;
}

/* --- All of them --- */

/* Without groups nothing waits for an acknowledgement. */
bool stream_trims_to_length(const struct entry *entry, const struct stream_trim_options *options) {
    return options->references != STREAM_ONLY_ACKNOWLEDGED ||
           consumer_groups_count(stream_groups(entry)) == 0;
}

/* What is trimmed from the beginning on: whole nodes only where no entry is looked at anyway. */
static struct stream_trim first_to_trim(const struct stream_trim_options *options) {
    struct stream_trim trim = options->trim;
    if (options->references != STREAM_KEEP_REFERENCES) trim.whole_nodes = false;
    return trim;
}

/* Trims, in any thread, and returns how many entries are gone. *cut as stream_trim gives it. */
static uint64_t trim(const struct propagation *to, struct keyref *ref, struct slice key,
                     const struct stream_trim_options *options, struct entry **cut) {
    struct trimming state = {.to = to, .ref = ref, .key = key, .trim = &options->trim};
    *cut = NULL;
    if (!stream_trims_to_length(ref->entry, options)) return trim_acknowledged(&state);
    const struct stream_trim first = first_to_trim(options);
    if (options->references == STREAM_DROP_REFERENCES)
        drop_references_to_first(&state, streamlog_trimmed(stream_log(ref->entry), &first));
    return stream_trim(ref, &first, cut);
}

uint64_t stream_trim_referenced(struct call *call, struct keyref *ref, struct slice key,
                                const struct stream_trim_options *options) {
    const struct propagation to = {.call = call};
    struct entry *cut;
    uint64_t removed = trim(&to, ref, key, options, &cut);
    if (cut) call_free(call, cut, FREE_IN_POOL);
    return removed;
}

/* --- XTRIM in another thread --- */

struct trim_work {
    struct work work;
    struct stream_trim_options options;
    bool propagates;
    struct made_commands made;
    uint64_t removed;
};

/* Says what was done. */
static void report(struct call *call, struct keyref *ref, const struct stream_trim_options *options,
                   uint64_t removed) {
    struct slice key = call->argv[1];
    char length[INT64_TEXT_MAX];
    reply_integer(call->reply, (int64_t)removed);
    if (removed == 0) return;
    CALL_CHANGED(call, ref, key, EVENT_STREAM, "xtrim", removed, .flags = CHANGE_WAKES_NOBODY);
    if (!stream_trims_to_length(ref->entry, options)) return;
    CALL_PROPAGATE(call, SLICE("XTRIM"), key, SLICE("MAXLEN"), SLICE("="),
                   number_text(length, (int64_t)stream_length(ref->entry)));
}

static void run_trim(struct work *work) {
    struct trim_work *trimming = (struct trim_work *)work;
    const struct propagation to = {.made = trimming->propagates ? &trimming->made : NULL};
    struct keyref ref = claim_value(work->claim);
    struct entry *cut;
    trimming->removed = trim(&to, &ref, work->claim->key.name, &trimming->options, &cut);
    if (cut) value_free(cut);
    made_commands_end(&trimming->made);
}

static void answer_trim(struct call *call, struct work *work) {
    const struct trim_work *trimming = (struct trim_work *)work;
    struct keyref ref = claim_value(work->claim);
    if (trimming->made.count > 0) call_propagate_made(call, &trimming->made);
    report(call, &ref, &trimming->options, trimming->removed);
}

static void free_trim(struct work *work) {
    made_commands_free(&((struct trim_work *)work)->made);
}

/* How many entries a trimming with ACKED looks at, at most. */
static uint64_t most_looked_at(const struct entry *entry, const struct stream_trim *trim) {
    const struct consumer_groups *groups = stream_groups(entry);
    struct stream_id last = consumer_groups_given(groups);
    if (trim->by_id && stream_id_compare(trim->min_id, last) < 0) last = trim->min_id;
    uint64_t new = streamlog_count(stream_log(entry), groups->looked_until, last);
    uint64_t max = looked_max(trim);
    return consumer_groups_released_count(groups) + (new < max ? new : max);
}

/* Returns whether as few entries as are to be deleted are among the first ones to look at. */
static bool is_soon_over(const struct entry *entry, const struct stream_trim *trim) {
    enum { MORE = 32 };
    const struct consumer_groups *groups = stream_groups(entry);
    uint64_t length = stream_length(entry), max_length = trim->by_id ? 0 : trim->max_length;
    uint64_t needed = length > max_length ? length - max_length : 0, max = needed + MORE;
    bool waits[STREAM_BATCH];
    struct id_batch batch;
    if (needed > STREAM_BATCH) return false;
    next_batch(entry, consumer_groups_given(groups), &max, &batch);
    consumer_groups_find_waiting(groups, batch.ids, batch.count, waits);
    for (size_t i = 0; i < batch.count && needed > 0; i++) needed -= !waits[i];
    return needed == 0;
}

/* As work_pays_changing wants them. */
static uint64_t trim_steps(const struct entry *entry, const struct stream_trim_options *options) {
    size_t groups = consumer_groups_count(stream_groups(entry));
    const struct stream_trim *trim = &options->trim;
    const struct stream_trim first = first_to_trim(options);
    if (groups == 0) return 0;
    if (options->references == STREAM_DROP_REFERENCES)
        return groups * streamlog_trimmed(stream_log(entry), &first);
    return is_soon_over(entry, trim) ? 0 : most_looked_at(entry, trim);
}

/* Returns false, and does nothing, if the stream should be trimmed at once. */
static bool trim_later(struct call *call, const struct entry *entry,
                       const struct stream_trim_options *options) {
    static const struct work_kind kind = {run_trim, answer_trim, free_trim};
    bool looks_at_many =
        options->references != STREAM_KEEP_REFERENCES && stream_length(entry) >= WORK_MIN;
    if (!looks_at_many || !work_pays_changing(call, entry, trim_steps(entry, options)))
        return false;
    struct trim_work *trimming = work_new(&kind, sizeof(*trimming));
    trimming->options = *options;
    trimming->propagates = call->propagates;
    made_commands_begin(&trimming->made);
    work_begin_changing(call, &trimming->work, call->argv[1]);
    return true;
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
    if (!parse_xtrim(call, &options)) return;
    if (!call_find_typed_write(call, key, VALUE_STREAM, &ref)) return;
    if (!ref.entry)
        reply_integer(call->reply, 0);
    else if (!trim_later(call, ref.entry, &options))
        report(call, &ref, &options, stream_trim_referenced(call, &ref, key, &options));
}
