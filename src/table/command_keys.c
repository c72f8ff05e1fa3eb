#include "table/command_keys.h"

#include "base/text/number.h"

static struct key_range range(size_t begin, size_t end, size_t step, uint32_t use) {
    return (struct key_range){begin, end, step, use};
}

static struct key_range one(size_t index, uint32_t use) {
    return range(index, index + 1, 1, use);
}

/* --- Regular commands --- */

static void find_in_range(const struct key_positions *row, size_t argc, struct key_ranges *keys) {
    size_t first = (size_t)row->first, step = (size_t)row->step;
    size_t end = row->last >= 0 ? (size_t)row->last + 1 : argc - (size_t)-row->last + 1;
    if (row->first == 0) return;
    if (end > argc) end = argc;
    keys->ranges[0] = range(first, end, step, row->use);
    if (!row->other_use || first + step >= end) return;
    keys->ranges[0].end = first + 1;
    keys->ranges[1] = range(first + step, end, step, row->other_use);
}

/* The number must be positive and not more than the arguments after it. */
static bool find_counted(const struct command *command, const struct slice *argv, size_t argc,
                         size_t step, struct key_ranges *keys) {
    const struct key_positions *row = &command->keys;
    size_t at = (size_t)row->numkeys;
    int64_t count;
    bool may_lack = command->flags & COMMAND_NO_MANDATORY_KEYS;
    if (at >= argc || !number_parse_int64(argv[at], &count)) return may_lack;
    if (count < 1 || (uint64_t)count > (argc - at - 1) / step) return may_lack;
    uint32_t use = row->other_use ? row->other_use : row->use;
    if (row->first) keys->ranges[0] = one((size_t)row->first, row->use);
    keys->ranges[1] = range(at + 1, at + 1 + (size_t)count * step, step, use);
    return true;
}

/* --- Others --- */

/* A condition tells something of the old value, as GET does. */
static uint32_t use_of_set(const struct slice *argv, size_t argc) {
    static const char *const readers[] = {"get", "ifeq", "ifne", "ifdeq", "ifdne"};
    for (size_t i = 3; i < argc; i++)
        for (size_t r = 0; r < sizeof(readers) / sizeof(readers[0]); r++)
            if (slice_is(argv[i], readers[r])) return KEY_RW | KEY_ACCESS | KEY_UPDATE;
    return KEY_OW | KEY_UPDATE;
}

static uint32_t use_of_bitfield(const struct slice *argv, size_t argc) {
    size_t i = 2;
    while (i < argc) {
        size_t more = argc - i - 1;
        if (slice_is(argv[i], "get") && more >= 2)
            i += 3;
        else if (slice_is(argv[i], "overflow") && more >= 1)
            i += 2;
        else
            return KEY_RW | KEY_ACCESS | KEY_UPDATE; /* it writes, or is invalid */
    }
    return KEY_RO | KEY_ACCESS;
}

/* Returns the index of the key after the last STORE; 0 when there is none. The arguments of other
 * options are skipped. */
static size_t stored_key(const struct slice *argv, size_t argc) {
    size_t found = 0;
    for (size_t i = 2; i < argc; i++) {
        if (slice_is(argv[i], "limit"))
            i += 2;
        else if (slice_is(argv[i], "by") || slice_is(argv[i], "get"))
            i++;
        else if (slice_is(argv[i], "store") && i + 1 < argc)
            found = ++i;
    }
    return found;
}

static void find_of_sort(const struct key_positions *row, const struct slice *argv, size_t argc,
                         struct key_ranges *keys) {
    size_t stored = row->other_use ? stored_key(argv, argc) : 0;
    keys->ranges[0] = one(1, row->use);
    if (stored) keys->ranges[1] = one(stored, row->other_use);
}

/* The key after STORE or STOREDIST: that after the last one of both, as the command itself reads
 * its options. */
