/* keyspace_kinds: runs a test once with keyspaces that have one table and once with keyspaces by
 * slot. The kind is the test's *state. */
#ifndef PACKLIST_TESTS_UNIT_KEYSPACE_KINDS_H
#define PACKLIST_TESTS_UNIT_KEYSPACE_KINDS_H

#include "store/keyspace.h"

struct keyspace_kind {
    struct keyspace *(*make)(void (*free_entry)(struct entry *entry),
                             uint64_t (*length)(const struct entry *entry));
};

static struct keyspace_kind kind_with_one_table = {keyspace_new};
static struct keyspace_kind kind_by_slot = {keyspace_new_by_slot};

/* Two elements of an array of struct CMUnitTest. */
#define TEST_OF_BOTH_KINDS(test)                                                                   \
    {#test, test, NULL, NULL, &kind_with_one_table}, {                                             \
#test ", by slot", test, NULL, NULL, &kind_by_slot                                         \
    }

#endif
