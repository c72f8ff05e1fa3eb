/* consumer_groups: see the head of consumer_groups.h. */
#include "ds/consumer_groups.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "base/relocate.h"

#include <string.h>

/* --- Memory --- */

/* Allocates a struct of `size` bytes, which the name follows. */
static void *allocate_named(struct pieces *pieces, size_t size, struct slice name) {
    size_t all = mem_good_size(size + name.len);
    char *item = mem_alloc_zeroed(all);
    slice_copy(item + size, name);
    *(struct slice *)(void *)item = slice_make(item + size, name.len);
    pieces_count(pieces, all);
    return item;
}

/* A capture may read the name. */
static void drop_named(struct pieces *pieces, void *item, size_t size) {
    size_t len = ((struct slice *)item)->len;
    pieces_drop(pieces, pieces->capture, item, mem_good_size(size + len));
}

/* Changes a table, and counts what its memory becomes. */
static void insert_name(struct nametable *table, struct pieces *pieces, size_t at,
                        struct slice *item) {
    pieces->bytes -= nametable_allocated(table);
    pieces->allocations += table->capacity == 0;
    nametable_insert(table, at, item);
    pieces->bytes += nametable_allocated(table);
}

static void remove_name(struct nametable *table, struct pieces *pieces, size_t at) {
    pieces->bytes -= nametable_allocated(table);
    nametable_remove(table, at);
    pieces->bytes += nametable_allocated(table);
    pieces->allocations -= table->capacity == 0;
}

static void free_names(struct nametable *table, struct pieces *pieces) {
    pieces->bytes -= nametable_allocated(table);
    pieces->allocations -= table->capacity > 0;
    nametable_free(table);
}

/* --- Numbers of consumers --- */

static size_t numbers_size(const struct consumer_group *group) {
    size_t capacity = group->number_capacity;
    return capacity ? mem_good_size(capacity * sizeof(struct consumer *)) : 0;
}

static void resize_numbers(struct consumer_group *group, struct pieces *pieces, size_t capacity) {
    pieces->bytes -= numbers_size(group);
    pieces->allocations += group->number_capacity == 0;
    group->numbers = mem_realloc(group->numbers, capacity * sizeof(struct consumer *));
    group->number_capacity = (uint32_t)capacity;
    pieces->bytes += numbers_size(group);
}

static void free_numbers(struct consumer_group *group, struct pieces *pieces) {
    pieces->bytes -= numbers_size(group);
    pieces->allocations -= group->number_capacity > 0;
    mem_free(group->numbers);
    group->numbers = NULL;
    group->number_count = group->number_capacity = 0;
}

/* Gives the consumer the least number that is not in use. */
static void give_number(struct consumer_group *group, struct pieces *pieces,
                        struct consumer *consumer) {
    uint32_t at = group->number_count;
    if (group->consumers.count < group->number_count)
        for (at = 0; group->numbers[at];) at++;
    if (at == group->number_capacity) resize_numbers(group, pieces, at ? 2 * (size_t)at : 1);
    if (at == group->number_count) group->number_count++;
    group->numbers[at] = consumer;
    consumer->number = at + 1;
}

static void take_number(struct consumer_group *group, struct pieces *pieces,
                        const struct consumer *consumer) {
    group->numbers[consumer->number - 1] = NULL;
    while (group->number_count > 0 && !group->numbers[group->number_count - 1])
        group->number_count--;
    if (group->number_count == 0)
        free_numbers(group, pieces);
    else if (group->number_count * 4 <= group->number_capacity)
        resize_numbers(group, pieces, group->number_capacity / 2);
}

/* --- Groups --- */

size_t consumer_groups_count(const struct consumer_groups *groups) {
    return groups->groups.count;
}

struct consumer_group *consumer_groups_at(const struct consumer_groups *groups, size_t at) {
    return (struct consumer_group *)(void *)groups->groups.items[at];
}

struct consumer_group *consumer_groups_find(const struct consumer_groups *groups,
                                            struct slice name) {
    size_t at;
    return nametable_find(&groups->groups, name, &at) ? consumer_groups_at(groups, at) : NULL;
}

