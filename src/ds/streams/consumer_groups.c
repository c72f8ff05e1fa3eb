/* consumer_groups: see the head of consumer_groups.h. */
#include "ds/streams/consumer_groups.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/memory/relocate.h"

#include <string.h>

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

/* Gives the consumer, which was added, the least number that is not in use. */
static void give_number(struct consumer_group *group, struct pieces *pieces,
                        struct consumer *consumer) {
    uint32_t at = group->number_count;
    if (group->consumers.count <= group->number_count)
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
        pieces_drop(pieces, PIECES_UNREAD, group->numbers, numbers_size(group));
        group->numbers = NULL;
        group->number_capacity = 0;
    } else if (group->number_count * 4 <= group->number_capacity) {
        resize_numbers(group, pieces, group->number_capacity / 2);
    }
}

/* --- Pieces: see ds/pieces.h --- */

static struct consumer *enter_consumer(const struct consumer_group *group, struct slice **item,
                                       const struct piece_visitor *visitor) {
    const struct slice *before = *item;
    struct consumer *consumer = nametable_enter_item(item, sizeof(*consumer), visitor);
    if (*item != before) group->numbers[consumer->number - 1] = consumer;
    return consumer;
}

static void visit_consumer(const struct consumer_group *group, struct slice **item,
                           const struct piece_visitor *visitor) {
    struct consumer *consumer = enter_consumer(group, item, visitor);
    pendinglist_pieces(&consumer->ids, visitor);
    nametable_leave_item(*item, sizeof(*consumer), visitor);
}

/* Enters what belongs to the group itself. */
static struct consumer_group *enter_group(struct slice **item,
                                          const struct piece_visitor *visitor) {
    struct consumer_group *group = nametable_enter_item(item, sizeof(*group), visitor);
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
    if (group->numbers) visitor->leave(visitor, group->numbers, numbers_size(group), NULL);
    nametable_leave(&group->consumers, visitor);
    nametable_leave_item(*item, sizeof(*group), visitor);
}

void consumer_groups_pieces(struct consumer_groups *groups, const struct piece_visitor *visitor) {
    nametable_enter(&groups->groups, visitor);
    for (size_t i = 0; i < groups->groups.count; i++)
        visit_group(&groups->groups.items[i], visitor);
    nametable_leave(&groups->groups, visitor);
    pendinglist_pieces(&groups->released, visitor);
}

/* --- Released entries --- */

/* So many are noted at most; beyond that entries are looked at once more. */
#ifdef TINY_LIMITS
enum { RELEASED_MAX = 12 };
#else
enum { RELEASED_MAX = 64 * 1024 };
#endif

void consumer_groups_look_again(struct consumer_groups *groups, struct pieces *pieces,
                                struct stream_id from) {
    struct pending_entry first;
    if (stream_id_compare(from, groups->looked_until) >= 0) return;
    bool has_any = pendinglist_edge(&groups->released, false, &first);
    bool is_before = has_any && stream_id_compare(first.id, from) < 0;
    groups->looked_until = is_before ? first.id : from;
    pendinglist_free(&groups->released, pieces);
}

/* An entry before looked_until is no longer pending in one of the groups. */
static void add_released(struct consumer_groups *groups, struct pieces *pieces,
                         struct stream_id id) {
    struct pending_entry entry = {.id = id};
    if (pendinglist_find(&groups->released, id, &entry)) return;
    if (groups->released.length == RELEASED_MAX)
        consumer_groups_look_again(groups, pieces, id);
    else
        pendinglist_insert(&groups->released, pieces, &entry);
}

static inline void note_released(struct consumer_groups *groups, struct pieces *pieces,
                                 struct stream_id id) {
    if (__builtin_expect(stream_id_compare(id, groups->looked_until) < 0, 0))
        add_released(groups, pieces, id);
}

/* The same of all entries of a list: too many to note each. */
static void note_all_released(struct consumer_groups *groups, struct pieces *pieces,
                              const struct pendinglist *list) {
    struct pending_entry first;
    if (pendinglist_edge(list, false, &first)) consumer_groups_look_again(groups, pieces, first.id);
}

size_t consumer_groups_released(const struct consumer_groups *groups, struct stream_id last,
                                struct stream_id *ids, size_t max) {
    struct pending_iter iter;
    struct pending_entry entry;
    size_t count = 0;
    pending_iter_start(&iter, &groups->released, STREAM_ID_MIN);
    while (count < max && pending_iter_next(&iter, &entry) &&
           stream_id_compare(entry.id, last) <= 0)
        ids[count++] = entry.id;
    return count;
}

