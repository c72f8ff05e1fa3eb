/* consumer_groups: see the head of consumer_groups.h. */
#include "ds/consumer_groups.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "base/relocate.h"

#include <string.h>

/* --- Memory --- */

/* Allocates a struct of `size` bytes, which the name follows. */
static void *allocate_named(struct pieces *pieces, size_t size, struct slice name) {
    char *item = pieces_alloc_zeroed(pieces, mem_good_size(size + name.len));
    slice_copy(item + size, name);
    *(struct slice *)(void *)item = slice_make(item + size, name.len);
    return item;
}

/* --- Numbers of consumers --- */

static size_t numbers_size(const struct consumer_group *group) {
    size_t capacity = group->number_capacity;
    return capacity ? mem_good_size(capacity * sizeof(struct consumer *)) : 0;
}

static void resize_numbers(struct consumer_group *group, struct pieces *pieces, size_t capacity) {
    size_t size = mem_good_size(capacity * sizeof(struct consumer *));
    group->numbers = pieces_resize(pieces, group->numbers, numbers_size(group), size);
    group->number_capacity = (uint32_t)capacity;
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
    if (group->number_count == 0) {
        pieces_drop(pieces, NULL, group->numbers, numbers_size(group));
        group->numbers = NULL;
        group->number_capacity = 0;
    } else if (group->number_count * 4 <= group->number_capacity) {
        resize_numbers(group, pieces, group->number_capacity / 2);
    }
}

/* --- Pieces: see ds/pieces.h --- */

/* Enters a struct of `size` bytes, which its name follows, and returns where it is now. */
static void *enter_named(struct slice **item, size_t size, const struct piece_visitor *visitor) {
    size_t len = (*item)->len;
    char *now = visitor->enter(visitor, *item, mem_good_size(size + len));
    if (now == (char *)*item) return now;
    *item = (struct slice *)(void *)now;
    **item = slice_make(now + size, len);
    return now;
}

/* A capture may read the name. */
static void leave_named(struct slice *item, size_t size, const struct piece_visitor *visitor) {
    visitor->leave(visitor, item, mem_good_size(size + item->len), PIECES_READ);
}

static struct consumer *enter_consumer(const struct consumer_group *group, struct slice **item,
                                       const struct piece_visitor *visitor) {
    const struct slice *before = *item;
    struct consumer *consumer = enter_named(item, sizeof(*consumer), visitor);
    if (*item != before) group->numbers[consumer->number - 1] = consumer;
    return consumer;
}

static void visit_consumer(const struct consumer_group *group, struct slice **item,
                           const struct piece_visitor *visitor) {
    struct consumer *consumer = enter_consumer(group, item, visitor);
    pendinglist_pieces(&consumer->ids, visitor);
    leave_named(&consumer->name, sizeof(*consumer), visitor);
}

/* Enters what belongs to the group itself. */
static struct consumer_group *enter_group(struct slice **item,
                                          const struct piece_visitor *visitor) {
    struct consumer_group *group = enter_named(item, sizeof(*group), visitor);
    nametable_enter(&group->consumers, visitor);
    if (group->numbers)
        group->numbers = visitor->enter(visitor, group->numbers, numbers_size(group));
    return group;
}

static void visit_group(struct slice **item, const struct piece_visitor *visitor) {
    struct consumer_group *group = enter_group(item, visitor);
    pendinglist_pieces(&group->pending, visitor);
    for (size_t i = 0; i < group->consumers.count; i++)
        visit_consumer(group, &group->consumers.items[i], visitor);
    if (group->numbers) visitor->leave(visitor, group->numbers, numbers_size(group), PIECES_UNREAD);
    nametable_leave(&group->consumers, visitor);
    leave_named(&group->name, sizeof(*group), visitor);
}

