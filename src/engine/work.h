/* work: a command that takes long runs in another thread, and no other client waits for it.
 *
 *      command   finds its keys; work_begin: its client waits
 *      pool      kind->run: makes the result, or changes a value
 *      loop      kind->answer: the reply, and what there is to report; kind->free
 *
 * What it reads are values that the command has frozen (types/value.h). What it changes, or stores
 * the result under, is a key that it has claimed (engine/claim.h).
 *
 * A few works run at a time, the others wait in the order in which they came. When its client goes,
 * a work is freed as soon as it has ended or can be stopped. */
#ifndef PACKLIST_ENGINE_WORK_H
#define PACKLIST_ENGINE_WORK_H

#include "engine/call_struct.h"
#include "engine/keytable.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture;
struct claim; /* engine/claim.h */
struct engine;
struct entry;
struct frozen;
struct work;

struct work_kind {
    /* Makes the result. In any thread: reads and writes what belongs to the work, and nothing else
     * of the server. Where work_is_cancelled, it may end without a result. */
    void (*run)(struct work *work);
    /* Writes the reply. In the loop's thread, with a copy of the original call. */
    void (*answer)(struct call *call, struct work *work);
    /* Frees what the work owns besides its own memory. In the loop's thread. NULL: nothing. */
    void (*free)(struct work *work);
};

/* The first member of the struct of each kind. */
struct work {
    const struct work_kind *kind;
    struct engine *engine;
    struct session *session; /* that waits; NULL: it has gone, or none waits */
    struct claim *claim;     /* of the key that it writes; NULL: it only reads */
    struct work *prev;       /* of those that wait for their turn */
    struct work *next;
    uint64_t ticks;    /* of the run */
    int state;         /* atomic */
    bool is_cancelled; /* atomic */
    bool is_in_pool;   /* the pool is going to run it, or to find that it has run */
    bool has_ended;
};

/* All works. */
struct works {
    struct work *first; /* those that wait for their turn */
    struct work *last;
    unsigned running;
    unsigned waiting; /* clients */
    bool is_paused;   /* DEBUG PAUSE-THREADS: none begins */
    uint64_t total;
    size_t capture_bytes; /* of memory that only captures of works still need */
    struct keytable claims;
    struct claim *first_claim;
    struct claim *last_claim;
    pthread_mutex_t lock; /* of `has_run` */
    pthread_cond_t has_run;
};

void works_start(struct engine *engine);
void works_free(struct engine *engine);

/* So many steps, each of about 50 ns, are more than what the loop should do at once. */
#ifdef TINY_LIMITS
enum { WORK_MIN = 30 };
#else
enum { WORK_MIN = 10000 };
#endif

/* Returns whether a command of so many steps should be a work: not if its client must not wait,
 * because it is part of a transaction or a script. O(1). */
static inline bool work_pays(const struct call *call, uint64_t steps) {
    return __builtin_expect(steps >= WORK_MIN, 0) && call_may_block(call);
}

/* As work_pays, for a command that writes: not on a replica, where the primary's commands must not
 * meet claimed keys. O(1). */
bool work_pays_writing(const struct call *call, uint64_t steps);

/* Returns a new work of this kind, in a struct of `size` bytes that begins with it; the others are
 * 0. work_begin gets it. */
void *work_new(const struct work_kind *kind, size_t size);

/* Runs the work and takes ownership of it. The command, of which work_pays was true, must do
 * nothing after it. */
void work_begin(struct call *call, struct work *work);

/* As work_begin, of a command that stores what the work makes under `key` of a database, in place
 * of what is there: kind->answer does that. The command goes to the command log now. */
void work_begin_storing_in(struct call *call, struct work *work, int database, struct slice key);

/* The same, for the database of the call. */
void work_begin_storing(struct call *call, struct work *work, struct slice key);

/* Returns whether a command of so many steps, which changes the value of the entry, should be a
 * work: as work_pays_writing, and not while others read the value as it was. O(1). */
bool work_pays_changing(const struct call *call, const struct entry *entry, uint64_t steps);

/* As work_begin, of a command that changes the value under `key`, of which work_pays_changing was
 * true: kind->run does that with claim_value, kind->answer reports it. */
void work_begin_changing(struct call *call, struct work *work, struct slice key);

/* As work_begin, of a command that may fail, and otherwise stores under `key` what the work makes
 * of the value under `source`, which may be the same key: kind->answer does that. The command goes
 * to the command log when it has done so: until then, the source stays as it is. */
void work_begin_replacing(struct call *call, struct work *work, struct slice source,
                          struct slice key);

/* Runs the work now, if it has not run yet, and ends it. In the loop's thread. */
void work_end_now(struct work *work);

/* From now on works wait for their turn, or go on. */
void works_pause(struct engine *engine, bool is_paused);

/* Freezes a value for a work that is about to be made. See value_freeze. */
void work_freeze(const struct call *call, struct entry *entry, struct frozen *frozen);

/* Frees a frozen value, unless that was done. In the loop's thread. O(1): what only it still needed
 * is freed in another thread if that is much. */
void work_unfreeze(const struct work *work, struct frozen *frozen);

/* Frees a value that the work has made and to which no key leads: in another thread if it is large.
 * In the loop's thread. */
void work_free_value(const struct work *work, struct entry *entry);

/* Captures a value for a work that is about to be made. NULL: the command should run at once. See
 * value_capture. */
struct capture *work_capture(const struct call *call, struct entry *entry);

/* As work_capture, of a string with an out-of-line text of any length: a command that reads many of
 * them should copy none. */
struct capture *work_capture_text(const struct call *call, struct entry *entry);

/* Ends a capture, unless it is NULL. In the loop's thread. As work_unfreeze. */
void work_end_capture(const struct work *work, struct capture *capture);

/* Returns whether the result is not needed. In any thread. O(1). */
static inline bool work_is_cancelled(const struct work *work) {
    return __atomic_load_n(&work->is_cancelled, __ATOMIC_RELAXED);
}

#endif