static struct consumer_group *insert_group(struct consumer_groups *groups, struct pieces *pieces,
                                           size_t at, struct slice name) {
    struct consumer_group *group = allocate_named(pieces, sizeof(*group), name);
    group->entries_read = CONSUMER_GROUP_UNKNOWN;
    insert_name(&groups->groups, pieces, at, &group->name);
    return group;
}

struct consumer_group *consumer_groups_add(struct consumer_groups *groups, struct pieces *pieces,
                                           struct slice name) {
    size_t at;
    bool exists = nametable_find(&groups->groups, name, &at);
    CHECKED_ASSERT(!exists);
    (void)exists;
    return insert_group(groups, pieces, at, name);
}

struct consumer_group *consumer_groups_append(struct consumer_groups *groups, struct pieces *pieces,
                                              struct slice name) {
    return insert_group(groups, pieces, groups->groups.count, name);
}

bool consumer_groups_sort(struct consumer_groups *groups) {
    return nametable_sort(&groups->groups);
}

static void free_consumer(struct pieces *pieces, struct consumer *consumer) {
    pendinglist_free(&consumer->ids, pieces);
    drop_named(pieces, consumer, sizeof(*consumer));
}

static void free_group(struct pieces *pieces, struct consumer_group *group) {
    for (size_t i = 0; i < group->consumers.count; i++)
        free_consumer(pieces, consumer_group_at(group, i));
    free_names(&group->consumers, pieces);
    free_numbers(group, pieces);
    pendinglist_free(&group->pending, pieces);
    drop_named(pieces, group, sizeof(*group));
}

void consumer_groups_remove(struct consumer_groups *groups, struct pieces *pieces,
                            struct consumer_group *group) {
    size_t at;
    if (nametable_find(&groups->groups, group->name, &at)) remove_name(&groups->groups, pieces, at);
    free_group(pieces, group);
}

void consumer_groups_free(struct consumer_groups *groups, struct pieces *pieces) {
    for (size_t i = 0; i < groups->groups.count; i++)
        free_group(pieces, consumer_groups_at(groups, i));
    free_names(&groups->groups, pieces);
    pendinglist_free(&groups->released.ids, pieces);
}

/* --- Copies --- */

static void copy_consumer(struct consumer_group *group, struct pieces *pieces, size_t at,
                          const struct consumer *from) {
    struct consumer *consumer = allocate_named(pieces, sizeof(*consumer), from->name);
    consumer->number = from->number;
    consumer->seen_ms = from->seen_ms;
    consumer->active_ms = from->active_ms;
    pendinglist_copy(&consumer->ids, &from->ids, pieces);
    insert_name(&group->consumers, pieces, at, &consumer->name);
    group->numbers[consumer->number - 1] = consumer;
}

static void copy_group(struct consumer_groups *copy, struct pieces *pieces, size_t at,
                       const struct consumer_group *from) {
    struct consumer_group *group = allocate_named(pieces, sizeof(*group), from->name);
    group->last_id = from->last_id;
    group->entries_read = from->entries_read;
    pendinglist_copy(&group->pending, &from->pending, pieces);
    if (from->number_count > 0) resize_numbers(group, pieces, from->number_count);
    group->number_count = from->number_count;
    for (size_t i = 0; i < from->number_count; i++) group->numbers[i] = NULL;
    for (size_t i = 0; i < from->consumers.count; i++)
        copy_consumer(group, pieces, i, consumer_group_at(from, i));
    insert_name(&copy->groups, pieces, at, &group->name);
}

void consumer_groups_copy(struct consumer_groups *copy, const struct consumer_groups *groups,
                          struct pieces *pieces) {
    *copy = (struct consumer_groups){0};
    for (size_t i = 0; i < groups->groups.count; i++)
        copy_group(copy, pieces, i, consumer_groups_at(groups, i));
}

/* --- Consumers --- */

struct consumer *consumer_group_at(const struct consumer_group *group, size_t at) {
    return (struct consumer *)(void *)group->consumers.items[at];
}

struct consumer *consumer_group_find(const struct consumer_group *group, struct slice name) {
    size_t at;
    return nametable_find(&group->consumers, name, &at) ? consumer_group_at(group, at) : NULL;
}

