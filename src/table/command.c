/* command: finding a command by its name.
 *
 * The lookup table is open-addressed over the first eight bytes of the name, lower-cased, as one
 * word. Names are compared in full after that: several commands share their first eight bytes
 * ("brpoplpush", "expiretime"). */
#include "table/command.h"

#include "table/command_table.h"

#include <assert.h>
#include <string.h>

enum { LOOKUP_SIZE = 1024 }; /* a power of two */
static_assert(LOOKUP_SIZE >= 2 * COMMANDS_MAX, "half of the lookup table or more stays empty");

static const struct command *lookup[LOOKUP_SIZE];

/* The first eight bytes with ASCII capitals made small, the rest zero. Other bytes may be
 * changed too (bit 5 is set in all): enough for a hash and a first comparison, not for equality. */
static inline uint64_t fold_prefix(const char *name, size_t len) {
    uint64_t word = 0;
    memcpy(&word, name, len < 8 ? len : 8);
    const uint64_t small = 0x2020202020202020ull;
    return word | (len < 8 ? small & ((1ull << (8 * len)) - 1) : small);
}

static inline size_t slot_of(uint64_t prefix, size_t len) {
    uint64_t mixed = (prefix ^ len) * 0x9E3779B97F4A7C15ull;
    return (size_t)(mixed >> 54) & (LOOKUP_SIZE - 1);
}

void command_table_init(void) {
    size_t count;
    command_table_join();
    const struct command *all = command_all(&count);
    memset(lookup, 0, sizeof(lookup));
    for (size_t i = 0; i < count; i++) {
        if (!command_is_top_level(&all[i])) continue;
        size_t len = strlen(all[i].name);
        size_t slot = slot_of(fold_prefix(all[i].name, len), len);
        while (lookup[slot]) slot = (slot + 1) & (LOOKUP_SIZE - 1);
        lookup[slot] = &all[i];
    }
}

/* A client's name may hold NULs and be of any length: it must not lead beyond the end of ours. */
static inline bool has_name(const struct command *command, struct slice name) {
    const char *at = command->name;
    for (size_t i = 0; i < name.len; i++, at++)
        if (*at == 0 || *at != ascii_lower(name.ptr[i])) return false;
    return *at == 0;
}

const struct command *command_find(struct slice name) {
    size_t slot = slot_of(fold_prefix(name.ptr, name.len), name.len);
    for (; lookup[slot]; slot = (slot + 1) & (LOOKUP_SIZE - 1))
        if (has_name(lookup[slot], name)) return lookup[slot];
    return NULL;
}

const struct command *command_find_cached(const struct command *last, struct slice name) {
    if (last && command_is_top_level(last) && has_name(last, name)) return last;
    return command_find(name);
}

const struct command *command_find_subcommand(const struct command *container, struct slice name) {
    size_t prefix = strlen(container->name);
    size_t count;
    const struct command *end = command_all(&count) + count;
    for (const struct command *sub = container + 1; sub < end && sub->flags & COMMAND_SUBCOMMAND;
         sub++)
        if (slice_is(name, sub->name + prefix + 1)) return sub;
    return NULL;
}
