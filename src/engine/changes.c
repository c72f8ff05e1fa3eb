#include "engine/changes.h"

#include "engine/claim.h"
#include "engine/functions.h"
#include "engine/lazyfree.h"
#include "engine/own_expiry.h"
#include "tracking/tracking.h"

void changes_tell_observers(const struct call *call, struct slice key, bool is_expired) {
    struct engine *engine = call->engine;
    watch_touch(engine->watches, call->database, call->keyspace, key);
    if (engine->tracking->tracker_count)
        tracking_invalidate(engine->tracking, key, call->database,
                            is_expired ? NULL : call_session(call));
}

static bool frees_in_pool(const struct keyspace *keyspace, enum changes_freeing freeing) {
    return freeing == CHANGES_FREE_IN_POOL ||
           (freeing == CHANGES_FREE_SMALL_NOW && !lazyfree_is_little(keyspace));
}

/* Watchers are touched while both the old and the new keys can be looked at. */
static bool replace(struct engine *engine, int database, struct keyspace *with,
                    enum changes_freeing freeing, uint64_t number) {
    struct keyspace *keyspace = engine->keyspaces[database];
    claims_end_all(engine);
    watch_touch_database(engine->watches, database, keyspace, with, engine->now_ms);
    bool in_pool = frees_in_pool(keyspace, freeing);
    bool is_awaited = engine->upward->empty_keyspace(engine, keyspace, in_pool, number);
    if (with) keyspace_swap(keyspace, with);
    blocking_signal_database(engine, engine->blocking, database);
    return is_awaited;
}

bool changes_empty_database(struct engine *engine, int database, enum changes_freeing freeing,
                            uint64_t number) {
    bool is_awaited = replace(engine, database, NULL, freeing, number);
    tracking_invalidate_all(engine->tracking);
    return is_awaited;
}

void changes_swap_databases(struct engine *engine, int a, int b) {
    struct keyspace *first = engine->keyspaces[a], *second = engine->keyspaces[b];
    claims_end_all(engine);
    watch_touch_database(engine->watches, a, first, second, engine->now_ms);
    watch_touch_database(engine->watches, b, second, first, engine->now_ms);
    keyspace_swap(first, second);
    own_expiry_swap(engine, a, b);
    blocking_signal_database(engine, engine->blocking, a);
    blocking_signal_database(engine, engine->blocking, b);
    tracking_invalidate_all(engine->tracking);
}

size_t changes_replace_all(struct engine *engine, const struct replacement *by) {
    size_t awaited = 0;
    if (!by->is_reloaded) own_expiry_forget_all(engine);
    for (int i = 0; i < engine->databases; i++)
        awaited += replace(engine, i, by->with ? by->with[i] : NULL, by->freeing, by->number);
    if (by->functions) functions_replace(engine->functions, by->functions);
    tracking_invalidate_all(engine->tracking);
    return awaited;
}

void changes_note_loaded(struct engine *engine) {
    for (int i = 0; i < engine->databases; i++)
        blocking_signal_database(engine, engine->blocking, i);
}
