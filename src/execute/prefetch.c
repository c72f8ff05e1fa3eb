#include "execute/prefetch.h"

#include "resp/peek.h"
#include "table/command_keys.h"
#include "types/value.h"

/* Requests whose keys are loaded together. */
enum { DEPTH = KEYSPACE_KEYS_AT_ONCE };

/* The requests, and what is known of each at the same index. */
struct requests {
    size_t count;
    uint32_t flags;           /* enum command_flag: of the first of them */
    const char *bytes[DEPTH]; /* where it begins; NULL for the first, which is parsed */
    const char *end;          /* of all bytes */
    struct slice keys[DEPTH];
    const struct entry *entries[DEPTH];
};

/* Returns the index of the request's first key, or 0 if it names none. */
static size_t key_index(const struct command *command, const struct slice *argv, size_t argc) {
    struct key_ranges keys;
    if (!command || !command_has_keys(command) || !command_accepts(command, argc)) return 0;
    return command_keys(command, argv, argc, &keys) ? key_ranges_first(&keys) : 0;
}

static inline size_t peek_key(const char *bytes, size_t len, size_t index, struct slice *key) {
    return __builtin_expect(index == 1, 1) ? resp_peek(bytes, len, key)
                                           : resp_peek_at(bytes, len, index, key);
}

/* The requests after the first one are assumed to resemble it. */
static void gather(struct requests *requests, struct slice first, size_t index, const char *bytes,
                   size_t len) {
    size_t count = 1, size;
    requests->bytes[0] = NULL;
    requests->keys[0] = first;
    requests->end = bytes + len;
    for (; count < DEPTH; count++) {
        size = peek_key(bytes, len, index, &requests->keys[count]);
        if (size == 0) break;
        requests->bytes[count] = bytes;
        bytes += size;
        len -= size;
    }
    requests->count = count;
}

/* The entries of requests for one key. */
static void find_same_entry(const struct entry *entry, struct requests *requests) {
    struct slice key = entry_key(entry);
    for (size_t i = 0; i < requests->count; i++)
        requests->entries[i] = slice_equal(requests->keys[i], key) ? entry : NULL;
}

/* What request `i` probably does, and what it names after its key. */
static void read_arguments(const struct requests *requests, size_t i,
                           const struct slice *first_argv, size_t first_argc,
                           struct value_lookup *lookup) {
    struct slice peeked[4];
    const struct slice *argv = first_argv;
    size_t argc = first_argc;
    if (requests->bytes[i]) {
        argv = peeked;
        argc = resp_peek_arguments(requests->bytes[i], (size_t)(requests->end - requests->bytes[i]),
                                   peeked, 4);
    }
    lookup->writes = requests->flags & COMMAND_WRITE;
    lookup->gives_score = requests->flags & COMMAND_GIVES_SCORE;
    lookup->argc = argc > 2 ? argc - 2 : 0;
    for (size_t n = 0; n < 2; n++) lookup->argv[n] = argc > n + 2 ? argv[n + 2] : SLICE("");
}

/* What the entries' values point to, each step for all of them at once. */
static void prefetch_values(const struct requests *requests, const struct slice *argv,
                            size_t argc) {
    struct value_lookup lookups[DEPTH], *left[DEPTH];
    size_t count = 0;
    for (size_t i = 0; i < requests->count; i++) {
        const struct entry *entry = requests->entries[i];
        if (!entry || !entry_is_out_of_line(entry)) continue;
        lookups[i].entry = entry;
        if (value_prefetch(&lookups[i], 0)) left[count++] = &lookups[i];
    }
    for (size_t i = 0; i < count; i++)
        if (value_has_members_to_prefetch(left[i]->entry))
            read_arguments(requests, (size_t)(left[i] - lookups), argv, argc, left[i]);
    for (unsigned step = 1; count > 0; step++) {
        size_t next = 0;
        for (size_t i = 0; i < count; i++)
            if (value_prefetch(left[i], step)) left[next++] = left[i];
        count = next;
    }
}

static __attribute__((noinline)) size_t
prefetch_all(const struct keyspace *keyspace, const struct entry *only, const struct slice *argv,
             size_t argc, const char *bytes, size_t len, struct prefetch_totals *totals) {
    struct requests requests;
    const struct command *command = command_find(argv[0]);
    size_t index = key_index(command, argv, argc);
    if (index == 0) return DEPTH - 1;
    requests.flags = command->flags;
    gather(&requests, argv[index], index, bytes, len);
    if (only)
        find_same_entry(only, &requests);
    else
        keyspace_prefetch_entries(keyspace, requests.keys, 1, requests.count, requests.entries);
    prefetch_values(&requests, argv, argc);
    totals->batches++;
    totals->requests += requests.count;
    return requests.count - 1;
}

size_t prefetch_requests(const struct keyspace *keyspace, const struct slice *argv, size_t argc,
                         const char *bytes, size_t len, struct prefetch_totals *totals) {
    const struct entry *only = NULL;
    if (keyspace_is_cached(keyspace)) {
        only = keyspace_found_last(keyspace);
        if (!only || !value_has_members_to_prefetch(only)) return DEPTH - 1;
    }
    return prefetch_all(keyspace, only, argv, argc, bytes, len, totals);
}
