/* BZPOPMIN BZPOPMAX BZMPOP: reply at once if they can, otherwise wait. */
#include "commands/block_pop.h"
#include "commands/commands.h"
#include "commands/zset_common.h"

static void pop_key(struct call *call, struct keyref *ref, struct slice key, bool from_last) {
    zset_pop_one(call, ref, key, from_last, true);
    CALL_PROPAGATE(call, zset_pop_command(from_last), key);
}

static const struct block_pop_type zset_pops = {
    .type = VALUE_ZSET,
    .pop = pop_key,
    .mpop_parse = zset_mpop_parse,
    .mpop_serve = zset_mpop_serve,
};

void bzpopmin_command(struct call *call) {
    block_pop(call, &zset_pops, false);
}

void bzpopmax_command(struct call *call) {
    block_pop(call, &zset_pops, true);
}

void bzmpop_command(struct call *call) {
    block_mpop(call, &zset_pops);
}
