/* block_pop: what BLPOP, BRPOP and BLMPOP share with BZPOPMIN, BZPOPMAX and BZMPOP: they reply at
 * once if they can, otherwise wait. What was checked when the command came is not checked again
 * when a key becomes ready. */
#ifndef PACKLIST_COMMANDS_BLOCK_POP_H
#define PACKLIST_COMMANDS_BLOCK_POP_H

#include "commands/pop_options.h"
#include "engine/call.h"

/* The commands of one type of values. */
struct block_pop_type {
    enum value_type type;

    /* Replies the key and what it removes from that end of its value `ref`, and propagates it. */
    void (*pop)(struct call *call, struct keyref *ref, struct slice key, bool from_last);

    /* As list_mpop_parse and list_mpop_serve. */
    bool (*mpop_parse)(struct call *call, size_t index, struct pop_options *options);
    bool (*mpop_serve)(struct call *call, const struct pop_options *options);
};

/* Finds the value of a key that became ready. Returns false when it is gone or of another type; the
 * client then goes on waiting. O(1). */
bool block_find_ready(struct call *call, struct slice key, enum value_type type,
                      struct keyref *ref);

/* key … timeout: pops from the first key that exists, or waits. O(keys). */
void block_pop(struct call *call, const struct block_pop_type *type, bool from_last);

/* timeout numkeys key … end [COUNT count]: the same, of several members. O(keys + members). */
void block_mpop(struct call *call, const struct block_pop_type *type);

#endif
