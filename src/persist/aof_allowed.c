#include "persist/aof_allowed.h"

#include "base/sds.h"
#include "persist/newer_commands.h"

static const struct {
    const char *name;
    int arity;
} commands[] = {
    {"append", 3},
    {"bitfield", -2},
    {"bitop", -4},
    {"blmove", 6},
    {"blmovem", -6},
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
    {"function|delete", 3},
    {"function|flush", -2},
    {"function|load", -3},
    {"function|restore", -3},
    {"getdel", 2},
    {"getex", -2},
    {"getset", 3},
    {"hdel", -3},
    {"hexpire", -6},
    {"hexpireat", -6},
    {"hgetdel", -5},
    {"hgetex", -5},
    {"hincrby", 4},
    {"hincrbyfloat", 4},
    {"hmset", -4},
    {"hpersist", -5},
    {"hpexpire", -6},
    {"hpexpireat", -6},
    {"hset", -4},
    {"hsetex", -6},
    {"hsetnx", 4},
    {"incr", 2},
    {"incrby", 3},
    {"incrbyfloat", 3},
    {"linsert", 5},
    {"lmove", 5},
    {"lmovem", -5},
    {"lmpop", -4},
    {"lpop", -2},
    {"lpush", -3},
    {"lpushbound", -4},
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
    {"rpushbound", -4},
    {"rpushx", -3},
    {"sadd", -3},
    {"sdiffstore", -3},
    {"select", 2},
    {"set", -3},
    {"setbit", 4},
    {"setex", 4},
    {"setnx", 3},
    {"setrange", 4},
    {"sinterstore", -3},
    {"smove", 4},
    {"sort", -2},
    {"spop", -2},
    {"srem", -3},
    {"sunionstore", -3},
    {"swapdb", 3},
    {"unlink", -2},
    {"xadd", -5},
    {"xdel", -3},
    {"xsetid", -3},
    {"xtrim", -4},
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

/* Returns the arity of the command that begins with these words. */
static int arity_of(const struct slice *argv, size_t argc) {
    int arity = aof_command_arity(argv[0]);
    if (arity != 0 || argc < 2) return arity;
    sds name = sds_append(sds_append_cstr(sds_new(argv[0]), "|"), argv[1]);
    arity = aof_command_arity(sds_slice(name));
    sds_free(name);
    return arity;
}

bool aof_command_is_known(const struct slice *argv, size_t argc) {
    int arity = argc > 0 ? arity_of(argv, argc) : 0;
    if (arity < 0 ? argc >= (size_t)-arity : argc == (size_t)arity && arity > 0) return true;
    struct newer_translation translation;
    if (argc == 0 || !newer_translation_begin(&translation, argv, argc, 0)) return false;
    newer_translation_end(&translation);
    return true;
}
