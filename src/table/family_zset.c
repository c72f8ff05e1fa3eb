/* family_zset: the commands of sorted sets. */
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

{ROW("bzmpop", -5, "sorted-set", "7.0.0", WRITE | BLOCKING | MOVABLE_KEYS,
     "O(keys + M log N), N being the members of the sorted set and M those returned",
     "Takes members with the lowest or highest scores from the first sorted set that has any, "
     "waiting until one has."),
 .keys = COUNTED_KEYS(2, POP),
 .syntax = "timeout:double numkeys:integer key [key ...] <MIN | MAX>:where [COUNT count:integer]"},
{ROW("bzpopmax", -3, "sorted-set", "5.0.0", WRITE | BLOCKING | FAST,
     "O(keys + log N), N being the members of the sorted set",
     "Takes the member with the highest score from the first sorted set that has one, waiting "
     "until one has."),
 .keys = KEYS(1, -2, POP),
 .syntax = "key [key ...] timeout:double"
           "\n@6.0.0 The timeout may have a fraction."},
{ROW("bzpopmin", -3, "sorted-set", "5.0.0", WRITE | BLOCKING | FAST,
     "O(keys + log N), N being the members of the sorted set",
     "Takes the member with the lowest score from the first sorted set that has one, waiting until "
     "one has."),
 .keys = KEYS(1, -2, POP),
 .syntax = "key [key ...] timeout:double"
           "\n@6.0.0 The timeout may have a fraction."},
{ROW("zadd", -4, "sorted-set", "1.2.0", WRITE | GIVES_SCORE | DENYOOM | FAST,
     "O(log N) for each member, N being the members of the sorted set",
     "Adds members with scores to a sorted set, or changes their scores."),
 .keys = ONE_KEY(CHANGE),
 .syntax = "key [<NX | XX>:condition@3.0.2] [<GT | LT>:comparison@6.2.0] [CH:change@3.0.2] "
           "[INCR:increment@3.0.2] (score:double member):data ..."
           "\n@2.4.0 Takes several members."
           "\n@3.0.2 Takes the options `XX`, `NX`, `CH` and `INCR`."
           "\n@6.2.0 Takes the options `GT` and `LT`."},
{ROW("zcard", 2, "sorted-set", "1.2.0", READONLY | FAST,
     "O(1)", "Counts the members of a sorted set."),
 .keys = ONE_KEY(LOOK), .syntax = "key"},
{ROW("zcount", 4, "sorted-set", "2.0.0", READONLY | FAST,
     "O(log N), N being the members of the sorted set",
     "Counts the members with scores within a range."),
 .keys = ONE_KEY(READ), .syntax = "key min:double max:double"},
{ROW("zdiff", -3, "sorted-set", "6.2.0", READONLY | MOVABLE_KEYS,
     "O(K N + M log M), N being the members of the first sorted set, K the number of keys and M "
     "the members of the result",
     "Returns the members of the first sorted set that are in no other one."),
 .keys = COUNTED_KEYS(1, READ), .syntax = "numkeys:integer key [key ...] [WITHSCORES]"},
{ROW("zdiffstore", -4, "sorted-set", "6.2.0", WRITE | DENYOOM | MOVABLE_KEYS,
     "O(K N + M log M), N being the members of the first sorted set, K the number of keys and M "
     "the members of the result",
     "Stores the members of the first sorted set that are in no other one."),
 .keys = TARGET_AND_COUNTED_KEYS, .syntax = "destination:key numkeys:integer key [key ...]"},
{ROW("zincrby", 4, "sorted-set", "1.2.0", WRITE | DENYOOM | FAST,
     "O(log N), N being the members of the sorted set",
     "Adds to the score of a member, which it adds if there is none."),
 .keys = ONE_KEY(EXCHANGE), .syntax = "key increment:integer member"},
{ROW("zinter", -3, "sorted-set", "6.2.0", READONLY | MOVABLE_KEYS,
     "O(N K + M log M), N being the members of the smallest sorted set, K the number of keys and M "
     "the members of the result",
     "Returns the members that are in all of several sorted sets."),
 .keys = COUNTED_KEYS(1, READ),
 .syntax = "numkeys:integer key [key ...] [WEIGHTS weight:integer ...] "
           "[AGGREGATE <SUM | MIN | MAX | COUNT>:aggregate] [WITHSCORES]"},
{ROW("zintercard", -3, "sorted-set", "7.0.0", READONLY | MOVABLE_KEYS,
     "O(N K), N being the members of the smallest sorted set, K the number of keys",
     "Counts the members that are in all of several sorted sets."),
 .keys = COUNTED_KEYS(1, READ), .syntax = "numkeys:integer key [key ...] [LIMIT limit:integer]"},
{ROW("zinterstore", -4, "sorted-set", "2.0.0", WRITE | DENYOOM | MOVABLE_KEYS,
     "O(N K + M log M), N being the members of the smallest sorted set, K the number of keys and M "
     "the members of the result",
     "Stores the members that are in all of several sorted sets."),
 .keys = TARGET_AND_COUNTED_KEYS,
 .syntax = "destination:key numkeys:integer key [key ...] [WEIGHTS weight:integer ...] "
           "[AGGREGATE <SUM | MIN | MAX | COUNT>:aggregate]"},
{ROW("zlexcount", 4, "sorted-set", "2.8.9", READONLY | FAST,
     "O(log N), N being the members of the sorted set",
     "Counts the members within a range, where all have the same score."),
 .keys = ONE_KEY(READ), .syntax = "key min max"},
{ROW("zmpop", -4, "sorted-set", "7.0.0", WRITE | MOVABLE_KEYS,
     "O(keys + M log N), N being the members of the sorted set and M those returned",
     "Takes members with the lowest or highest scores from the first sorted set that has any."),
 .keys = COUNTED_KEYS(1, POP),
 .syntax = "numkeys:integer key [key ...] <MIN | MAX>:where [COUNT count:integer]"},
{ROW("zmscore", -3, "sorted-set", "6.2.0", READONLY | FAST,
     "O(1) for each member", "Reads the scores of members."),
 .keys = ONE_KEY(READ), .syntax = "key member ..."},
{ROW("zpopmax", -2, "sorted-set", "5.0.0", WRITE | FAST,
     "O(log N) for each member returned, N being the members of the sorted set",
     "Takes one or more members with the highest scores."),
 .keys = ONE_KEY(POP), .syntax = "key [count:integer]"},
{ROW("zpopmin", -2, "sorted-set", "5.0.0", WRITE | FAST,
     "O(log N) for each member returned, N being the members of the sorted set",
     "Takes one or more members with the lowest scores."),
 .keys = ONE_KEY(POP), .syntax = "key [count:integer]"},
{ROW("zrandmember", -2, "sorted-set", "6.2.0", READONLY,
     "O(log N) for each member returned, N being the members of the sorted set",
     "Returns one or more members at random."),
 .tips = TIP_NONDETERMINISTIC, .keys = ONE_KEY(READ),
 .syntax = "key [(count:integer [WITHSCORES]):options]"},
{ROW("zrange", -4, "sorted-set", "1.2.0", READONLY,
     "O(log N + M), N being the members of the sorted set and M those returned",
     "Reads the members between two ranks, scores or members."),
 .keys = ONE_KEY(READ),
 .syntax = "key start stop [<BYSCORE | BYLEX>:sortby@6.2.0] [REV@6.2.0] "
           "[LIMIT (offset:integer count:integer):limit@6.2.0] [WITHSCORES] [XX@9.2.0]"
           "\n@6.2.0 Takes `REV`, `BYSCORE`, `BYLEX` and `LIMIT`."
           "\n@9.2.0 Takes XX."},
{ROW("zrangebylex", -4, "sorted-set", "2.8.9", READONLY,
     "O(log N + M), N being the members of the sorted set and M those returned",
     "Reads the members within a range, where all have the same score."),
 .keys = ONE_KEY(READ),
 .syntax = "key min max [LIMIT (offset:integer count:integer):limit]"
           "\n~6.2.0 `ZRANGE` with `BYLEX`"},
{ROW("zrangebyscore", -4, "sorted-set", "1.0.5", READONLY,
     "O(log N + M), N being the members of the sorted set and M those returned",
     "Reads the members with scores within a range."),
 .keys = ONE_KEY(READ),
 .syntax = "key min:double max:double [WITHSCORES@2.0.0] "
           "[LIMIT (offset:integer count:integer):limit]"
           "\n~6.2.0 `ZRANGE` with `BYSCORE`"
           "\n@2.0.0 Takes `WITHSCORES`."},
{ROW("zrangestore", -5, "sorted-set", "6.2.0", WRITE | DENYOOM,
     "O(log N + M log M), N being the members of the sorted set and M those stored",
     "Stores the members between two ranks, scores or members."),
 .keys = TWO_KEYS(OVERWRITE, READ),
 .syntax = "dst:key src:key min max [<BYSCORE | BYLEX>:sortby] [REV] "
           "[LIMIT (offset:integer count:integer):limit]"},
{ROW("zrank", -3, "sorted-set", "2.0.0", READONLY | FAST,
     "O(log N), N being the members of the sorted set",
     "Finds the rank of a member, counted from the lowest score."),
 .keys = ONE_KEY(READ),
 .syntax = "key member [WITHSCORE]"
           "\n@7.2.0 Takes `WITHSCORE`."},
{ROW("zrem", -3, "sorted-set", "1.2.0", WRITE | FAST,
     "O(log N) for each member, N being the members of the sorted set", "Removes members."),
 .keys = ONE_KEY(TAKE),
 .syntax = "key member ..."
           "\n@2.4.0 Takes several members."},
{ROW("zremrangebylex", 4, "sorted-set", "2.8.9", WRITE,
     "O(log N + M), N being the members of the sorted set and M those removed",
     "Removes the members within a range, where all have the same score."),
 .keys = ONE_KEY(TAKE), .syntax = "key min max"},
{ROW("zremrangebyrank", 4, "sorted-set", "2.0.0", WRITE,
     "O(log N + M), N being the members of the sorted set and M those removed",
     "Removes the members between two ranks."),
 .keys = ONE_KEY(TAKE), .syntax = "key start:integer stop:integer"},
{ROW("zremrangebyscore", 4, "sorted-set", "1.2.0", WRITE,
     "O(log N + M), N being the members of the sorted set and M those removed",
     "Removes the members with scores within a range."),
 .keys = ONE_KEY(TAKE), .syntax = "key min:double max:double"},
{ROW("zrevrange", -4, "sorted-set", "1.2.0", READONLY,
     "O(log N + M), N being the members of the sorted set and M those returned",
     "Reads the members between two ranks, from the highest score on."),
 .keys = ONE_KEY(READ),
 .syntax = "key start:integer stop:integer [WITHSCORES]"
           "\n~6.2.0 `ZRANGE` with `REV`"},
{ROW("zrevrangebylex", -4, "sorted-set", "2.8.9", READONLY,
     "O(log N + M), N being the members of the sorted set and M those returned",
     "Reads the members within a range from the last on, where all have the same score."),
 .keys = ONE_KEY(READ),
 .syntax = "key max min [LIMIT (offset:integer count:integer):limit]"
           "\n~6.2.0 `ZRANGE` with `REV` and `BYLEX`"},
{ROW("zrevrangebyscore", -4, "sorted-set", "2.2.0", READONLY,
     "O(log N + M), N being the members of the sorted set and M those returned",
     "Reads the members with scores within a range, from the highest score on."),
 .keys = ONE_KEY(READ),
 .syntax = "key max:double min:double [WITHSCORES] [LIMIT (offset:integer count:integer):limit]"
           "\n~6.2.0 `ZRANGE` with `REV` and `BYSCORE`"
           "\n@2.1.6 Bounds may be exclusive."},
{ROW("zrevrank", -3, "sorted-set", "2.0.0", READONLY | FAST,
     "O(log N), N being the members of the sorted set",
     "Finds the rank of a member, counted from the highest score."),
 .keys = ONE_KEY(READ),
 .syntax = "key member [WITHSCORE]"
           "\n@7.2.0 Takes `WITHSCORE`."},
{ROW("zscan", -3, "sorted-set", "2.8.0", READONLY,
     "O(1) for each call, O(N) for a complete iteration",
     "Visits the members of a sorted set with their scores, a few for each call."),
 .tips = TIP_NONDETERMINISTIC, .keys = ONE_KEY(READ),
 .syntax = "key cursor:integer [MATCH pattern:pattern] [COUNT count:integer] [NOSCORES@8.0.0]"
           "\n@8.0.0 Takes NOSCORES."},
{ROW("zscore", 3, "sorted-set", "1.2.0", READONLY | FAST,
     "O(1)", "Reads the score of a member."),
 .keys = ONE_KEY(READ), .syntax = "key member"},
{ROW("zunion", -3, "sorted-set", "6.2.0", READONLY | MOVABLE_KEYS,
     "O(N + M log M), N being the members of all sorted sets and M those of the result",
     "Returns the members of several sorted sets."),
 .keys = COUNTED_KEYS(1, READ),
 .syntax = "numkeys:integer key [key ...] [WEIGHTS weight:integer ...] "
           "[AGGREGATE <SUM | MIN | MAX | COUNT>:aggregate] [WITHSCORES]"},
{ROW("zunionstore", -4, "sorted-set", "2.0.0", WRITE | DENYOOM | MOVABLE_KEYS,
     "O(N + M log M), N being the members of all sorted sets and M those of the result",
     "Stores the members of several sorted sets."),
 .keys = TARGET_AND_COUNTED_KEYS,
 .syntax = "destination:key numkeys:integer key [key ...] [WEIGHTS weight:integer ...] "
           "[AGGREGATE <SUM | MIN | MAX | COUNT>:aggregate]"},
};

/* clang-format on */

const struct command_family command_family_zset = FAMILY_OF(rows);