struct consumer *consumer_group_numbered(const struct consumer_group *group, uint64_t number) {
    return number == CONSUMER_NOBODY ? NULL : group->numbers[number - 1];
}

static struct consumer *insert_consumer(struct consumer_group *group, struct pieces *pieces,
                                        size_t at, struct slice name) {
    struct consumer *consumer = allocate_named(pieces, sizeof(*consumer), name);
    give_number(group, pieces, consumer);
    insert_name(&group->consumers, pieces, at, &consumer->name);
    return consumer;
}

struct consumer *consumer_group_add(struct consumer_group *group, struct pieces *pieces,
                                    struct slice name, int64_t now_ms) {
    size_t at;
    bool exists = nametable_find(&group->consumers, name, &at);
    CHECKED_ASSERT(!exists);
    (void)exists;
    struct consumer *consumer = insert_consumer(group, pieces, at, name);
    consumer->seen_ms = now_ms;
    consumer->active_ms = -1;
    return consumer;
}

struct consumer *consumer_group_append(struct consumer_group *group, struct pieces *pieces,
                                       struct slice name) {
    return insert_consumer(group, pieces, group->consumers.count, name);
}

bool consumer_group_sort(struct consumer_group *group) {
    return nametable_sort(&group->consumers);
}

void consumer_group_remove(struct consumer_group *group, struct pieces *pieces,
                           struct consumer *consumer) {
    size_t at;
    pendinglist_remove_all(&group->pending, pieces, &consumer->ids, consumer->number);
    take_number(group, pieces, consumer);
    if (nametable_find(&group->consumers, consumer->name, &at))
        remove_name(&group->consumers, pieces, at);
    free_consumer(pieces, consumer);
}

/* --- Pending entries --- */

static void add_id(const struct consumer_group *group, struct pieces *pieces,
                   const struct pending_entry *entry) {
    struct consumer *consumer = consumer_group_numbered(group, entry->consumer);
    const struct pending_entry id = {.id = entry->id};
    if (consumer) pendinglist_insert(&consumer->ids, pieces, &id);
}

static void remove_id(const struct consumer_group *group, struct pieces *pieces,
                      const struct pending_entry *entry) {
    struct consumer *consumer = consumer_group_numbered(group, entry->consumer);
    if (consumer) pendinglist_remove(&consumer->ids, pieces, entry->id, NULL);
}

void consumer_group_assign(struct consumer_group *group, struct pieces *pieces,
                           const struct pending_entry *entry) {
    struct pending_entry before, last;
    bool is_last = !pendinglist_edge(&group->pending, true, &last) ||
                   stream_id_compare(entry->id, last.id) > 0;
    if (is_last || !pendinglist_update(&group->pending, pieces, entry, &before)) {
        pendinglist_insert(&group->pending, pieces, entry);
        add_id(group, pieces, entry);
    } else if (before.consumer != entry->consumer) {
        remove_id(group, pieces, &before);
        add_id(group, pieces, entry);
    }
}

bool consumer_group_acknowledge(struct consumer_group *group, struct pieces *pieces,
                                struct stream_id id) {
    struct pending_entry entry;
    if (!pendinglist_remove(&group->pending, pieces, id, &entry)) return false;
    remove_id(group, pieces, &entry);
    return true;
}

/* Removes the ids of the first entries, which are of one consumer; returns how many they are. */
static size_t remove_run(const struct consumer_group *group, struct pieces *pieces,
                         const struct pending_entry *entries, size_t count) {
    enum { RUN_MAX = 64 };
    struct stream_id ids[RUN_MAX];
    struct pending_entry removed[RUN_MAX];
    struct consumer *consumer = consumer_group_numbered(group, entries[0].consumer);
    size_t run = 0;
    while (run < count && run < RUN_MAX && entries[run].consumer == entries[0].consumer) {
        ids[run] = entries[run].id;
        run++;
    }
    if (consumer) pendinglist_remove_ids(&consumer->ids, pieces, ids, run, removed);
    return run;
}

size_t consumer_group_acknowledge_all(struct consumer_group *group, struct pieces *pieces,
                                      const struct stream_id *ids, size_t count,
                                      struct pending_entry *acknowledged) {
    size_t found = pendinglist_remove_ids(&group->pending, pieces, ids, count, acknowledged);
    for (size_t i = 0; i < found;) i += remove_run(group, pieces, acknowledged + i, found - i);
    return found;
}

