/* command_keys: see command_keys.h. */
#include "table/command_keys.h"

#include "base/number.h"

/* --- Positions of the keys --- */

/* Every step-th argument from `first` (0: there is none) to `last`, which may be greater than
 * argc. */
static long ranged_keys(long first, long last, long step, size_t argc, size_t *indexes,
                        size_t max) {
    long count = 0;
    for (long i = first; first > 0 && i <= last && (size_t)i < argc; i += step, count++)
        if ((size_t)count < max) indexes[count] = (size_t)i;
    return count;
}

/* Keys after their number, which must be positive and not more than the arguments, and after the
 * destination, if there is one. */
static long counted_keys(const struct command *command, const struct slice *argv, size_t argc,
                         size_t *indexes, size_t max) {
    size_t at = (size_t)command->keys.numkeys;
    int64_t announced;
    long none = command->flags & COMMAND_NO_MANDATORY_KEYS ? 0 : -1;
    if (at >= argc || !number_parse_int64(argv[at], &announced)) return none;
    if (announced < 1 || (uint64_t)announced > argc - at - 1) return none;
    const struct key_positions *keys = &command->keys;
    long destinations = ranged_keys(keys->first, keys->last, 1, argc, indexes, max);
    size_t used = (size_t)destinations < max ? (size_t)destinations : max;
    return destinations +
           ranged_keys((long)at + 1, (long)at + announced, 1, argc, indexes + used, max - used);
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
            found = i + 1;
    }
    return found;
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

/* The keys after KEYS; the argument that is the key otherwise must be empty then. */
static long listed_keys(const struct command *command, const struct slice *argv, size_t argc,
                        size_t begin, size_t *indexes, size_t max) {
    if (argv[command->keys.first].len > 0) return -1;
    return ranged_keys((long)begin, (long)argc - 1, 1, argc, indexes, max);
}

/* The first half of the arguments behind the keyword, wherever that stands. */
static long halved_keys(const char *keyword, const struct slice *argv, size_t argc, size_t *indexes,
                        size_t max) {
    size_t begin = 1;
    while (begin < argc && !slice_is(argv[begin], keyword)) begin++;
    if (++begin >= argc) return -1;
    return ranged_keys((long)begin, (long)(begin + (argc - begin) / 2) - 1, 1, argc, indexes, max);
}

long command_keys(const struct command *command, const struct slice *argv, size_t argc,
                  size_t *indexes, size_t max) {
    const struct key_positions *keys = &command->keys;
    if (keys->numkeys) return counted_keys(command, argv, argc, indexes, max);
    if (keys->keyword) return halved_keys(keys->keyword, argv, argc, indexes, max);
    if (!keys->first) return 0;
    long last = keys->last >= 0 ? keys->last : (long)argc + keys->last;
    size_t begin = keys->listed_flags ? list_of_keys(argv, argc) : 0;
    if (begin) return listed_keys(command, argv, argc, begin, indexes, max);
    long count = ranged_keys(keys->first, last, keys->step, argc, indexes, max);
    size_t stored = keys->store_flags ? stored_key(argv, argc) : 0;
    if (stored && (size_t)count < max) indexes[count] = stored;
    return count + (stored > 0);
}

/* --- Use of the keys --- */

uint32_t command_key_flags(const struct command *command, const struct slice *argv, size_t argc,
                           size_t number) {
    const struct key_positions *keys = &command->keys;
    if (keys->actual_flags) return keys->actual_flags(argv, argc);
    uint32_t other = keys->store_flags ? keys->store_flags : keys->second_flags;
    return number > 0 && other ? other : keys->flags;
}

uint16_t command_set_key_flags(const struct slice *argv, size_t argc) {
    for (size_t i = 3; i < argc; i++)
        if (slice_is(argv[i], "get")) return KEY_RW | KEY_ACCESS | KEY_UPDATE;
    return KEY_OW | KEY_UPDATE;
}

uint16_t command_bitfield_key_flags(const struct slice *argv, size_t argc) {
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
