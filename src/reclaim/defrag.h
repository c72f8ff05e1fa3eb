/* defrag: gives memory back that values no longer need, but that is scattered over pages which
 * other values keep: moves what lies in such pages together (base/memory/relocate.h).
 *
 * The allocator is asked once a second how much of its pages is unused. If defrag_plan.h finds
 * that enough, a pass begins, which visits all keys once, in short steps between the requests of
 * clients. Nothing that clients can see changes. */
#ifndef PACKLIST_RECLAIM_DEFRAG_H
#define PACKLIST_RECLAIM_DEFRAG_H

#include "base/memory/relocate.h"
#include "base/text/sds.h"
#include "reclaim/defrag_plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

/* A value that a step has not finished. */
struct defrag_value {
    sds key;
    struct relocate_cursor cursor;
};

struct defrag {
    struct relocator relocator;
    struct net_timer *timer; /* the next step */
    bool is_supported;       /* by the allocator */
    struct defrag_plan plan;
    bool is_purging;     /* a thread of the pool gives pages back that hold nothing */
    int64_t purged_us;   /* when the last one began, monotonic */
    int64_t percent;     /* of the time that the pass may take */
    int64_t surveyed_ms; /* steady time of the last survey */

    /* Where the pass is. */
    int slowlog;           /* enum slowlog_kind; SLOWLOG_KINDS: after the last one */
    bool has_seen_tracked; /* the table of keys that clients track was visited */
    int64_t database;
    int table;       /* enum keyspace_keys */
    uint64_t cursor; /* in that table */
    struct defrag_value *unfinished;
    size_t unfinished_count;
    size_t unfinished_capacity;

    uint64_t keys_moved;  /* keys of which at least one block has moved */
    uint64_t keys_stayed; /* and all others that were visited */
    int64_t counted_us;   /* until then time was counted, monotonic */
    int64_t left_us;  /* processor time that the pass may take at once; negative: it took more */
    int64_t begun_ms; /* steady time when this pass began */
    int64_t total_ms; /* that all passes before it took */
};

void defrag_start(struct engine *engine);
void defrag_stop(struct engine *engine);

/* Looks once a second whether a pass is worth it, and begins it. Called by cron. O(1). */
void defrag_tick(struct engine *engine);

/* For maxmemory-rss. The first returns the bytes in gaps that a pass could close at most
 * (defrag_plan_movable); 0 where activedefrag is off, or the allocator cannot tell. It asks the
 * allocator ten times a second at most: some tens of microseconds. The second begins a pass,
 * whatever the thresholds are, unless one is under way or there is nothing to move. */
size_t defrag_movable(struct engine *engine);
void defrag_begin(struct engine *engine);

/* Gives pages that hold nothing back to the system, on a thread of the pool; the allocator would
 * keep them for ten seconds, as they are often needed again. Returns false, having begun nothing,
 * when that is under way or began less than a second ago. Some tens of microseconds. */
bool defrag_purge(struct engine *engine);

/* To be called when activedefrag has changed: ends a pass that is not wanted any more. Returns
 * false if it is to be on and the allocator cannot tell what is worth moving. */
bool defrag_configure(struct engine *engine);

/* For INFO: the percentage of the time that a pass which is under way may take, the milliseconds
 * since it began, and those of all passes; 0 without one. O(1). */
int64_t defrag_running_percent(const struct engine *engine);
int64_t defrag_current_ms(const struct engine *engine);
int64_t defrag_total_ms(const struct engine *engine);

#endif