/* --- Images --- */

/* Where the parts of an image are: groups, then consumers, then segments. */
struct image_parts {
    struct consumer_image *consumer;
    struct idindex_segment *segment;
};

static size_t segments_of(const struct consumer_group *group) {
    size_t count = group->pending.index.segment_count;
    for (size_t i = 0; i < group->consumers.count; i++)
        count += consumer_group_at(group, i)->ids.index.segment_count;
    return count;
}

static struct idindex_view copy_segments(struct image_parts *parts, const struct idindex *index) {
    struct idindex_view view = {parts->segment, index->segment_count};
    size_t size = index->segment_count * sizeof(*index->segments);
    if (size > 0) memcpy(parts->segment, index->segments, size);
    parts->segment += index->segment_count;
    return view;
}

static struct consumer_group_image image_of(struct image_parts *parts,
                                            const struct consumer_group *group) {
    struct consumer_group_image image = {.name = group->name,
                                         .last_id = group->last_id,
                                         .entries_read = group->entries_read,
                                         .pending_count = group->pending.length,
                                         .pending = copy_segments(parts, &group->pending.index),
                                         .consumers = parts->consumer,
                                         .consumer_count = group->consumers.count};
    for (size_t i = 0; i < group->consumers.count; i++) {
        const struct consumer *consumer = consumer_group_at(group, i);
        *parts->consumer++ = (struct consumer_image){consumer->name, consumer->seen_ms,
                                                     consumer->active_ms, consumer->ids.length,
                                                     copy_segments(parts, &consumer->ids.index)};
    }
    return image;
}

struct consumer_groups_image *consumer_groups_image(const struct consumer_groups *groups) {
    size_t count = groups->groups.count, consumers = 0, segments = 0;
    if (count == 0) return NULL;
    for (size_t i = 0; i < count; i++) {
        consumers += consumer_groups_at(groups, i)->consumers.count;
        segments += segments_of(consumer_groups_at(groups, i));
    }
    struct consumer_groups_image *image;
    size_t size = sizeof(*image) + count * sizeof(*image->groups) +
                  consumers * sizeof(struct consumer_image) +
                  segments * sizeof(struct idindex_segment);
    image = mem_alloc(size);
    image->count = count;
    image->allocated = mem_good_size(size);
    struct image_parts parts;
    parts.consumer = (struct consumer_image *)(image->groups + count);
    parts.segment = (struct idindex_segment *)(parts.consumer + consumers);
    for (size_t i = 0; i < count; i++)
        image->groups[i] = image_of(&parts, consumer_groups_at(groups, i));
    return image;
}

/* --- Relocating: a part is [1 + group, 32 bits][0: the group itself; 1 + consumer], and `at` in it
 * a place in the pending entries --- */

enum { MEMBER_BITS = 32 };

static void *relocate_named(struct relocator *relocator, void *item, size_t size) {
    size_t len = ((struct slice *)item)->len;
    char *moved = relocate(relocator, item, mem_good_size(size + len));
    *(struct slice *)(void *)moved = slice_make(moved + size, len);
    return moved;
}

static struct consumer_group *relocate_group(struct nametable *groups, size_t at,
                                             struct relocator *relocator) {
    struct consumer_group *group = relocate_named(relocator, groups->items[at], sizeof(*group));
    groups->items[at] = &group->name;
    nametable_relocate(&group->consumers, relocator);
    if (group->numbers) group->numbers = relocate(relocator, group->numbers, numbers_size(group));
    return group;
}

static struct consumer *relocate_consumer(struct consumer_group *group, size_t at,
                                          struct relocator *relocator) {
    struct consumer *consumer =
        relocate_named(relocator, group->consumers.items[at], sizeof(*consumer));
    group->consumers.items[at] = &consumer->name;
    group->numbers[consumer->number - 1] = consumer;
    return consumer;
}

/* Relocates one member of a group, from *at on. Returns false if the step was due before its end.
 */
