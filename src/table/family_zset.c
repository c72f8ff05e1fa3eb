/* family_zset: the commands of sorted sets. */
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

{.name = "bzmpop", .arity = -5, .group = "sorted-set",
 .since = "7.0.0", .flags = WRITE | BLOCKING | MOVABLE_KEYS, .categories = CATEGORY_SORTED_SET,
 .keys = COUNTED_KEYS(2, POP),
 .complexity = "O(keys + M log N), N being the members of the sorted set and M those returned",
 .summary = "Takes members with the lowest or highest scores from the "
     "first sorted set that has any, waiting until one has.",
 .syntax =
     "timeout:double numkeys:integer key [key ...] <MIN | MAX>:where [COUNT count:integer]"},
{.name = "bzpopmax", .arity = -3, .group = "sorted-set",
 .since = "5.0.0", .flags = WRITE | BLOCKING | FAST, .categories = CATEGORY_SORTED_SET,
 .keys = KEYS(1, -2, POP),
 .complexity = "O(keys + log N), N being the members of the sorted set",
 .summary = "Takes the member with the highest score from the first sorted set that has one, "
     "waiting until one has.",
 .syntax =
     "key [key ...] timeout:double"
     "\n@6.0.0 The timeout may have a fraction."},
{.name = "bzpopmin", .arity = -3, .group = "sorted-set",
 .since = "5.0.0", .flags = WRITE | BLOCKING | FAST, .categories = CATEGORY_SORTED_SET,
 .keys = KEYS(1, -2, POP),
 .complexity = "O(keys + log N), N being the members of the sorted set",
 .summary = "Takes the member with the lowest score from the first sorted set that has one, "
     "waiting until one has.",
 .syntax =
     "key [key ...] timeout:double"
     "\n@6.0.0 The timeout may have a fraction."},
{.name = "zadd", .arity = -4, .group = "sorted-set",
 .since = "1.2.0", .flags = WRITE | GIVES_SCORE | DENYOOM | FAST, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(CHANGE),
 .complexity = "O(log N) for each member, N being the members of the sorted set",
 .summary = "Adds members with scores to a sorted set, or changes their scores.",
 .syntax =
     "key [<NX | XX>:condition@3.0.2] [<GT | LT>:comparison@6.2.0] [CH:change@3.0.2] "
     "[INCR:increment@3.0.2] (score:double member):data ..."
     "\n@2.4.0 Takes several members."
     "\n@3.0.2 Takes the options `XX`, `NX`, `CH` and `INCR`."
     "\n@6.2.0 Takes the options `GT` and `LT`."},
{.name = "zcard", .arity = 2, .group = "sorted-set",
 .since = "1.2.0", .flags = READONLY | FAST, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(LOOK),
 .complexity = "O(1)",
 .summary = "Counts the members of a sorted set.",
 .syntax = "key"},
{.name = "zcount", .arity = 4, .group = "sorted-set",
 .since = "2.0.0", .flags = READONLY | FAST, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(READ),
 .complexity = "O(log N), N being the members of the sorted set",
 .summary = "Counts the members with scores within a range.",
 .syntax = "key min:double max:double"},
{.name = "zdiff", .arity = -3, .group = "sorted-set",
 .since = "6.2.0", .flags = READONLY | MOVABLE_KEYS, .categories = CATEGORY_SORTED_SET,
 .keys = COUNTED_KEYS(1, READ),
 .complexity = "O(K N + M log M), N being the members of the first sorted set, K the number of "
     "keys and M the members of the result",
 .summary = "Returns the members of the first sorted set that are in no other one.",
 .syntax = "numkeys:integer key [key ...] [WITHSCORES]"},
{.name = "zdiffstore", .arity = -4, .group = "sorted-set",
 .since = "6.2.0", .flags = WRITE | DENYOOM | MOVABLE_KEYS, .categories = CATEGORY_SORTED_SET,
 .keys = TARGET_AND_COUNTED_KEYS,
 .complexity = "O(K N + M log M), N being the members of the first sorted set, K the number of "
     "keys and M the members of the result",
 .summary = "Stores the members of the first sorted set that are in no other one.",
 .syntax = "destination:key numkeys:integer key [key ...]"},
{.name = "zincrby", .arity = 4, .group = "sorted-set",
 .since = "1.2.0", .flags = WRITE | DENYOOM | FAST, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(EXCHANGE),
 .complexity = "O(log N), N being the members of the sorted set",
 .summary = "Adds to the score of a member, which it adds if there is none.",
 .syntax = "key increment:integer member"},
{.name = "zinter", .arity = -3, .group = "sorted-set",
 .since = "6.2.0", .flags = READONLY | MOVABLE_KEYS, .categories = CATEGORY_SORTED_SET,
 .keys = COUNTED_KEYS(1, READ),
 .complexity = "O(N K + M log M), N being the members of the smallest sorted set, K the number of "
     "keys and M the members of the result",
 .summary = "Returns the members that are in all of several sorted sets.",
 .syntax =
     "numkeys:integer key [key ...] [WEIGHTS weight:integer ...] "
     "[AGGREGATE <SUM | MIN | MAX | COUNT>:aggregate] [WITHSCORES]"},
{.name = "zintercard", .arity = -3, .group = "sorted-set",
 .since = "7.0.0", .flags = READONLY | MOVABLE_KEYS, .categories = CATEGORY_SORTED_SET,
 .keys = COUNTED_KEYS(1, READ),
 .complexity = "O(N K), N being the members of the smallest sorted set, K the number of keys",
 .summary = "Counts the members that are in all of several sorted sets.",
 .syntax = "numkeys:integer key [key ...] [LIMIT limit:integer]"},
{.name = "zinterstore", .arity = -4, .group = "sorted-set",
 .since = "2.0.0", .flags = WRITE | DENYOOM | MOVABLE_KEYS, .categories = CATEGORY_SORTED_SET,
 .keys = TARGET_AND_COUNTED_KEYS,
 .complexity = "O(N K + M log M), N being the members of the smallest sorted set, K the number of "
     "keys and M the members of the result",
 .summary = "Stores the members that are in all of several sorted sets.",
 .syntax =
     "destination:key numkeys:integer key [key ...] [WEIGHTS weight:integer ...] "
     "[AGGREGATE <SUM | MIN | MAX | COUNT>:aggregate]"},
{.name = "zlexcount", .arity = 4, .group = "sorted-set",
 .since = "2.8.9", .flags = READONLY | FAST, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(READ),
 .complexity = "O(log N), N being the members of the sorted set",
 .summary = "Counts the members within a range, where all have the same score.",
 .syntax = "key min max"},
{.name = "zmpop", .arity = -4, .group = "sorted-set",
 .since = "7.0.0", .flags = WRITE | MOVABLE_KEYS, .categories = CATEGORY_SORTED_SET,
 .keys = COUNTED_KEYS(1, POP),
 .complexity = "O(keys + M log N), N being the members of the sorted set and M those returned",
 .summary = "Takes members with the lowest or highest scores from the first sorted set that has "
     "any.",
 .syntax = "numkeys:integer key [key ...] <MIN | MAX>:where [COUNT count:integer]"},
{.name = "zmscore", .arity = -3, .group = "sorted-set",
 .since = "6.2.0", .flags = READONLY | FAST, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(READ),
 .complexity = "O(1) for each member",
 .summary = "Reads the scores of members.",
 .syntax = "key member ..."},
{.name = "zpopmax", .arity = -2, .group = "sorted-set",
 .since = "5.0.0", .flags = WRITE | FAST, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(POP),
 .complexity = "O(log N) for each member returned, N being the members of the sorted set",
 .summary = "Takes one or more members with the highest scores.",
 .syntax = "key [count:integer]"},
{.name = "zpopmin", .arity = -2, .group = "sorted-set",
 .since = "5.0.0", .flags = WRITE | FAST, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(POP),
 .complexity = "O(log N) for each member returned, N being the members of the sorted set",
 .summary = "Takes one or more members with the lowest scores.",
 .syntax = "key [count:integer]"},
{.name = "zrandmember", .arity = -2, .group = "sorted-set",
 .since = "6.2.0", .flags = READONLY, .categories = CATEGORY_SORTED_SET,
 .tips = TIP_NONDETERMINISTIC,
 .keys = ONE_KEY(READ),
 .complexity = "O(log N) for each member returned, N being the members of the sorted set",
 .summary = "Returns one or more members at random.",
 .syntax = "key [(count:integer [WITHSCORES]):options]"},
{.name = "zrange", .arity = -4, .group = "sorted-set",
 .since = "1.2.0", .flags = READONLY, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(READ),
 .complexity = "O(log N + M), N being the members of the sorted set and M those returned",
 .summary = "Reads the members between two ranks, scores or members.",
 .syntax =
     "key start stop [<BYSCORE | BYLEX>:sortby@6.2.0] [REV@6.2.0] "
     "[LIMIT (offset:integer count:integer):limit@6.2.0] [WITHSCORES] [XX@9.2.0]"
     "\n@6.2.0 Takes `REV`, `BYSCORE`, `BYLEX` and `LIMIT`."
     "\n@9.2.0 Takes XX."},
{.name = "zrangebylex", .arity = -4, .group = "sorted-set",
 .since = "2.8.9", .flags = READONLY, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(READ),
 .complexity = "O(log N + M), N being the members of the sorted set and M those returned",
 .summary = "Reads the members within a range, where all have the same score.",
 .syntax =
     "key min max [LIMIT (offset:integer count:integer):limit]"
     "\n~6.2.0 `ZRANGE` with `BYLEX`"},
{.name = "zrangebyscore", .arity = -4, .group = "sorted-set",
 .since = "1.0.5", .flags = READONLY, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(READ),
 .complexity = "O(log N + M), N being the members of the sorted set and M those returned",
 .summary = "Reads the members with scores within a range.",
 .syntax =
     "key min:double max:double [WITHSCORES@2.0.0] "
     "[LIMIT (offset:integer count:integer):limit]"
     "\n~6.2.0 `ZRANGE` with `BYSCORE`"
     "\n@2.0.0 Takes `WITHSCORES`."},
{.name = "zrangestore", .arity = -5, .group = "sorted-set",
 .since = "6.2.0", .flags = WRITE | DENYOOM, .categories = CATEGORY_SORTED_SET,
 .keys = TWO_KEYS(OVERWRITE, READ),
 .complexity = "O(log N + M log M), N being the members of the sorted set and M those stored",
 .summary = "Stores the members between two ranks, scores or members.",
 .syntax =
     "dst:key src:key min max [<BYSCORE | BYLEX>:sortby] [REV] "
     "[LIMIT (offset:integer count:integer):limit]"},
{.name = "zrank", .arity = -3, .group = "sorted-set",
 .since = "2.0.0", .flags = READONLY | FAST, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(READ),
 .complexity = "O(log N), N being the members of the sorted set",
 .summary = "Finds the rank of a member, counted from the lowest score.",
 .syntax =
     "key member [WITHSCORE]"
     "\n@7.2.0 Takes `WITHSCORE`."},
{.name = "zrem", .arity = -3, .group = "sorted-set",
 .since = "1.2.0", .flags = WRITE | FAST, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(TAKE),
 .complexity = "O(log N) for each member, N being the members of the sorted set",
 .summary = "Removes members.",
 .syntax =
     "key member ..."
     "\n@2.4.0 Takes several members."},
{.name = "zremrangebylex", .arity = 4, .group = "sorted-set",
 .since = "2.8.9", .flags = WRITE, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(TAKE),
 .complexity = "O(log N + M), N being the members of the sorted set and M those removed",
 .summary = "Removes the members within a range, where all have the same score.",
 .syntax = "key min max"},
{.name = "zremrangebyrank", .arity = 4, .group = "sorted-set",
 .since = "2.0.0", .flags = WRITE, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(TAKE),
 .complexity = "O(log N + M), N being the members of the sorted set and M those removed",
 .summary = "Removes the members between two ranks.",
 .syntax = "key start:integer stop:integer"},
{.name = "zremrangebyscore", .arity = 4, .group = "sorted-set",
 .since = "1.2.0", .flags = WRITE, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(TAKE),
 .complexity = "O(log N + M), N being the members of the sorted set and M those removed",
 .summary = "Removes the members with scores within a range.",
 .syntax = "key min:double max:double"},
{.name = "zrevrange", .arity = -4, .group = "sorted-set",
 .since = "1.2.0", .flags = READONLY, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(READ),
 .complexity = "O(log N + M), N being the members of the sorted set and M those returned",
 .summary = "Reads the members between two ranks, from the highest score on.",
 .syntax =
     "key start:integer stop:integer [WITHSCORES]"
     "\n~6.2.0 `ZRANGE` with `REV`"},
{.name = "zrevrangebylex", .arity = -4, .group = "sorted-set",
 .since = "2.8.9", .flags = READONLY, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(READ),
 .complexity = "O(log N + M), N being the members of the sorted set and M those returned",
 .summary = "Reads the members within a range from the last on, where all have the same score.",
 .syntax =
     "key max min [LIMIT (offset:integer count:integer):limit]"
     "\n~6.2.0 `ZRANGE` with `REV` and `BYLEX`"},
{.name = "zrevrangebyscore", .arity = -4, .group = "sorted-set",
 .since = "2.2.0", .flags = READONLY, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(READ),
 .complexity = "O(log N + M), N being the members of the sorted set and M those returned",
 .summary = "Reads the members with scores within a range, from the highest score on.",
 .syntax =
     "key max:double min:double [WITHSCORES] "
     "[LIMIT (offset:integer count:integer):limit]"
     "\n~6.2.0 `ZRANGE` with `REV` and `BYSCORE`"
     "\n@2.1.6 Bounds may be exclusive."},
{.name = "zrevrank", .arity = -3, .group = "sorted-set",
 .since = "2.0.0", .flags = READONLY | FAST, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(READ),
 .complexity = "O(log N), N being the members of the sorted set",
 .summary = "Finds the rank of a member, counted from the highest score.",
 .syntax =
     "key member [WITHSCORE]"
     "\n@7.2.0 Takes `WITHSCORE`."},
{.name = "zscan", .arity = -3, .group = "sorted-set",
 .since = "2.8.0", .flags = READONLY, .categories = CATEGORY_SORTED_SET,
 .tips = TIP_NONDETERMINISTIC,
 .keys = ONE_KEY(READ),
 .complexity = "O(1) for each call, O(N) for a complete iteration",
 .summary = "Visits the members of a sorted set with their scores, a few for each call.",
 .syntax = "key cursor:integer [MATCH pattern:pattern] [COUNT count:integer] [NOSCORES@8.0.0]"
           "\n@8.0.0 Takes NOSCORES."},
{.name = "zscore", .arity = 3, .group = "sorted-set",
 .since = "1.2.0", .flags = READONLY | FAST, .categories = CATEGORY_SORTED_SET,
 .keys = ONE_KEY(READ),
 .complexity = "O(1)",
 .summary = "Reads the score of a member.",
 .syntax = "key member"},
{.name = "zunion", .arity = -3, .group = "sorted-set",
 .since = "6.2.0", .flags = READONLY | MOVABLE_KEYS, .categories = CATEGORY_SORTED_SET,
 .keys = COUNTED_KEYS(1, READ),
 .complexity = "O(N + M log M), N being the members of all sorted sets and M those of the result",
 .summary = "Returns the members of several sorted sets.",
 .syntax =
     "numkeys:integer key [key ...] [WEIGHTS weight:integer ...] "
     "[AGGREGATE <SUM | MIN | MAX | COUNT>:aggregate] [WITHSCORES]"},
{.name = "zunionstore", .arity = -4, .group = "sorted-set",
 .since = "2.0.0", .flags = WRITE | DENYOOM | MOVABLE_KEYS, .categories = CATEGORY_SORTED_SET,
 .keys = TARGET_AND_COUNTED_KEYS,
 .complexity = "O(N + M log M), N being the members of all sorted sets and M those of the result",
 .summary = "Stores the members of several sorted sets.",
 .syntax =
     "destination:key numkeys:integer key [key ...] [WEIGHTS weight:integer ...] "
     "[AGGREGATE <SUM | MIN | MAX | COUNT>:aggregate]"},
};

/* clang-format on */

const struct command_family command_family_zset = FAMILY_OF(rows);
