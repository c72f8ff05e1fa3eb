#include "ds/table_group.h"

#include "base/memory/alloc.h"
#include "base/prefetch.h"
#include "ds/fenwick.h"

enum { TABLES = TABLE_GROUP_TABLES };

static const size_t tables_size = TABLES * sizeof(struct hashtable *);
static const size_t sums_size = TABLES * sizeof(uint64_t);

/* --- The group --- */

struct table_group table_group_of(struct hashtable *table) {
    return (struct table_group){.single = table};
}

struct table_group table_group_by_number(const struct hashtable_type *type) {
    struct hashtable *empty = hashtable_new(type);
    return (struct table_group){.single = empty, .empty = empty, .type = type};
}

/* The least number from `number` on that has items, or TABLES. */
static unsigned next_used(const struct table_group *group, unsigned number) {
    if (!group->tables || number >= TABLES) return TABLES;
    uint64_t before = fenwick_before(group->sums, number);
    if (before == fenwick_sum(group->sums, TABLES)) return TABLES;
    return (unsigned)fenwick_find(group->sums, TABLES, before);
}

void table_group_free(struct table_group *group) {
    for (unsigned n = 0; (n = next_used(group, n)) < TABLES; n++) hashtable_free(group->tables[n]);
    hashtable_free(group->single ? group->single : group->empty);
    mem_free(group->tables);
    mem_free(group->sums);
}

size_t table_group_count(const struct table_group *group) {
    return group->single ? hashtable_count(group->single) : fenwick_sum(group->sums, TABLES);
}

size_t table_group_allocated(const struct table_group *group) {
    if (group->single) return hashtable_allocated(group->single);
    return hashtable_allocated(group->empty) + mem_good_size(tables_size) +
           mem_good_size(sums_size) + group->allocated;
}

/* --- Single items --- */

/* The struct of a hashtable lies on two cache lines. */
void table_group_prefetch(const struct table_group *group, uint64_t hash) {
    if (group->single) return;
    const char *table = (const char *)group->tables[table_group_number(hash)];
    prefetch(table);
    prefetch(table + 64);
}

static void add_arrays(struct table_group *group) {
    group->tables = mem_alloc(tables_size);
    group->sums = mem_alloc_zeroed(sums_size);
    for (size_t i = 0; i < TABLES; i++) group->tables[i] = group->empty;
    group->single = NULL;
}

static struct hashtable *table_to_fill(struct table_group *group, unsigned number) {
    if (!group->tables) add_arrays(group);
    struct hashtable **table = &group->tables[number];
    if (*table == group->empty) {
        *table = hashtable_new(group->type);
        group->allocated += hashtable_allocated(*table);
    }
    return *table;
}

hashtable_slot *table_group_insert_by_number(struct table_group *group, void *item, uint64_t hash) {
    unsigned number = table_group_number(hash);
    struct hashtable *table = table_to_fill(group, number);
    size_t before = hashtable_allocated(table);
    hashtable_slot *slot = hashtable_insert(table, item, hash);
    group->allocated += hashtable_allocated(table) - before;
    fenwick_add(group->sums, TABLES, number, 1);
    return slot;
}

struct hashtable *table_group_take(struct table_group *group, unsigned number) {
    if (!group->tables || group->tables[number] == group->empty) return hashtable_new(group->type);
    struct hashtable *table = group->tables[number];
    group->tables[number] = group->empty;
    group->allocated -= hashtable_allocated(table);
    fenwick_add(group->sums, TABLES, number, -(uint64_t)hashtable_count(table));
    return table;
}

void table_group_delete_by_number(struct table_group *group, hashtable_slot *slot, uint64_t hash) {
    unsigned number = table_group_number(hash);
    struct hashtable *table = group->tables[number];
    size_t before = hashtable_allocated(table);
    hashtable_delete(table, slot, hash);
    group->allocated += hashtable_allocated(table) - before;
    fenwick_add(group->sums, TABLES, number, -(uint64_t)1);
    if (hashtable_count(table) == 0) hashtable_free(table_group_take(group, number));
}

/* --- Steps over all items --- */

/* Where a step begins. */
struct position {
    struct hashtable *table;
    unsigned number;
    uint64_t cursor; /* of the table */
};

static inline unsigned cursor_number(uint64_t cursor) {
    return cursor & (TABLES - 1);
}

/* A number whose items have gone is passed over. */
static struct position position_of(const struct table_group *group, uint64_t cursor) {
    if (group->single) return (struct position){group->single, 0, cursor};
    unsigned number = cursor_number(cursor);
    struct hashtable *table = group->tables[number];
    if (table != group->empty) return (struct position){table, number, cursor >> TABLE_GROUP_BITS};
    number = next_used(group, number);
    if (number < TABLES) table = group->tables[number];
    return (struct position){table, number, 0};
}

/* The cursor of the group, where the step has returned `next` for its table. */
static uint64_t cursor_after(const struct table_group *group, const struct position *position,
                             uint64_t next) {
    if (group->single) return next;
    CHECKED_ASSERT(next >> (64 - TABLE_GROUP_BITS) == 0);
    if (next != 0) return next << TABLE_GROUP_BITS | position->number;
    unsigned number = next_used(group, position->number + 1);
    return number < TABLES ? number : 0;
}