static void find_of_georadius(const struct key_positions *row, const struct slice *argv,
                              size_t argc, struct key_ranges *keys) {
    size_t stored = 0;
    for (size_t i = (size_t)row->numkeys; i + 1 < argc; i++) {
        if (slice_is(argv[i], "count"))
            i++;
        else if (slice_is(argv[i], "store") || slice_is(argv[i], "storedist"))
            stored = ++i;
    }
    keys->ranges[0] = one((size_t)row->first, row->use);
    if (stored) keys->ranges[1] = one(stored, row->other_use);
}

/* Returns the index of the first key after KEYS; 0 when that word is missing or the last argument.
 * The arguments of other options are skipped. */
static size_t list_of_keys(const struct slice *argv, size_t argc) {
    for (size_t i = 6; i + 1 < argc; i++) {
        if (slice_is(argv[i], "keys"))
            return i + 1;
        else if (slice_is(argv[i], "auth"))
            i++;
        else if (slice_is(argv[i], "auth2"))
            i += 2;
    }
    return 0;
}

static bool find_of_migrate(const struct key_positions *row, const struct slice *argv, size_t argc,
                            struct key_ranges *keys) {
    size_t begin = list_of_keys(argv, argc), single = (size_t)row->first;
    if (begin && argv[single].len > 0) return false;
    keys->ranges[0] = begin ? range(begin, argc, 1, row->use) : one(single, row->use);
    return true;
}

/* The names of a group and of its consumer may be "streams"; the arguments of other options are
 * numbers. */
static bool find_of_xread(const struct key_positions *row, const struct slice *argv, size_t argc,
                          struct key_ranges *keys) {
    size_t begin = 1;
    while (begin < argc && !slice_is(argv[begin], "streams"))
        begin += slice_is(argv[begin], "group") ? 3 : 1;
    if (++begin >= argc) return false;
    keys->ranges[0] = range(begin, begin + (argc - begin) / 2, 1, row->use);
    return true;
}

/* --- All --- */

bool command_keys(const struct command *command, const struct slice *argv, size_t argc,
                  struct key_ranges *keys) {
    const struct key_positions *row = &command->keys;
    *keys = (struct key_ranges){0};
    switch ((enum key_shape)row->shape) {
    case KEYS_IN_RANGE: find_in_range(row, argc, keys); return true;
    case KEYS_COUNTED: return find_counted(command, argv, argc, 1, keys);
    case KEYS_COUNTED_PAIRS: return find_counted(command, argv, argc, 2, keys);
    case KEYS_OF_SET: keys->ranges[0] = one(1, use_of_set(argv, argc)); return true;
    case KEYS_OF_BITFIELD: keys->ranges[0] = one(1, use_of_bitfield(argv, argc)); return true;
    case KEYS_OF_SORT: find_of_sort(row, argv, argc, keys); return true;
    case KEYS_OF_GEORADIUS: find_of_georadius(row, argv, argc, keys); return true;
    case KEYS_OF_MIGRATE: return find_of_migrate(row, argv, argc, keys);
    case KEYS_OF_XREAD: return find_of_xread(row, argv, argc, keys);
    }
    return false;
}

void key_ranges_each(const struct key_ranges *keys,
                     void (*visit)(void *arg, size_t index, uint32_t use), void *arg) {
    for (const struct key_range *at = keys->ranges; at < keys->ranges + 2; at++)
        for (size_t i = at->begin; i < at->end; i += at->step) visit(arg, i, at->use);
}

static size_t count_in(const struct key_range *range) {
    return range->begin < range->end ? (range->end - range->begin - 1) / range->step + 1 : 0;
}

size_t key_ranges_count(const struct key_ranges *keys) {
    return count_in(&keys->ranges[0]) + count_in(&keys->ranges[1]);
}

size_t key_ranges_first(const struct key_ranges *keys) {
    const struct key_range *range = &keys->ranges[count_in(&keys->ranges[0]) == 0];
    return count_in(range) > 0 ? range->begin : 0;
}