void consumer_groups_pieces(struct consumer_groups *groups, const struct piece_visitor *visitor) {
    nametable_enter(&groups->groups, visitor);
    for (size_t i = 0; i < groups->groups.count; i++)
        visit_group(&groups->groups.items[i], visitor);
    nametable_leave(&groups->groups, visitor);
    pendinglist_pieces(&groups->released.ids, visitor);
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
    nametable_insert(&groups->groups, pieces, at, &group->name);
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

void consumer_groups_remove(struct consumer_groups *groups, struct pieces *pieces,
                            struct consumer_group *group) {
    size_t at;
    struct slice *item = &group->name;
    struct piece_dropper dropper = pieces_dropper(pieces);
    if (nametable_find(&groups->groups, group->name, &at))
        nametable_remove(&groups->groups, pieces, at);
    visit_group(&item, &dropper.visitor);
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
    nametable_insert(&group->consumers, pieces, at, &consumer->name);
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
    struct slice *item = &consumer->name;
    struct piece_dropper dropper = pieces_dropper(pieces);
    pendinglist_remove_all(&group->pending, pieces, &consumer->ids, consumer->number);
    take_number(group, pieces, consumer);
    if (nametable_find(&group->consumers, consumer->name, &at))
        nametable_remove(&group->consumers, pieces, at);
    visit_consumer(group, &item, &dropper.visitor);
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

/* Relocates one member of a group, from *at on. Returns false if the step was due before its end.
 */
static bool relocate_member(struct nametable *groups, size_t group_at, size_t member, uint64_t *at,
                            struct relocator *relocator) {
    struct consumer_group *group = (struct consumer_group *)(void *)groups->items[group_at];
    struct piece_relocator pieces = pieces_relocator(relocator);
    struct pendinglist *list;
    if (member == 0) {
        if (*at == 0) group = enter_group(&groups->items[group_at], &pieces.visitor);
        list = &group->pending;
    } else {
        struct slice **item = &group->consumers.items[member - 1];
        if (*at == 0) enter_consumer(group, item, &pieces.visitor);
        list = &((struct consumer *)(void *)*item)->ids;
    }
    *at = pendinglist_relocate(list, *at, relocator);
    return *at == 0;
}

void consumer_groups_relocate(struct consumer_groups *groups, struct relocator *relocator,
                              struct relocate_cursor *cursor) {
    size_t group = (size_t)(cursor->part >> MEMBER_BITS) - 1;
    size_t member = cursor->part & UINT32_MAX;
    if (cursor->part == CONSUMER_GROUPS_PART && cursor->at == 0) {
        struct piece_relocator pieces = pieces_relocator(relocator);
        nametable_enter(&groups->groups, &pieces.visitor);
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

static bool check_names(const struct nametable *table) {
    if (table->count > table->capacity) return false;
    for (size_t i = 1; i < table->count; i++)
        if (slice_compare(*table->items[i - 1], *table->items[i]) >= 0) return false;
    return true;
}

/* Each id is that of a pending entry of the consumer. */
static bool check_consumer(const struct consumer_group *group, const struct consumer *consumer,
                           const struct pieces *pieces) {
    struct pending_iter iter;
    struct pending_entry id, entry;
    if (consumer->number == 0 || consumer->number > group->number_count ||
        group->numbers[consumer->number - 1] != consumer)
        return false;
    if (!pendinglist_check(&consumer->ids, pieces)) return false;
    pending_iter_start(&iter, idindex_view(&consumer->ids.index), STREAM_ID_MIN);
    while (pending_iter_next(&iter, &id))
        if (!pendinglist_find(&group->pending, id.id, &entry) || entry.consumer != consumer->number)
            return false;
    return true;
}

static bool check_group(const struct consumer_group *group, const struct pieces *pieces) {
    struct pending_iter iter;
    struct pending_entry entry;
    uint64_t owned = 0;
    if (!check_names(&group->consumers) || !pendinglist_check(&group->pending, pieces))
        return false;
    for (size_t i = 0; i < group->consumers.count; i++) {
        const struct consumer *consumer = consumer_group_at(group, i);
        if (!check_consumer(group, consumer, pieces)) return false;
        owned += consumer->ids.length;
    }
    pending_iter_start(&iter, idindex_view(&group->pending.index), STREAM_ID_MIN);
    while (pending_iter_next(&iter, &entry)) owned += entry.consumer == CONSUMER_NOBODY;
    return owned == group->pending.length;
}

bool consumer_groups_check(const struct consumer_groups *groups, const struct pieces *pieces) {
    if (!check_names(&groups->groups) || !released_ids_check(&groups->released, pieces))
        return false;
    for (size_t i = 0; i < groups->groups.count; i++)
        if (!check_group(consumer_groups_at(groups, i), pieces)) return false;
    return true;
}