void consumer_groups_note_looked(struct consumer_groups *groups, struct pieces *pieces,
                                 const struct stream_id *ids, size_t count) {
    enum { STEP = 64 };
    struct pending_entry removed[STEP];
    if (count == 0) return;
    for (size_t i = 0; i < count; i += STEP)
        pendinglist_remove_ids(&groups->released, pieces, ids + i,
                               count - i < STEP ? count - i : STEP, removed);
    struct stream_id next = ids[count - 1];
    stream_id_increment(&next);
    if (stream_id_compare(next, groups->looked_until) > 0) groups->looked_until = next;
}

struct stream_id consumer_groups_given(const struct consumer_groups *groups) {
    struct stream_id least = STREAM_ID_MAX;
    for (size_t i = 0; i < groups->groups.count; i++) {
        struct stream_id last = consumer_groups_at(groups, i)->last_id;
        if (stream_id_compare(last, least) < 0) least = last;
    }
    return least;
}

void consumer_groups_find_waiting(const struct consumer_groups *groups, const struct stream_id *ids,
                                  size_t count, bool *waits) {
    struct stream_id given = consumer_groups_given(groups);
    size_t from = 0;
    for (size_t i = 0; i < count; i++) waits[i] = false;
    for (; count > 0 && stream_id_compare(ids[count - 1], given) > 0; count--)
        waits[count - 1] = true;
    for (size_t g = 0; g < groups->groups.count; g++) {
        while (from < count && waits[from]) from++;
        while (from < count && waits[count - 1]) count--;
        if (from == count) return;
        pendinglist_find_ids(&consumer_groups_at(groups, g)->pending, ids + from, count - from,
                             waits + from);
    }
}

/* --- Groups --- */

struct consumer_group *consumer_groups_find(const struct consumer_groups *groups,
                                            struct slice name) {
    size_t at;
    return nametable_find(&groups->groups, name, &at) ? consumer_groups_at(groups, at) : NULL;
}

