/* list_common: functions that the list commands share. */
#ifndef PACKLIST_COMMANDS_LIST_COMMON_H
#define PACKLIST_COMMANDS_LIST_COMMON_H

#include "engine/call.h"
#include "types/list.h"

/* Converts an index (negative ones count from the tail) to a position. Returns false when there is
 * no such element. */
static inline bool list_position(int64_t index, uint64_t length, uint64_t *position) {
    if (index < 0) index += (int64_t)length;
    *position = (uint64_t)index;
    return index >= 0 && (uint64_t)index < length;
}

/* Converts a range, both ends included, to the elements [*from, *from + *count) that it covers; the
 * count may be 0. */
void list_clamp_range(int64_t start, int64_t stop, uint64_t length, uint64_t *from,
                      uint64_t *count);

/* Appends `count` (> 0) elements from position `from` on as bulks, without the array's header. It
 * copies node by node from the listpacks to the reply. O(count). */
void list_reply_elements(struct reply *reply, const struct entry *entry, uint64_t from,
                         uint64_t count, enum list_direction direction);

/* Return the name of an event at an end of a list: "lpush" and "lpop", or "rpush" and "rpop". */
const char *list_push_event(enum list_end end);
const char *list_pop_event(enum list_end end);

/* Returns LPOP or RPOP. */
struct slice list_pop_command(enum list_end end);

/* Replies the element at an end and removes it from the list `ref`, which was found under `key`. */
void list_pop_one(struct call *call, struct keyref *ref, struct slice key, enum list_end end);

/* The arguments of LMPOP and BLMPOP from numkeys on: numkeys key … LEFT|RIGHT [COUNT count]. */
struct list_mpop {
    const struct slice *keys;
    size_t key_count;
    enum list_end end;
    int64_t count;
};

/* Parses them; numkeys is argv[index]. Otherwise replies the error and returns false. */
bool list_mpop_parse(struct call *call, size_t index, struct list_mpop *mpop);

/* Replies [key, [elements]] from the first of the keys that exists and returns true. If that is no
 * list, replies WRONGTYPE and returns true. If no key exists, replies nothing and returns false. */
bool list_mpop_serve(struct call *call, const struct list_mpop *mpop);

/* LMOVE: moves the element at the `from` end of the list `source`, which was found under argv[1]
 * and exists, to the `to` end of the list under argv[2], and replies it. Otherwise replies
 * WRONGTYPE, moves nothing and returns false. */
bool list_move(struct call *call, struct keyref *source, enum list_end from, enum list_end to);

#endif
