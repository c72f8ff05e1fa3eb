/* hotkeys: which keys cost most processor time and network traffic while a collection runs
 * (HOTKEYS).
 *
 * For each metric a table of HOTKEYS_KEPT keys with counters is kept by the Space-Saving algorithm
 * (Metwally, Agrawal, El Abbadi: "Efficient Computation of Frequent and Top-k Elements in Data
 * Streams", 2005): a key that is not in a full table takes the place of the one with the smallest
 * counter, and goes on counting from there. So a counter is never too small, and too large by at
 * most that smallest counter. */
#ifndef PACKLIST_STATS_HOTKEYS_H
#define PACKLIST_STATS_HOTKEYS_H

#include "base/slice.h"
#include "base/text/sds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Amounts are nanoseconds, because most commands take less than a microsecond, and bytes. */
enum hotkeys_metric { HOTKEYS_CPU, HOTKEYS_NET, HOTKEYS_METRICS };

enum { HOTKEYS_COUNT_MAX = 64, HOTKEYS_KEPT = 4 * HOTKEYS_COUNT_MAX };

/* Slots of a cluster (store/key_slot.h). */
enum { HOTKEYS_SLOTS = 16384 };

struct hotkey {
    uint64_t hash;
    uint64_t amount;
    sds key;
};

struct hotkeys_table {
    size_t count;
    struct hotkey keys[HOTKEYS_KEPT];
};

/* All zero: nothing was collected. */
struct hotkeys {
    bool is_active;
    bool exists; /* there is a collection, which may have ended */
    bool has[HOTKEYS_METRICS];
    size_t wanted;                      /* keys to show */
    uint64_t ratio;                     /* one of so many commands is looked at */
    int64_t begin_ms;                   /* wall clock */
    int64_t end_ms;                     /* when it ends, or has ended; 0: not by itself */
    bool has_slots;                     /* only keys of `slots` are looked at */
    bool slots[HOTKEYS_SLOTS];          /* the selected ones */
    uint64_t total[HOTKEYS_METRICS];    /* of all commands, */
    uint64_t selected[HOTKEYS_METRICS]; /* … of those with keys in selected slots, */
    uint64_t sampled[HOTKEYS_METRICS];  /* … and of those of them that were looked at */
    uint64_t user_ms, system_ms; /* of the process: when it began; once it has ended, since then */
    struct hotkeys_table *tables[HOTKEYS_METRICS]; /* NULL: not asked for */
};

/* Begins the collection that the members `has`, `wanted`, `ratio`, `begin_ms` and `end_ms`
 * describe; what was collected before is forgotten. */
void hotkeys_begin(struct hotkeys *hotkeys, const struct hotkeys *description);

/* Ends the collection, if it runs. */
void hotkeys_end(struct hotkeys *hotkeys, int64_t now_ms);

/* Forgets what was collected. */
void hotkeys_reset(struct hotkeys *hotkeys);

/* Adds to the counter of a key, of which only the first HOTKEYS_KEY_MAX bytes are kept and
 * compared. O(HOTKEYS_KEPT). */
enum { HOTKEYS_KEY_MAX = 1024 };
void hotkeys_add(struct hotkeys *hotkeys, enum hotkeys_metric metric, struct slice key,
                 uint64_t amount);

/* Sorts the keys, largest first. O(n * log(n)). */
void hotkeys_sort(struct hotkeys_table *table);

/* Milliseconds of processor time of the process since `hotkeys_begin`, or while it ran. */
void hotkeys_processor_time(const struct hotkeys *hotkeys, uint64_t *user_ms, uint64_t *system_ms);

#endif
