/* changes: the one way in which the rest of the server learns that data has changed.
 *
 *                             watched   clients    clients     own
 *                             keys      that wait  that track  expiries  snapshot  functions
 *      a key                  x         x          x           call_add  store/
 *      a database is emptied  x         x          x                     x
 *      two are exchanged      x         x          x           x
 *      all are replaced       x         x          x           x         x         x
 *
 * Commands change keys with the functions of call.h, which call those for keys. Events of the
 * keyspace and the command log are about commands, not data: call.c tells them. Whoever has to know
 * of each change of data gets its call here, and nowhere else. */
#ifndef PACKLIST_ENGINE_CHANGES_H
#define PACKLIST_ENGINE_CHANGES_H

#include "engine/blocking.h"
#include "engine/call_struct.h"
#include "engine/engine.h"
#include "engine/watch.h"
#include "types/value.h"

#include <stdbool.h>
#include <stddef.h>

struct function_set;

/* --- One key --- */

/* The value of the key was changed, or made: tells those who watch or track it. `is_expired`: its
 * time had come, so the client whose command found it has not changed it. O(such clients). */
void changes_tell_observers(const struct call *call, struct slice key, bool is_expired);
static inline void changes_tell(const struct call *call, struct slice key, bool is_expired) {
    if (call->engine->watches->observers) changes_tell_observers(call, key, is_expired);
}

/* The value of the key was changed, or made: perhaps in place of one that clients wait for. Tells
 * these. O(1). */
static inline void changes_wake(const struct call *call, const struct entry *entry,
                                struct slice key) {
    if (value_wakes_clients(entry))
        blocking_signal(call->engine->blocking, call->database, key);
    else
        blocking_signal_deleted(call->engine->blocking, call->database, key);
}

/* The key was deleted, for whatever reason. Tells all of these. */
static inline void changes_note_deletion(const struct call *call, struct slice key,
                                         bool is_expired) {
    changes_tell(call, key, is_expired);
    blocking_signal_deleted(call->engine->blocking, call->database, key);
}

/* --- Whole databases --- */

enum changes_freeing {
    CHANGES_FREE_NOW,
    CHANGES_FREE_SMALL_NOW, /* few small keys at once, more of them in another thread */
    CHANGES_FREE_IN_POOL
};

/* Deletes all keys of a database. `number` is that of a flush for whose end a client waits, or 0.
 * Returns whether lazyfree will report with the number that they are free. O(keys) where they are
 * freed at once, else O(keys that clients watch or wait for), and O(clients that track). */
bool changes_empty_database(struct engine *engine, int database, enum changes_freeing freeing,
                            uint64_t number);

/* Exchanges the keys of two databases. O(keys of both that clients watch or wait for), and
 * O(clients that track). */
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
