/* list_common: functions that the list commands share. */
#ifndef PACKLIST_COMMANDS_LIST_COMMON_H
#define PACKLIST_COMMANDS_LIST_COMMON_H

#include "commands/pop_options.h"
#include "commands/range.h"
#include "engine/call.h"
#include "types/list.h"

/* Converts an index (negative ones count from the tail) to a position. Returns false when there is
 * no such element. */
static inline bool list_position(int64_t index, uint64_t length, uint64_t *position) {
    if (index < 0) index += (int64_t)length;
    *position = (uint64_t)index;
    return index >= 0 && (uint64_t)index < length;
}

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

/* Parses the arguments of LMPOP and BLMPOP from argv[index] on: pop_options_parse with LEFT and
 * RIGHT. */
bool list_mpop_parse(struct call *call, size_t index, struct pop_options *options);

/* Replies [key, [elements]] from the first of the keys that exists and returns true. If that is not
 * a list, replies WRONGTYPE and returns true. If no key exists, replies nothing and returns
 * false. */
bool list_mpop_serve(struct call *call, const struct pop_options *options);

/* LMOVE: moves the element at the `from` end of the list `source`, which was found under argv[1]
 * and exists, to the `to` end of the list under argv[2], and replies it. Otherwise replies
 * WRONGTYPE, moves nothing and returns false. */
bool list_move(struct call *call, struct keyref *source, enum list_end from, enum list_end to);

#endif
