/* hyperloglog: strings that are HyperLogLogs. What their bytes mean and what can be asked of them
 * says ds/strings/hyperloglog.h, which users of this header see, too; here is what changes a key's
 * value.
 *
 * A dense value is changed in place; a sparse one in a copy, which takes its place when all has
 * succeeded, so that a value that turns out to be corrupt stays as it was. All values keep their
 * expiry and become raw. `key` is the one that `ref` looked up. The functions may move the
 * entry. */
#ifndef PACKLIST_TYPES_HYPERLOGLOG_H
#define PACKLIST_TYPES_HYPERLOGLOG_H

#include "ds/strings/hyperloglog.h"
#include "store/keyspace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hyperloglog_outcome {
    HYPERLOGLOG_DONE,
    HYPERLOGLOG_CORRUPT,  /* nothing has changed */
    HYPERLOGLOG_NO_MEMORY /* nothing has changed */
};

/* Returns whether the string is a HyperLogLog, and sets *value to its bytes until it changes. They
 * may be corrupt. O(1). */
bool hyperloglog_bytes(const struct entry *entry, struct slice *value);

/* Adds elements, making the key if there is none. Sets *changes to how many have changed a
 * register; a new key counts as one more. O(elements), and O(bytes) for each where the value is
 * sparse. */
enum hyperloglog_outcome hyperloglog_add(struct keyref *ref, struct slice key,
                                         const struct slice *elements, size_t count,
                                         const struct hll_limits *limits, uint64_t *changes);

/* Raises all registers to these, making the key if there is none. If `dense`, the value becomes
 * dense, and the registers must be at least its own. O(registers + bytes * changes). */
enum hyperloglog_outcome hyperloglog_merge(struct keyref *ref, struct slice key,
                                           const uint8_t registers[HLL_REGISTER_BYTES], bool dense,
                                           const struct hll_limits *limits);

/* Makes the value dense. Sets *changed to whether it was not. O(registers). */
enum hyperloglog_outcome hyperloglog_make_dense(struct keyref *ref, struct slice key,
                                                bool *changed);

/* Stores the count with the value. O(1). */
enum hyperloglog_outcome hyperloglog_keep_count(struct keyref *ref, struct slice key,
                                                uint64_t count);

#endif
