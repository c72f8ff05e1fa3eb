/* XDEL XDELEX XACKDEL
 *
 * They are propagated as what they did: XDEL and XACK, which any server knows. */
#include "commands/commands.h"
#include "commands/stream_batch.h"
#include "commands/stream_common.h"

/* --- XDEL key id … --- */

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
    if (removed > 0) call_touched_unwaited(call, &ref, key, EVENT_STREAM, "xdel", removed);
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
    size_t first_id; /* argv index */
    size_t id_count;
    uint64_t deletions;
    uint64_t changes;
};

/* IDS count id …; moves *at behind the last id. Given twice, the ids of the last one count. */
static bool parse_ids(struct deletion *deletion, size_t *at) {
    struct call *call = deletion->call;
    int64_t count;
    if (*at + 1 >= call->argc) return call_syntax_error(call);
    if (!call_integer_in(call, *at + 1, 1, INT64_MAX, &count,
                         "ERR Number of IDs must be a positive integer"))
        return false;
    deletion->first_id = *at + 2;
    if ((uint64_t)count > call->argc - deletion->first_id)
        return reply_error(call->reply,
                           "ERR The `numids` parameter must match the number of arguments");
    deletion->id_count = (size_t)count;
    *at = deletion->first_id + deletion->id_count;
    return true;
}

static bool parse_deletion(struct deletion *deletion, size_t at) {
    struct call *call = deletion->call;
    bool has_references = false;
    while (at < call->argc) {
        if (slice_is(call->argv[at], "ids")) {
            if (!parse_ids(deletion, &at)) return false;
        } else if (!has_references && stream_is_references(call->argv[at], &deletion->references)) {
            has_references = true;
            at++;
        } else {
            return call_syntax_error(call);
        }
    }
    return deletion->id_count > 0 || call_syntax_error(call);
}

/* Returns whether there may be something to delete. Else ids are not looked at. */
static bool has_target(const struct deletion *deletion) {
    return deletion->ref.entry && (!deletion->acknowledges || deletion->group);
}

static bool check_ids(const struct deletion *deletion) {
    struct stream_id id;
    if (!has_target(deletion)) return true;
    for (size_t i = 0; i < deletion->id_count; i++)
        if (!stream_parse_id(deletion->call, deletion->first_id + i, 0, &id)) return false;
    return true;
}

/* Acknowledges the ids for XACKDEL; those that were not pending have no outcome. */
static void acknowledge(struct deletion *deletion, const struct id_batch *batch,
                        enum outcome *outcomes) {
    struct id_batch acknowledged = {.count = 0};
    for (size_t i = 0; i < batch->count; i++) {
        if (consumer_groups_acknowledge(stream_groups(deletion->ref.entry),
                                        stream_pieces(deletion->ref.entry), deletion->group,
                                        batch->ids[i]))
            acknowledged.ids[acknowledged.count++] = batch->ids[i];
        else
            outcomes[i] = OUTCOME_NONE;
    }
    deletion->changes += acknowledged.count;
    stream_propagate_ids(deletion->call, SLICE("XACK"), deletion->key, deletion->group,
                         &acknowledged);
}

/* Those that a group still waits for are kept. */
static void keep_waiting(const struct deletion *deletion, const struct id_batch *batch,
                         enum outcome *outcomes) {
    struct id_batch sorted = *batch;
    bool waits[STREAM_BATCH];
    stream_sort_ids(&sorted);
    consumer_groups_find_waiting(stream_groups(deletion->ref.entry), sorted.ids, sorted.count,
                                 waits);
    for (size_t i = 0; i < batch->count; i++)
        if (outcomes[i] != OUTCOME_NONE && waits[stream_place_of_id(&sorted, batch->ids[i])])
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
    stream_propagate_ids(deletion->call, SLICE("XDEL"), deletion->key, NULL, &deleted);
    if (deletion->references != STREAM_DROP_REFERENCES) return;
    stream_sort_ids(&unreferenced);
    stream_drop_references(deletion->call, deletion->ref.entry, deletion->key, &unreferenced);
}

/* Deletes some of the ids, as many as are looked at together. */
static void delete_batch(struct deletion *deletion, const struct id_batch *batch) {
    enum outcome outcomes[STREAM_BATCH];
    bool may_find = has_target(deletion);
    for (size_t i = 0; i < batch->count; i++)
        outcomes[i] = may_find ? OUTCOME_DELETED : OUTCOME_NONE;
    if (may_find) {
        if (deletion->acknowledges) acknowledge(deletion, batch, outcomes);
        if (deletion->references == STREAM_ONLY_ACKNOWLEDGED)
            keep_waiting(deletion, batch, outcomes);
        delete_rest(deletion, batch, outcomes);
    }
    for (size_t i = 0; i < batch->count; i++) reply_integer(deletion->call->reply, outcomes[i]);
}

static void delete_ids(struct deletion *deletion) {
    struct call *call = deletion->call;
    struct id_batch batch = {.count = 0};
    if (!check_ids(deletion)) return;
    call_propagate_nothing(call);
    reply_array(call->reply, deletion->id_count);
    for (size_t i = 0; i < deletion->id_count; i++) {
        struct stream_id *id = &batch.ids[batch.count++];
        *id = STREAM_ID_MIN; /* where the ids are not looked at */
        if (has_target(deletion)) stream_parse_id(call, deletion->first_id + i, 0, id);
        if (batch.count < STREAM_BATCH && i + 1 < deletion->id_count) continue;
        delete_batch(deletion, &batch);
        batch.count = 0;
    }
    if (!deletion->ref.entry) return;
    if (deletion->deletions > 0)
        call_touched_unwaited(call, &deletion->ref, deletion->key, EVENT_STREAM, "xdel",
                              deletion->deletions + deletion->changes);
    else
        call_touched_aside(call, deletion->ref.entry, deletion->key, EVENT_STREAM, NULL,
                           deletion->changes);
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
