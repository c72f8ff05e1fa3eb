/* command_keys: which arguments of a call are keys or channels, and how the command uses them. The
 * only place that knows: a command finds no key but these (checked in builds with CHECKED=1),
 * except keys that data names: SORT's BY and GET. */
#ifndef PACKLIST_TABLE_COMMAND_KEYS_H
#define PACKLIST_TABLE_COMMAND_KEYS_H

#include "table/command.h"

/* Every step-th argument from argv[begin] to before argv[end]. */
struct key_range {
    size_t begin;
    size_t end; /* at most argc; not above `begin`: there is none */
    size_t step;
    uint32_t use; /* enum key_use: of each */
};

/* The keys of a call: those of the first range, then those of the second one. */
struct key_ranges {
    struct key_range ranges[2];
};

/* Finds them. Returns false when the arguments are invalid (a bad numkeys): then there are none.
 * argc is one that the command accepts. O(1), or O(argc) for SET, BITFIELD, SORT, GEORADIUS,
 * MIGRATE and XREAD. */
bool command_keys(const struct command *command, const struct slice *argv, size_t argc,
                  struct key_ranges *keys);

/* Calls `visit` with the argv index and the use of each key, in the order of the ranges. O(keys).
 * */
void key_ranges_each(const struct key_ranges *keys,
                     void (*visit)(void *arg, size_t index, uint32_t use), void *arg);

/* Returns how many keys these are. O(1). */
size_t key_ranges_count(const struct key_ranges *keys);

/* Returns the argv index of the first one; 0 when there is none. O(1). */
size_t key_ranges_first(const struct key_ranges *keys);

#endif
