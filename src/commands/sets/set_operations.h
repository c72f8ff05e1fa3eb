/* set_operations: intersections, unions and differences of sets. They read entries and nothing else
 * of the server, so they run in any thread, of sets that do not change meanwhile. */
#ifndef PACKLIST_COMMANDS_SETS_SET_OPERATIONS_H
#define PACKLIST_COMMANDS_SETS_SET_OPERATIONS_H

#include "types/set.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reply;
struct set_selection;
struct work;

enum set_operation { SET_INTERSECTION, SET_UNION, SET_DIFFERENCE };

/* The sets that a command names, each once; NULL: there is none, which is an empty set. Those of a
 * difference are in the order of its arguments, others are sorted: set_operands_sort. */
struct set_operands {
    struct entry **sets;
    size_t count;
    bool repeats_first; /* the first set was named more than once */
};

/* Where the members of a result go: to one of these, or they are only counted. */
struct set_result {
    const struct set_limits *limits; /* of sets that are made */
    struct reply *reply;             /* one by one; not for unions */
    struct entry *entry;             /* a set outside of the keyspace */
    struct set_selection *selection; /* of the operands, in the same order */
    uint64_t count;
    uint64_t limit;          /* the count ends there; 0: there is none */
    const struct work *work; /* when that is cancelled, it ends; or NULL */
};

/* Sorts by length: shorter sets come first. O(sets * log sets). */
void set_operands_sort(struct set_operands *operands);

/* Returns about how many members are looked up. O(sets). */
uint64_t set_operation_steps(enum set_operation operation, const struct set_operands *operands);

/* Puts the intersection or difference into the result. */
void set_operate(enum set_operation operation, const struct set_operands *operands,
                 struct set_result *result);

/* Returns a new entry under `key` with the union, or with `enough` of its members. A table is
 * copied, which is cheaper than adding its members. O(members). */
struct entry *set_unite(struct entry *const *sets, size_t count, struct slice key,
                        const struct set_limits *limits, uint64_t enough);

/* Counts the members of the union, and selects them if the result has a selection. The largest set
 * counts as a whole, of each other one the members that no larger one has: a large set is neither
 * copied nor walked over for the sake of a small one. Returns NULL. Many sets are united, because
 * then each member is looked up once: returns that new entry, and nothing is selected. */
struct entry *set_count_united(const struct set_operands *operands, struct set_result *result);

#endif