static bool relocate_member(struct nametable *groups, size_t group_at, size_t member, uint64_t *at,
                            struct relocator *relocator) {
    struct consumer_group *group = (struct consumer_group *)groups->items[group_at];
    struct pendinglist *list;
    if (member == 0) {
        if (*at == 0) group = relocate_group(groups, group_at, relocator);
        list = &group->pending;
    } else {
        struct consumer *consumer = consumer_group_at(group, member - 1);
        if (*at == 0) consumer = relocate_consumer(group, member - 1, relocator);
        list = &consumer->ids;
    }
    *at = pendinglist_relocate(list, *at, relocator);
    return *at == 0;
}

void consumer_groups_relocate(struct consumer_groups *groups, struct relocator *relocator,
                              struct relocate_cursor *cursor) {
    size_t group = (size_t)(cursor->part >> MEMBER_BITS) - 1;
    size_t member = cursor->part & UINT32_MAX;
    if (cursor->part == CONSUMER_GROUPS_PART && cursor->at == 0) {
        nametable_relocate(&groups->groups, relocator);
        released_ids_relocate(&groups->released, relocator);
    }
    for (; group < consumer_groups_count(groups); group++, member = 0) {
        while (member <= consumer_groups_at(groups, group)->consumers.count) {
            bool is_whole = relocate_member(&groups->groups, group, member, &cursor->at, relocator);
            if (is_whole) member++;
            if (!is_whole || relocator_is_due(relocator)) {
                cursor->part = (uint64_t)(group + 1) << MEMBER_BITS | member;
                return;
            }
        }
    }
    *cursor = (struct relocate_cursor){0};
}

/* --- Checking --- */

static bool check_names(const struct nametable *table, struct pieces *totals) {
    if (table->count > table->capacity) return false;
    if (table->capacity > 0) pieces_count(totals, nametable_allocated(table));
    for (size_t i = 1; i < table->count; i++)
        if (slice_compare(*table->items[i - 1], *table->items[i]) >= 0) return false;
    return true;
}

/* Each id is that of a pending entry of the consumer. */
static bool check_consumer(const struct consumer_group *group, const struct consumer *consumer,
                           const struct pieces *pieces, struct pieces *totals) {
    struct pending_iter iter;
    struct pending_entry id, entry;
    pieces_count(totals, mem_good_size(sizeof(*consumer) + consumer->name.len));
    if (consumer->number == 0 || consumer->number > group->number_count ||
        group->numbers[consumer->number - 1] != consumer)
        return false;
    if (!pendinglist_check(&consumer->ids, pieces, totals)) return false;
    pending_iter_start(&iter, idindex_view(&consumer->ids.index), STREAM_ID_MIN);
    while (pending_iter_next(&iter, &id))
        if (!pendinglist_find(&group->pending, id.id, &entry) || entry.consumer != consumer->number)
            return false;
    return true;
}

static bool check_group(const struct consumer_group *group, const struct pieces *pieces,
                        struct pieces *totals) {
    struct pending_iter iter;
    struct pending_entry entry;
    uint64_t owned = 0;
    pieces_count(totals, mem_good_size(sizeof(*group) + group->name.len));
    if (group->number_capacity > 0) pieces_count(totals, numbers_size(group));
    if (!check_names(&group->consumers, totals) ||
        !pendinglist_check(&group->pending, pieces, totals))
        return false;
    for (size_t i = 0; i < group->consumers.count; i++) {
        const struct consumer *consumer = consumer_group_at(group, i);
        if (!check_consumer(group, consumer, pieces, totals)) return false;
        owned += consumer->ids.length;
    }
    pending_iter_start(&iter, idindex_view(&group->pending.index), STREAM_ID_MIN);
    while (pending_iter_next(&iter, &entry)) owned += entry.consumer == CONSUMER_NOBODY;
    return owned == group->pending.length;
}

bool consumer_groups_check(const struct consumer_groups *groups, const struct pieces *pieces,
                           struct pieces *totals) {
    if (!check_names(&groups->groups, totals) ||
        !released_ids_check(&groups->released, pieces, totals))
        return false;
    for (size_t i = 0; i < groups->groups.count; i++)
        if (!check_group(consumer_groups_at(groups, i), pieces, totals)) return false;
    return true;
}
