#include "persist/aof_allowed.h"

static const struct {
    const char *name;
    int arity;
} commands[] = {
    {"append", 3},
    {"bitfield", -2},
    {"bitop", -4},
    {"blmove", 6},
    {"blmpop", -5},
    {"blpop", -3},
    {"brpop", -3},
    {"brpoplpush", 4},
    {"bzmpop", -5},
    {"bzpopmax", -3},
    {"bzpopmin", -3},
    {"copy", -3},
    {"decr", 2},
    {"decrby", 3},
    {"del", -2},
    {"expire", -3},
    {"expireat", -3},
    {"flushall", -1},
    {"flushdb", -1},
    {"getdel", 2},
    {"getex", -2},
    {"getset", 3},
    {"incr", 2},
    {"incrby", 3},
    {"incrbyfloat", 3},
    {"linsert", 5},
    {"lmove", 5},
    {"lmpop", -4},
    {"lpop", -2},
    {"lpush", -3},
    {"lpushx", -3},
    {"lrem", 4},
    {"lset", 4},
    {"ltrim", 4},
    {"move", 3},
    {"mset", -3},
    {"msetnx", -3},
    {"persist", 2},
    {"pexpire", -3},
    {"pexpireat", -3},
    {"psetex", 4},
    {"rename", 3},
    {"renamenx", 3},
    {"restore", -4},
    {"rpop", -2},
    {"rpoplpush", 3},
    {"rpush", -3},
    {"rpushx", -3},
    {"select", 2},
    {"set", -3},
    {"setbit", 4},
    {"setex", 4},
    {"setnx", 3},
    {"setrange", 4},
    {"sort", -2},
    {"swapdb", 3},
    {"unlink", -2},
    {"zadd", -4},
    {"zdiffstore", -4},
    {"zincrby", 4},
    {"zinterstore", -4},
    {"zmpop", -4},
    {"zpopmax", -2},
    {"zpopmin", -2},
    {"zrangestore", -5},
    {"zrem", -3},
    {"zremrangebylex", 4},
    {"zremrangebyrank", 4},
    {"zremrangebyscore", 4},
    {"zunionstore", -4},
};

int aof_command_arity(struct slice name) {
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (slice_is(name, commands[i].name)) return commands[i].arity;
    return 0;
}

bool aof_command_is_known(struct slice name, size_t argc) {
    int arity = aof_command_arity(name);
    return arity < 0 ? argc >= (size_t)-arity : argc == (size_t)arity && arity > 0;
}
