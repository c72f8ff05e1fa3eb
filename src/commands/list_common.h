/* list_common: what the list commands share. */
#ifndef PACKLIST_COMMANDS_LIST_COMMON_H
#define PACKLIST_COMMANDS_LIST_COMMON_H

#include "engine/call.h"
#include "types/list.h"

/* An index as clients give it (negative ones count from the tail) → a position. False when there is
 * no such element. */
static inline bool list_position(int64_t index, uint64_t length, uint64_t *position) {
    if (index < 0) index += (int64_t)length;
    *position = (uint64_t)index;
    return index >= 0 && (uint64_t)index < length;
}

/* A range as clients give it, ends included → the elements [*from, *from + *count) that it covers;
 * the count may be 0. */
void list_clamp_range(int64_t start, int64_t stop, uint64_t length, uint64_t *from,
                      uint64_t *count);

/* Appends `count` (> 0) elements from position `from` on as bulks, without the array's header: node
 * by node, straight from listpack to protocol. */
void list_reply_elements(struct reply *reply, const struct entry *entry, uint64_t from,
                         uint64_t count, enum list_direction direction);

/* "lpush" and "lpop", or "rpush" and "rpop": the names of what happens at an end. */
const char *list_push_event(enum list_end end);
const char *list_pop_event(enum list_end end);

/* LPOP or RPOP. */
struct slice list_pop_command(enum list_end end);

/* Answers the element at an end and removes it from the list `ref`, which was found under `key`. */
void list_pop_one(struct call *call, struct keyref *ref, struct slice key, enum list_end end);

/* LMPOP's and BLMPOP's arguments from numkeys on: numkeys key … LEFT|RIGHT [COUNT count]. */
struct list_mpop {
    const struct slice *keys;
    size_t key_count;
    enum list_end end;
    int64_t count;
};

/* Parses them, numkeys standing at argv[index]; else answers the error and returns false. */
bool list_mpop_parse(struct call *call, size_t index, struct list_mpop *mpop);

/* Answers [key, [elements]] from the first of the keys that is a list and returns true; answers
 * WRONGTYPE and returns true when another value stands before it; answers nothing and returns false
 * when no key exists. */
bool list_mpop_serve(struct call *call, const struct list_mpop *mpop);

/* LMOVE's work: moves the element at the `from` end of the list `source`, which was found under
 * argv[1] and exists, to the `to` end of the list under argv[2], and answers it; or answers
 * WRONGTYPE, moves nothing and returns false. */
bool list_move(struct call *call, struct keyref *source, enum list_end from, enum list_end to);

#endif
