/* list_common: functions that the list commands share. */
#ifndef PACKLIST_COMMANDS_LISTS_LIST_COMMON_H
#define PACKLIST_COMMANDS_LISTS_LIST_COMMON_H

#include "commands/common.h"
#include "engine/call.h"
#include "engine/work.h"
#include "types/list.h"

/* Converts an index (negative ones count from the tail) to a position. Returns false when there is
 * no such element. */
static inline bool list_position(int64_t index, uint64_t length, uint64_t *position) {
    if (index < 0) index += (int64_t)length;
    *position = (uint64_t)index;
    return index >= 0 && (uint64_t)index < length;
}

/* Replies `count` (> 0) elements from position `from` on as bulks, without the array's header. It
 * copies node by node from the listpacks to the reply (list_read.c); many of them later. O(count),
 * O(1) for many. */
void list_reply_elements(struct call *call, struct entry *entry, uint64_t from, uint64_t count,
                         enum list_direction direction);

/* Pushes elements to an end of the list under `key`, which `ref` has looked up. If the key does not
 * exist, makes a list of them. */
static inline void list_put(struct call *call, struct keyref *ref, struct slice key,
                            enum list_end end, const struct slice *elements, size_t count) {
    if (ref->entry)
        list_push(ref, end, elements, count, &call->limits->list);
    else
        list_create(ref, key, end, elements, count, &call->limits->list);
}

/* Returns whether searching the list may take so long that list_search_steps must say. An element
 * takes two bytes at least, so that fewer bytes are fewer steps than WORK_MIN. O(1). */
static inline bool list_may_be_long(const struct entry *entry) {
    const struct quicklist *list = list_quicklist(entry);
    return list && quicklist_serialized_size(list) >= 2 * WORK_MIN;
}

/* Returns how many steps of a work (engine/work.h) a search takes that looks at so many elements of
 * a list of which list_may_be_long is true. O(1). */
uint64_t list_search_steps(const struct entry *entry, uint64_t elements);

/* Return the name of an event at an end of a list: "lpush" and "lpop", or "rpush" and "rpop". */
static inline const char *list_push_event(enum list_end end) {
    return end == LIST_HEAD ? "lpush" : "rpush";
}

static inline const char *list_pop_event(enum list_end end) {
    return end == LIST_HEAD ? "lpop" : "rpop";
}

#endif
