/* command: finding a command by its name.
 *
 * The lookup table is open-addressed over the first eight bytes of the name, lower-cased, as one
 * word. Names are compared in full after that: several commands share their first eight bytes
 * ("brpoplpush", "expiretime"). */
#include "table/command.h"

#include "base/number.h"
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

/* Keys that follow a count: the count must be a positive number that the arguments can hold. */
static long counted_keys(const struct command *command, const struct slice *argv, size_t argc,
                         size_t *indexes, size_t max) {
    size_t at = (size_t)command->keys.numkeys;
    int64_t announced;
    if (at >= argc || !number_parse_int64(argv[at], &announced)) return -1;
    if (announced < 1 || (uint64_t)announced > argc - at - 1) return -1;
    for (size_t i = 0; i < (size_t)announced && i < max; i++) indexes[i] = at + 1 + i;
    return (long)announced;
}

/* The index of the key behind the last STORE that has one; 0 when there is none. The words of other
 * options are passed over. */
static size_t stored_key(const struct slice *argv, size_t argc) {
    size_t found = 0;
    for (size_t i = 2; i < argc; i++) {
        if (slice_is(argv[i], "limit"))
            i += 2;
        else if (slice_is(argv[i], "by") || slice_is(argv[i], "get"))
            i++;
        else if (slice_is(argv[i], "store") && i + 1 < argc)
            found = i + 1;
    }
    return found;
}

/* The index of the first key behind KEYS; 0 when that word is not there. The words of other options
 * are passed over. */
static size_t list_of_keys(const struct slice *argv, size_t argc) {
    for (size_t i = 6; i < argc; i++) {
        if (slice_is(argv[i], "keys"))
            return i + 1;
        else if (slice_is(argv[i], "auth"))
            i++;
        else if (slice_is(argv[i], "auth2"))
            i += 2;
    }
    return 0;
}

/* Every step-th argument from `first` to `last`, which may be beyond the last one. */
static long ranged_keys(long first, long last, long step, size_t argc, size_t *indexes,
                        size_t max) {
    long count = 0;
    for (long i = first; i <= last && (size_t)i < argc; i += step, count++)
        if ((size_t)count < max) indexes[count] = (size_t)i;
    return count;
}

/* Keys behind KEYS; the one that stands where keys else stand must be empty then. */
static long listed_keys(const struct command *command, const struct slice *argv, size_t argc,
                        size_t begin, size_t *indexes, size_t max) {
    if (begin == argc || argv[command->keys.first].len > 0) return -1;
    return ranged_keys((long)begin, (long)argc - 1, 1, argc, indexes, max);
}

long command_keys(const struct command *command, const struct slice *argv, size_t argc,
                  size_t *indexes, size_t max) {
    const struct key_positions *keys = &command->keys;
    if (keys->numkeys) return counted_keys(command, argv, argc, indexes, max);
    if (!keys->first) return 0;
    long last = keys->last >= 0 ? keys->last : (long)argc + keys->last;
    size_t begin = keys->listed_flags ? list_of_keys(argv, argc) : 0;
    if (begin) return listed_keys(command, argv, argc, begin, indexes, max);
    long count = ranged_keys(keys->first, last, keys->step, argc, indexes, max);
    size_t stored = keys->store_flags ? stored_key(argv, argc) : 0;
    if (stored && (size_t)count < max) indexes[count] = stored;
    return count + (stored > 0);
}