static struct consumer_group *insert_group(struct consumer_groups *groups, struct pieces *pieces,
                                           size_t at, struct slice name) {
    struct consumer_group *group =
        nametable_insert(&groups->groups, pieces, at, sizeof(*group), name);
    group->entries_read = CONSUMER_GROUP_UNKNOWN;
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

void consumer_groups_remove(struct consumer_groups *groups, struct pieces *pieces,
                            struct consumer_group *group) {
    struct slice *item = &group->name;
    struct piece_dropper dropper = pieces_dropper(pieces);
    note_all_released(groups, pieces, &group->pending);
    nametable_remove(&groups->groups, pieces, item);
    visit_group(&item, &dropper.visitor);
}

/* --- Consumers --- */

struct consumer *consumer_group_find(const struct consumer_group *group, struct slice name) {
    size_t at;
    return nametable_find(&group->consumers, name, &at) ? consumer_group_at(group, at) : NULL;
}

struct consumer *consumer_group_numbered(const struct consumer_group *group, uint64_t number) {
    return number == CONSUMER_NOBODY ? NULL : group->numbers[number - 1];
}

static struct consumer *insert_consumer(struct consumer_group *group, struct pieces *pieces,
                                        size_t at, struct slice name) {
    struct consumer *consumer =
        nametable_insert(&group->consumers, pieces, at, sizeof(*consumer), name);
    give_number(group, pieces, consumer);
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

void consumer_groups_remove_consumer(struct consumer_groups *groups, struct pieces *pieces,
                                     struct consumer_group *group, struct consumer *consumer) {
    struct slice *item = &consumer->name;
    struct piece_dropper dropper = pieces_dropper(pieces);
    note_all_released(groups, pieces, &consumer->ids);
    pendinglist_remove_all(&group->pending, pieces, &consumer->ids, consumer->number);
    take_number(group, pieces, consumer);
    nametable_remove(&group->consumers, pieces, item);
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

bool consumer_groups_acknowledge(struct consumer_groups *groups, struct pieces *pieces,
                                 struct consumer_group *group, struct stream_id id, bool stays) {
    struct pending_entry entry;
    if (!pendinglist_remove(&group->pending, pieces, id, &entry)) return false;
    remove_id(group, pieces, &entry);
    if (stays) note_released(groups, pieces, id);
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

size_t consumer_groups_acknowledge_all(struct pieces *pieces, struct consumer_group *group,
                                       const struct stream_id *ids, size_t count,
                                       struct pending_entry *acknowledged) {
    size_t found = pendinglist_remove_ids(&group->pending, pieces, ids, count, acknowledged);
    for (size_t i = 0; i < found;) i += remove_run(group, pieces, acknowledged + i, found - i);
    return found;
}

/* --- Images --- */

size_t consumer_groups_image_size(const struct consumer_groups *groups) {
    size_t size = nametable_image_size(&groups->groups, sizeof(struct consumer_group)) +
                  idindex_image_size(&groups->released.index);
    for (size_t i = 0; i < groups->groups.count; i++) {
        const struct consumer_group *group = consumer_groups_at(groups, i);
        size += idindex_image_size(&group->pending.index) +
                nametable_image_size(&group->consumers, sizeof(struct consumer));
        for (size_t c = 0; c < group->consumers.count; c++)
            size += idindex_image_size(&consumer_group_at(group, c)->ids.index);
    }
    return size;
}

void consumer_groups_image(struct consumer_groups *groups, char **to) {
    nametable_image(&groups->groups, sizeof(struct consumer_group), to);
    idindex_image(&groups->released.index, to);
    for (size_t i = 0; i < groups->groups.count; i++) {
        struct consumer_group *group = consumer_groups_at(groups, i);
        idindex_image(&group->pending.index, to);
        nametable_image(&group->consumers, sizeof(struct consumer), to);
        for (size_t c = 0; c < group->consumers.count; c++)
            idindex_image(&consumer_group_at(group, c)->ids.index, to);
        group->numbers = NULL;
    }
}

/* --- Copies --- */

static void own_group(struct consumer_group *group, struct pieces *pieces) {
    pendinglist_own(&group->pending, pieces);
    nametable_own(&group->consumers, pieces, sizeof(struct consumer));
    group->numbers =
        group->number_capacity ? pieces_alloc_zeroed(pieces, numbers_size(group)) : NULL;
    for (size_t i = 0; i < group->consumers.count; i++) {
        struct consumer *consumer = consumer_group_at(group, i);
        group->numbers[consumer->number - 1] = consumer;
        pendinglist_own(&consumer->ids, pieces);
    }
}

void consumer_groups_own(struct consumer_groups *groups, struct pieces *pieces) {
    nametable_own(&groups->groups, pieces, sizeof(struct consumer_group));
    for (size_t i = 0; i < groups->groups.count; i++)
        own_group(consumer_groups_at(groups, i), pieces);
    pendinglist_own(&groups->released, pieces);
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
        for (uint64_t at = 0; (at = pendinglist_relocate(&groups->released, at, relocator)) != 0;) {
        }
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

/* Each id is that of a pending entry of the consumer. */
static bool check_consumer(const struct consumer_group *group, const struct consumer *consumer,
                           const struct pieces *pieces) {
    struct pending_iter iter;
    struct pending_entry id, entry;
    if (consumer->number == 0 || consumer->number > group->number_count ||
        group->numbers[consumer->number - 1] != consumer)
        return false;
    if (!pendinglist_check(&consumer->ids, pieces)) return false;
    pending_iter_start(&iter, &consumer->ids, STREAM_ID_MIN);
    while (pending_iter_next(&iter, &id))
        if (!pendinglist_find(&group->pending, id.id, &entry) || entry.consumer != consumer->number)
            return false;
    return true;
}

static bool check_group(const struct consumer_group *group, const struct pieces *pieces) {
    struct pending_iter iter;
    struct pending_entry entry;
    uint64_t owned = 0;
    if (!nametable_check(&group->consumers) || !pendinglist_check(&group->pending, pieces))
        return false;
    for (size_t i = 0; i < group->consumers.count; i++) {
        const struct consumer *consumer = consumer_group_at(group, i);
        if (!check_consumer(group, consumer, pieces)) return false;
        owned += consumer->ids.length;
    }
    pending_iter_start(&iter, &group->pending, STREAM_ID_MIN);
    while (pending_iter_next(&iter, &entry)) owned += entry.consumer == CONSUMER_NOBODY;
    return owned == group->pending.length;
}

bool consumer_groups_check(const struct consumer_groups *groups, const struct pieces *pieces) {
    struct pending_entry last;
    bool has_last = pendinglist_edge(&groups->released, true, &last);
    if (!nametable_check(&groups->groups) || !pendinglist_check(&groups->released, pieces) ||
        groups->released.length > RELEASED_MAX ||
        (has_last && stream_id_compare(last.id, groups->looked_until) >= 0))
        return false;
    for (size_t i = 0; i < groups->groups.count; i++)
        if (!check_group(consumer_groups_at(groups, i), pieces)) return false;
    return true;
}
