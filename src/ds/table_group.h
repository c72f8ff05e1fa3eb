/* table_group: a set of items that consists of one hashtable, or of many, by number: then the items
 * of one number can be counted, listed and taken out as a whole.
 *
 *      one table:    single ──► table
 *
 *      by number:    tables   │ 0 │ 1 │ 2 │ … │ 16383 │      items of the number of this index
 *                               │   │   └──► table
 *                               └───┴──────► empty           shared by all numbers without items
 *                    sums     how many items have which number (ds/fenwick.h)
 *
 * A number is part of the hash of each item, in bits that no table uses (table_group_hash). So an
 * item needs no more memory and no function more arguments than with one table, and what is done
 * with single items is the same for both kinds: it is done with table_group_table(), except for
 * inserting and deleting. In a group of one table a hash is what hashtable_hash returns.
 *
 * By number, the group needs 256 KB from its first item until it is freed, and a hashtable of 80
 * bytes and its buckets for each number that has items. */
#ifndef PACKLIST_DS_TABLE_GROUP_H
#define PACKLIST_DS_TABLE_GROUP_H

#include "ds/hashtable.h"

enum {
    TABLE_GROUP_BITS = 14,
    TABLE_GROUP_TABLES = 1 << TABLE_GROUP_BITS,
    /* Tables use the last bits of a hash, as many as they have buckets, and the first eight. */
    TABLE_GROUP_HASH_SHIFT = 64 - 8 - TABLE_GROUP_BITS,
};

/* A field of its owner, which may move it. Only table_group.c writes to it. */
struct table_group {
    struct hashtable *single;  /* the only table; by number: `empty`, or NULL with `tables` */
    struct hashtable **tables; /* by number, from the first insert on */
    uint64_t *sums;            /* likewise */
    struct hashtable *empty;   /* by number: has no items */
    const struct hashtable_type *type;
    size_t allocated; /* by number: bytes of all tables but `empty` */
};

/* A group that consists of this table, which it owns from now on. */
struct table_group table_group_of(struct hashtable *table);

/* An empty group by number. `type` must outlive it. */
struct table_group table_group_by_number(const struct hashtable_type *type);

/* Frees the tables, not the items. O(tables), and the overflow of their buckets. */
void table_group_free(struct table_group *group);

/* Items, and bytes that the group takes beside itself, as allocated. O(1). */
size_t table_group_count(const struct table_group *group);
size_t table_group_allocated(const struct table_group *group);

/* --- Single items --- */

/* The hash of an item of this number in a group by number: `hash` is that of its key. */
static inline uint64_t table_group_hash(uint64_t hash, unsigned number) {
    const uint64_t bits = (uint64_t)(TABLE_GROUP_TABLES - 1) << TABLE_GROUP_HASH_SHIFT;
    return (hash & ~bits) | (uint64_t)number << TABLE_GROUP_HASH_SHIFT;
}

static inline unsigned table_group_number(uint64_t hash) {
    return hash >> TABLE_GROUP_HASH_SHIFT & (TABLE_GROUP_TABLES - 1);
}

/* The table that has the items of this hash, if there are any: for functions of hashtable that take
 * a const table. Never NULL. O(1). */
static inline const struct hashtable *table_group_table(const struct table_group *group,
                                                        uint64_t hash) {
    return group->single ? group->single : group->tables[table_group_number(hash)];
}

/* For pipelines of lookups: starts loading what hashtable_prefetch reads, where it is worth it. */
void table_group_prefetch(const struct table_group *group, uint64_t hash);

hashtable_slot *table_group_insert_by_number(struct table_group *group, void *item, uint64_t hash);
void table_group_delete_by_number(struct table_group *group, hashtable_slot *slot, uint64_t hash);

/* As hashtable_insert and hashtable_delete. By number, slots of items with another number stay
 * valid, and O(log numbers) is added. */
static inline hashtable_slot *table_group_insert(struct table_group *group, void *item,
                                                 uint64_t hash) {
    if (group->empty) return table_group_insert_by_number(group, item, hash);
    return hashtable_insert(group->single, item, hash);
}

static inline void table_group_delete(struct table_group *group, hashtable_slot *slot,
                                      uint64_t hash) {
    if (group->empty)
        table_group_delete_by_number(group, slot, hash);
    else
        hashtable_delete(group->single, slot, hash);
}

/* --- All items: see the functions of hashtable. By number, a cursor is that of a table, shifted by
 * TABLE_GROUP_BITS, and its number; numbers follow in their order, and those without items take no
 * time. What holds for items of a hashtable between two steps holds here. --- */

uint64_t table_group_scan(const struct table_group *group, uint64_t cursor,
                          void (*visit)(void *item, void *arg), void *arg);

uint64_t table_group_walk(const struct table_group *group, uint64_t cursor,
                          bool (*visit)(void *item, void *arg), void *arg);
bool table_group_walk_passes(const struct table_group *group, uint64_t hash, uint64_t from,
                             uint64_t to);

/* By number, the tables themselves stay where they are, only overflow arrays move. */
uint64_t table_group_relocate(struct table_group *group, uint64_t cursor,
                              struct relocator *relocator, void *(*move)(void *item, void *arg),
                              void *arg);

/* An item, chosen as by hashtable_random; by number O(log numbers). */
void *table_group_random(const struct table_group *group, struct random *random);

/* A cursor with which table_group_scan visits one bucket of all, chosen at random: each item is
 * about equally likely to be visited. O(log numbers). */
uint64_t table_group_random_cursor(const struct table_group *group, struct random *random);

/* Iterates over all items; see hashtable_iter. */
struct table_group_iter {
    const struct table_group *group;
    unsigned next; /* the number after that of the table */
    struct hashtable_iter table;
};
void table_group_iter_start(struct table_group_iter *iter, const struct table_group *group);
void *table_group_iter_next(struct table_group_iter *iter);

/* As hashtable_describe. By number, how many tables there are, and with `full` the largest. */
sds table_group_describe(const struct table_group *group, sds out, bool full);

/* Checks the invariant; but not which number an item should have, which only the owner knows.
 * O(items). */
bool table_group_check(const struct table_group *group);

/* --- The items of one number, in a group by number --- */

/* Their table: see table_group_table. O(1). */
static inline const struct hashtable *table_group_table_of_number(const struct table_group *group,
                                                                  unsigned number) {
    return table_group_table(group, table_group_hash(0, number));
}

/* Takes all of them out, with their table, which the caller owns. O(log numbers). */
struct hashtable *table_group_take(struct table_group *group, unsigned number);

#endif
