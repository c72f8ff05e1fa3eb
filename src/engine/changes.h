/* changes: the one way in which the rest of the server learns that data has changed.
 *
 *                             watched   clients    own
 *                             keys      that wait  expiries  snapshot  functions
 *      a key                  x         x          call_add  store/
 *      a database is emptied  x         x                    x
 *      two are exchanged      x         x          x
 *      all are replaced       x         x          x         x         x
 *
 * Commands change keys with the functions of call.h, which call those for keys. Events of the
 * keyspace are about commands, not data: call.h publishes them. Whoever has to know of each change
 * of data becomes a listener here, and nowhere else. */
#ifndef PACKLIST_ENGINE_CHANGES_H
#define PACKLIST_ENGINE_CHANGES_H

#include "engine/blocking.h"
#include "engine/call.h"
#include "engine/engine.h"
#include "engine/watch.h"
#include "types/value.h"

#include <stdbool.h>
#include <stddef.h>

struct function_set;

/* --- One key --- */

/* The value of the key was changed, or made. O(1) and O(watchers of the key). */
static inline void changes_note_value(const struct call *call, const struct entry *entry,
                                      struct slice key) {
    struct engine *engine = call->engine;
    watch_touch(engine->watches, call->database, call->keyspace, key);
    if (value_wakes_clients(entry)) blocking_signal(engine->blocking, call->database, key);
}

/* The key was deleted, for whatever reason. As above. */
static inline void changes_note_deletion(const struct call *call, struct slice key) {
    struct engine *engine = call->engine;
    watch_touch(engine->watches, call->database, call->keyspace, key);
    blocking_signal_deleted(engine->blocking, call->database, key);
}

/* --- Whole databases --- */

enum changes_freeing {
    CHANGES_FREE_NOW,
    CHANGES_FREE_SMALL_NOW, /* few small keys at once, more of them in another thread */
    CHANGES_FREE_IN_POOL
};

/* Deletes all keys of a database. `number` is that of a flush for whose end a client waits, or 0.
 * Returns whether lazyfree will report with the number that they are free. O(keys) where they are
 * freed at once, else O(keys that clients watch or wait for). */
bool changes_empty_database(struct engine *engine, int database, enum changes_freeing freeing,
                            uint64_t number);

/* Exchanges the keys of two databases. O(keys of both that clients watch or wait for). */
void changes_swap_databases(struct engine *engine, int a, int b);

/* What takes the place of all data. */
struct replacement {
    struct keyspace *const *with;   /* keys for each database, which are left empty; NULL: none */
    struct function_set *functions; /* whose ownership is taken; NULL: those in force stay */
    enum changes_freeing freeing;
    uint64_t number;  /* as in changes_empty_database */
    bool is_reloaded; /* the same keys come back, so own expiries stay */
};

/* Replaces the keys of all databases. Returns for how many of them a client must wait. The costs
 * are those of changes_empty_database for each. */
size_t changes_replace_all(struct engine *engine, const struct replacement *by);

/* Call it when keys were loaded into databases that were emptied before. O(keys that clients wait
 * for). */
void changes_note_loaded(struct engine *engine);

#endif