uint64_t table_group_scan(const struct table_group *group, uint64_t cursor,
                          void (*visit)(void *item, void *arg), void *arg) {
    struct position position = position_of(group, cursor);
    return cursor_after(group, &position,
                        hashtable_scan(position.table, position.cursor, visit, arg));
}

uint64_t table_group_walk(const struct table_group *group, uint64_t cursor,
                          bool (*visit)(void *item, void *arg), void *arg) {
    struct position position = position_of(group, cursor);
    return cursor_after(group, &position,
                        hashtable_walk(position.table, position.cursor, visit, arg));
}

/* Returns whether a walk visits the items of this hash, if it begins at the cursor. */
static bool is_ahead(uint64_t hash, uint64_t cursor) {
    unsigned number = table_group_number(hash), at = cursor_number(cursor);
    return number == at ? hashtable_walk_passes(hash, cursor >> TABLE_GROUP_BITS, 0) : number > at;
}

bool table_group_walk_passes(const struct table_group *group, uint64_t hash, uint64_t from,
                             uint64_t to) {
    if (!group->empty) return hashtable_walk_passes(hash, from, to);
    return is_ahead(hash, from) && (to == 0 || !is_ahead(hash, to));
}

uint64_t table_group_relocate(struct table_group *group, uint64_t cursor,
                              struct relocator *relocator, void *(*move)(void *item, void *arg),
                              void *arg) {
    struct position position = position_of(group, cursor);
    return cursor_after(group, &position,
                        hashtable_relocate(position.table, position.cursor, relocator, move, arg));
}

/* --- At random --- */

static unsigned random_number(const struct table_group *group, struct random *random) {
    uint64_t rank = random_below(random, fenwick_sum(group->sums, TABLES));
    return (unsigned)fenwick_find(group->sums, TABLES, rank);
}

void *table_group_random(const struct table_group *group, struct random *random) {
    if (group->single) return hashtable_random(group->single, random);
    if (table_group_count(group) == 0) return NULL;
    return hashtable_random(group->tables[random_number(group, random)], random);
}

uint64_t table_group_random_cursor(const struct table_group *group, struct random *random) {
    if (group->single || table_group_count(group) == 0) return random_next(random);
    return random_next(random) << TABLE_GROUP_BITS | random_number(group, random);
}

/* --- Iterating --- */

void table_group_iter_start(struct table_group_iter *iter, const struct table_group *group) {
    *iter = (struct table_group_iter){.group = group};
    hashtable_iter_start(&iter->table, group->single ? group->single : group->empty);
}

/* Moves to the next table; false at the end. */
static bool iter_advance(struct table_group_iter *iter) {
    const struct table_group *group = iter->group;
    unsigned number = next_used(group, iter->next);
    if (number == TABLES) return false;
    hashtable_iter_start(&iter->table, group->tables[number]);
    iter->next = number + 1;
    return true;
}

void *table_group_iter_next(struct table_group_iter *iter) {
    void *item;
    do item = hashtable_iter_next(&iter->table);
    while (!item && iter_advance(iter));
    return item;
}

/* --- Describing --- */

sds table_group_describe(const struct table_group *group, sds out, bool full) {
    if (group->single) return hashtable_describe(group->single, out, full);
    size_t count = table_group_count(group), used = 0, most = 0;
    unsigned largest = 0;
    for (unsigned n = 0; n < TABLES; n++) {
        size_t items = hashtable_count(group->tables[n]);
        used += items > 0;
        if (items > most) most = items, largest = n;
    }
    out = sds_append_format(out, " items: %zu\n tables: %zu\n allocated bytes: %zu\n", count, used,
                            table_group_allocated(group));
    if (count == 0) return out;
    out = sds_append_format(out, " items per table, mean: %.2f\n bytes per item: %.2f\n",
                            (double)count / (double)used,
                            (double)table_group_allocated(group) / (double)count);
    if (!full) return out;
    out = sds_append_format(out, " largest table: %u\n", largest);
    return hashtable_describe(group->tables[largest], out, true);
}

/* --- Checking --- */

static bool check_tables(const struct table_group *group) {
    size_t allocated = 0, count = 0;
    for (unsigned n = 0; n < TABLES; n++) {
        const struct hashtable *table = group->tables[n];
        count += hashtable_count(table);
        if (fenwick_before(group->sums, n + 1) != count) return false;
        if (table == group->empty) continue;
        if (hashtable_count(table) == 0 || !hashtable_check(table)) return false;
        allocated += hashtable_allocated(table);
    }
    return allocated == group->allocated;
}

bool table_group_check(const struct table_group *group) {
    if (group->empty && (!hashtable_check(group->empty) || hashtable_count(group->empty) > 0))
        return false;
    if (group->tables) return !group->single && group->empty && check_tables(group);
    return hashtable_check(group->single) && (!group->empty || group->single == group->empty);
}
