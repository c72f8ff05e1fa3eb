/* steps: a command that visits many keys runs in steps, one in each iteration of the loop. Its
 * client waits; others are served between two steps, and may change everything.
 *
 *      command   steps_begin: the first step; its client waits
 *      loop      steps_run: kind->step … until no more is to be done
 *      loop      kind->answer: the reply; kind->free
 *
 * Several such commands take turns. When its client goes, a command is freed. */
#ifndef PACKLIST_ENGINE_STEPS_H
#define PACKLIST_ENGINE_STEPS_H

#include "base/clock.h"
#include "engine/call_struct.h"
#include "engine/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stepped;

struct stepped_kind {
    /* Goes on until steps_is_late. Returns whether there is more to do. The call is a copy of the
     * original one, with the time and the database of now, and has no reply. */
    bool (*step)(struct call *call, struct stepped *stepped);
    /* Writes the reply. */
    void (*answer)(struct call *call, struct stepped *stepped);
    /* Frees what the command owns besides its own memory. */
    void (*free)(struct stepped *stepped);
};

/* The first member of the struct of each kind. */
struct stepped {
    const struct stepped_kind *kind;
    struct engine *engine;
    struct session *session; /* that waits */
    struct stepped *prev;    /* of those that take turns */
    struct stepped *next;
    uint64_t ticks;   /* of the steps but the first one, which is the command's own time */
    uint64_t late_at; /* clock_ticks at which the step is to end */
    size_t allocated; /* bytes that the command owns; the kind keeps it up to date */
    bool is_done;     /* no step is left */
};

/* All such commands. */
struct steps {
    struct stepped *first;
    struct stepped *last;
    bool is_paused; /* DEBUG PAUSE-THREADS: only first steps are done */
};

/* Returns a new command of this kind, in a struct of `size` bytes that begins with it; the others
 * are 0. steps_begin gets it. */
void *stepped_new(const struct stepped_kind *kind, size_t size);

/* Does the first step, and makes the client wait; takes ownership. work_pays (engine/work.h) was
 * true of the call. The command must do nothing after it. */
void steps_begin(struct call *call, struct stepped *stepped);

/* Returns whether the step should end: it has taken a quarter of a millisecond. */
static inline bool steps_is_late(const struct stepped *stepped) {
#ifdef TINY_LIMITS
    (void)stepped;
    return true;
#else
    return clock_ticks() >= stepped->late_at;
#endif
}

/* Returns whether there is no such command. O(1). */
static inline bool steps_are_idle(const struct engine *engine) {
    return engine->steps->first == NULL;
}

/* Does the next step of one command. To be called once in an iteration of the loop. Returns whether
 * it is to be called again soon. */
bool steps_run(struct engine *engine);

#endif
