#include "engine/checks.h"

#include "engine/call_struct.h"
#include "engine/engine.h"
#include "store/keyspace.h"
#include "table/command_keys.h"
#include "types/value.h"

#include <assert.h>
#include <stddef.h>

/* Bytes that each write pays for, about as many as can be checked in some ten microseconds; and
 * what checking a key of a keyspace costs. */
enum { BYTES_PER_WRITE = 16 * 1024, BYTES_PER_KEY = 256 };

/* Of a call whose keys are compared. */
enum { ARGUMENTS_MAX = 256 };

/* Adds one write's credit. Takes `bytes` off the credit and returns true if it suffices. */
static bool spend(size_t *credit, size_t bytes) {
    *credit += BYTES_PER_WRITE;
    if (*credit < bytes) return false;
    *credit -= bytes;
    return true;
}

struct key_search {
    const struct call *call;
    struct slice key;
    bool is_found;
};

static void compare(void *arg, size_t index, uint32_t use) {
    struct key_search *search = arg;
    bool is_key = !(use & (KEY_CHANNEL | KEY_NOT_KEY));
    if (is_key && slice_equal(search->call->argv[index], search->key)) search->is_found = true;
}

void checks_key(const struct call *call, struct slice key) {
    struct key_search search = {call, key, false};
    struct key_ranges keys;
    if (!call->command || call->argc > ARGUMENTS_MAX) return;
    if (!command_has_keys(call->command) || call->command->keys.shape == KEYS_OF_SORT) return;
    command_keys(call->command, call->argv, call->argc, &keys);
    key_ranges_each(&keys, compare, &search);
    assert(search.is_found);
}

void checks_value(struct checks *checks, const struct entry *entry) {
    if (spend(&checks->value_credit, value_allocated(entry))) assert(value_check(entry));
}

void checks_keyspace(struct checks *checks, const struct keyspace *keyspace) {
    if (spend(&checks->keyspace_credit, keyspace_count(keyspace) * BYTES_PER_KEY))
        assert(keyspace_check(keyspace));
}
