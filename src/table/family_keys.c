/* family_keys: commands on keys, whatever their values are. */
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

{.name = "copy", .arity = -3, .group = "generic", .since = "6.2.0",
 .flags = WRITE | DENYOOM, .categories = CATEGORY_KEYSPACE,
 .keys = TWO_KEYS(READ, OVERWRITE),
 .databases = DATABASES_OF_COPY,
 .complexity = "O(N), N being the bytes of the value",
 .summary = "Copies a value, with its expiry, to another key.",
 .syntax = "source:key destination:key [DB destination-db:integer] [REPLACE]"},
{.name = "del", .arity = -2, .group = "generic", .since = "1.0.0",
 .flags = WRITE, .categories = CATEGORY_KEYSPACE, .tips = TIP_MULTI_SHARD | TIP_SUM,
 .keys = KEYS(1, -1, REMOVE),
 .complexity = "O(keys + nodes of their lists)",
 .summary = "Removes keys with their values.",
 .syntax = "key [key ...]"},
{.name = "dump", .arity = 2, .group = "generic", .since = "2.6.0",
 .flags = READONLY, .categories = CATEGORY_KEYSPACE, .tips = TIP_NONDETERMINISTIC,
 .keys = ONE_KEY(READ),
 .complexity = "O(N), N being the bytes of the value",
 .summary = "Returns a value as a payload for RESTORE.",
 .syntax = "key"},
{.name = "exists", .arity = -2, .group = "generic", .since = "1.0.0",
 .flags = READONLY | FAST, .categories = CATEGORY_KEYSPACE, .tips = TIP_MULTI_SHARD | TIP_SUM,
 .keys = KEYS(1, -1, LOOK),
 .complexity = "O(keys)",
 .summary = "Counts how many of the named keys exist.",
 .syntax = "key [key ...]"
           "\n@3.0.3 Takes several keys."},
{.name = "expire", .arity = -3, .group = "generic", .since = "1.0.0",
 .flags = WRITE | FAST, .categories = CATEGORY_KEYSPACE,
 .keys = ONE_KEY(CHANGE),
 .complexity = "O(1)",
 .summary = "Lets a key expire after some seconds.",
 .syntax = "key seconds:integer [<NX | XX | GT | LT>:condition@7.0.0]"
           "\n@7.0.0 Takes NX, XX, GT and LT."},
{.name = "expireat", .arity = -3, .group = "generic", .since = "1.2.0",
 .flags = WRITE | FAST, .categories = CATEGORY_KEYSPACE,
 .keys = ONE_KEY(CHANGE),
 .complexity = "O(1)",
 .summary = "Lets a key expire at a time given in seconds since 1970.",
 .syntax = "key unix-time-seconds:unix-time [<NX | XX | GT | LT>:condition@7.0.0]"
           "\n@7.0.0 Takes NX, XX, GT and LT."},
{.name = "expiretime", .arity = 2, .group = "generic", .since = "7.0.0",
 .flags = READONLY | FAST, .categories = CATEGORY_KEYSPACE,
 .keys = ONE_KEY(READ),
 .complexity = "O(1)",
 .summary = "Tells when a key expires, in seconds since 1970.",
 .syntax = "key"},
{.name = "keys", .arity = 2, .group = "generic", .since = "1.0.0",
 .flags = READONLY, .categories = CATEGORY_KEYSPACE | CATEGORY_DANGEROUS,
 .tips = TIP_NONDETERMINISTIC_ORDER | TIP_ALL_SHARDS,
 .complexity = "O(N), N being the keys of the database",
 .summary = "Lists the keys whose names match a pattern.",
 .syntax = "pattern:pattern"},
{.name = "migrate", .arity = -6, .group = "generic", .since = "2.6.0",
 .flags = WRITE | MOVABLE_KEYS | REACHES_OUT, .categories = CATEGORY_KEYSPACE | CATEGORY_DANGEROUS,
 .tips = TIP_NONDETERMINISTIC,
 .keys = MIGRATED_KEYS,
 .secrets = SECRETS_OF_MIGRATE,
 .complexity =
     "O(N), N being the bytes of the values, and the time until the other server has answered",
 .summary = "Moves keys to another server.",
 .syntax =
     "host port:integer <key | \"\":empty-string>:key-selector destination-db:integer "
     "timeout:integer [COPY@3.0.0] [REPLACE@3.0.0] [<AUTH auth=password@4.0.7 | "
     "AUTH2 (username password):auth2@6.0.0>:authentication] [KEYS keys:key=key@3.0.6 ...]"
     "\n@3.0.0 Takes COPY and REPLACE."
     "\n@3.0.6 Takes KEYS."
     "\n@4.0.7 Takes AUTH."
     "\n@6.0.0 Takes AUTH2."},
{.name = "move", .arity = -3, .group = "generic", .since = "1.0.0",
 .flags = WRITE | FAST, .categories = CATEGORY_KEYSPACE,
 .keys = ONE_KEY(EXCHANGE),
 .databases = DATABASES_OF_MOVE,
 .complexity = "O(1)",
 .summary = "Moves a key to another database.",
 .syntax = "key db:integer [REPLACE@9.2.0]"
           "\n@9.2.0 Takes REPLACE."},
{CONTAINER_ROW("object", "generic", "2.2.3",
               "Looks at how a value is stored.")},
{.name = "object|encoding", .arity = 3,
 .group = "generic", .since = "2.2.3",
 .flags = SUBCOMMAND | READONLY, .categories = CATEGORY_KEYSPACE, .tips = TIP_NONDETERMINISTIC,
 .keys = KEY_AT(2, LOOK),
 .complexity = "O(1)",
 .summary = "Names the encoding of a value.",
 .syntax = "key"},
{.name = "object|freq", .arity = 3,
 .group = "generic", .since = "4.0.0",
 .flags = SUBCOMMAND | READONLY, .categories = CATEGORY_KEYSPACE, .tips = TIP_NONDETERMINISTIC,
 .keys = KEY_AT(2, LOOK),
 .complexity = "O(1)",
 .summary = "Tells how often a key is used, under an LFU policy.",
 .syntax = "key"},
{HELP_ROW("object", "generic", "6.2.0", CATEGORY_KEYSPACE)},
{.name = "object|idletime", .arity = 3,
 .group = "generic", .since = "2.2.3",
 .flags = SUBCOMMAND | READONLY, .categories = CATEGORY_KEYSPACE, .tips = TIP_NONDETERMINISTIC,
 .keys = KEY_AT(2, LOOK),
 .complexity = "O(1)",
 .summary = "Tells for how many seconds a key has not been used.",
 .syntax = "key"},
{.name = "object|refcount", .arity = 3,
 .group = "generic", .since = "2.2.3",
 .flags = SUBCOMMAND | READONLY, .categories = CATEGORY_KEYSPACE, .tips = TIP_NONDETERMINISTIC,
 .keys = KEY_AT(2, LOOK),
 .complexity = "O(1)",
 .summary = "Counts the references to a value.",
 .syntax = "key"},
{.name = "persist", .arity = 2, .group = "generic", .since = "2.2.0",
 .flags = WRITE | FAST, .categories = CATEGORY_KEYSPACE,
 .keys = ONE_KEY(CHANGE),
 .complexity = "O(1)",
 .summary = "Takes the expiry of a key away.",
 .syntax = "key"},
{.name = "pexpire", .arity = -3, .group = "generic", .since = "2.6.0",
 .flags = WRITE | FAST, .categories = CATEGORY_KEYSPACE,
 .keys = ONE_KEY(CHANGE),
 .complexity = "O(1)",
 .summary = "Lets a key expire after some milliseconds.",
 .syntax = "key milliseconds:integer [<NX | XX | GT | LT>:condition@7.0.0]"
           "\n@7.0.0 Takes NX, XX, GT and LT."},
{.name = "pexpireat", .arity = -3, .group = "generic", .since = "2.6.0",
 .flags = WRITE | FAST, .categories = CATEGORY_KEYSPACE,
 .keys = ONE_KEY(CHANGE),
 .complexity = "O(1)",
 .summary = "Lets a key expire at a time given in milliseconds since 1970.",
 .syntax = "key unix-time-milliseconds:unix-time [<NX | XX | GT | LT>:condition@7.0.0]"
           "\n@7.0.0 Takes NX, XX, GT and LT."},
{.name = "pexpiretime", .arity = 2,
 .group = "generic", .since = "7.0.0",
 .flags = READONLY | FAST, .categories = CATEGORY_KEYSPACE,
 .keys = ONE_KEY(READ),
 .complexity = "O(1)",
 .summary = "Tells when a key expires, in milliseconds since 1970.",
 .syntax = "key"},
{.name = "pttl", .arity = 2, .group = "generic", .since = "2.6.0",
 .flags = READONLY | FAST, .categories = CATEGORY_KEYSPACE, .tips = TIP_NONDETERMINISTIC,
 .keys = ONE_KEY(READ),
 .complexity = "O(1)",
 .summary = "Tells in how many milliseconds a key expires.",
 .syntax = "key"
           "\n@2.8.0 Replies -2 if the key does not exist."},
{.name = "randomkey", .arity = 1, .group = "generic", .since = "1.0.0",
 .flags = READONLY, .categories = CATEGORY_KEYSPACE,
 .tips = TIP_NONDETERMINISTIC | TIP_ALL_SHARDS | TIP_SPECIAL_RESPONSE,
 .complexity = "O(1)",
 .summary = "Names a key chosen at random."},
{.name = "rename", .arity = 3, .group = "generic", .since = "1.0.0",
 .flags = WRITE, .categories = CATEGORY_KEYSPACE,
 .keys = TWO_KEYS(POP, OVERWRITE),
 .complexity = "O(1), and freeing what stood under the new name",
 .summary = "Gives a key another name, whatever that held before.",
 .syntax = "key newkey:key"},
{.name = "renamenx", .arity = 3, .group = "generic", .since = "1.0.0",
 .flags = WRITE | FAST, .categories = CATEGORY_KEYSPACE,
 .keys = TWO_KEYS(POP, MAKE),
 .complexity = "O(1)",
 .summary = "Gives a key another name that is not in use.",
 .syntax = "key newkey:key"
           "\n@3.2.0 Both names may be the same."},
{.name = "restore", .arity = -4, .group = "generic", .since = "2.6.0",
 .flags = WRITE | DENYOOM, .categories = CATEGORY_KEYSPACE | CATEGORY_DANGEROUS,
 .keys = ONE_KEY(OVERWRITE),
 .complexity = "O(N), N being the bytes of the value",
 .summary = "Makes a key of a payload of DUMP.",
 .syntax =
     "key ttl:integer serialized-value [REPLACE@3.0.0] [ABSTTL@5.0.0] "
     "[IDLETIME seconds:integer@5.0.0] [FREQ frequency:integer@5.0.0]"
     "\n@3.0.0 Takes REPLACE."
     "\n@5.0.0 Takes ABSTTL."
     "\n@5.0.0 Takes IDLETIME and FREQ."},
{.name = "restore-asking", .arity = -4, .group = "server", .since = "3.0.0",
 .flags = WRITE | DENYOOM, .categories = CATEGORY_KEYSPACE | CATEGORY_DANGEROUS,
 .keys = ONE_KEY(OVERWRITE),
 .complexity = "O(N), N being the bytes of the value",
 .summary = "Does what RESTORE does; nodes of a cluster send it to each other.",
 .syntax =
     "key ttl:integer serialized-value [REPLACE@3.0.0] [ABSTTL@5.0.0] "
     "[IDLETIME seconds:integer@5.0.0] [FREQ frequency:integer@5.0.0]"
     "\n@3.0.0 Takes REPLACE."
     "\n@5.0.0 Takes ABSTTL."
     "\n@5.0.0 Takes IDLETIME and FREQ."
     "\n!"},
{.name = "scan", .arity = -2, .group = "generic", .since = "2.8.0",
 .flags = READONLY, .categories = CATEGORY_KEYSPACE,
 .tips = TIP_NONDETERMINISTIC | TIP_SPECIAL_REQUEST | TIP_SPECIAL_RESPONSE,
 .complexity = "O(1) for every call, O(N) for a complete iteration",
 .summary = "Walks over all keys in small steps.",
 .syntax = "cursor:integer [MATCH pattern:pattern] [COUNT count:integer] [TYPE type@6.0.0]"
           "\n@6.0.0 Takes TYPE."},
{.name = "sort", .arity = -2, .group = "generic", .since = "1.0.0",
 .flags = WRITE | DENYOOM | MOVABLE_KEYS,
 .categories = CATEGORY_SET | CATEGORY_SORTED_SET | CATEGORY_LIST | CATEGORY_DANGEROUS,
 .keys = SORTED_KEY(OVERWRITE),
 .complexity =
     "O(N * log(M)), N being the elements to sort and M those returned; O(M) without sorting",
 .summary = "Sorts a list or set by its elements or by other keys; returns or stores the result.",
 .syntax =
     "key [BY by-pattern:pattern=pattern] [LIMIT (offset:integer count:integer):limit] "
     "[GET get-pattern:pattern=pattern [GET get-pattern:pattern ...]] [<ASC | DESC>:order] "
     "[ALPHA:sorting] [STORE destination:key]"},
{.name = "sort_ro", .arity = -2, .group = "generic", .since = "7.0.0",
 .flags = READONLY | MOVABLE_KEYS,
 .categories = CATEGORY_SET | CATEGORY_SORTED_SET | CATEGORY_LIST | CATEGORY_DANGEROUS,
 .keys = SORTED_KEY(0),
 .complexity =
     "O(N * log(M)), N being the elements to sort and M those returned; O(M) without sorting",
 .summary = "Sorts a list by its elements or by other keys, and returns the result.",
 .syntax =
     "key [BY by-pattern:pattern=pattern] [LIMIT (offset:integer count:integer):limit] "
     "[GET get-pattern:pattern=pattern [GET get-pattern:pattern ...]] [<ASC | DESC>:order] "
     "[ALPHA:sorting]"},
{.name = "touch", .arity = -2, .group = "generic", .since = "3.2.1",
 .flags = READONLY | FAST | TOUCHES, .categories = CATEGORY_KEYSPACE,
 .tips = TIP_MULTI_SHARD | TIP_SUM,
 .keys = KEYS(1, -1, LOOK),
 .complexity = "O(keys)",
 .summary = "Marks keys as used and counts those that exist.",
 .syntax = "key [key ...]"},
{.name = "ttl", .arity = 2, .group = "generic", .since = "1.0.0",
 .flags = READONLY | FAST, .categories = CATEGORY_KEYSPACE, .tips = TIP_NONDETERMINISTIC,
 .keys = ONE_KEY(READ),
 .complexity = "O(1)",
 .summary = "Tells in how many seconds a key expires.",
 .syntax = "key"
           "\n@2.8.0 Replies -2 if the key does not exist."},
{.name = "type", .arity = 2, .group = "generic", .since = "1.0.0",
 .flags = READONLY | FAST, .categories = CATEGORY_KEYSPACE,
 .keys = ONE_KEY(LOOK),
 .complexity = "O(1)",
 .summary = "Names the type of a value.",
 .syntax = "key"},
{.name = "unlink", .arity = -2, .group = "generic", .since = "4.0.0",
 .flags = WRITE | FAST, .categories = CATEGORY_KEYSPACE, .tips = TIP_MULTI_SHARD | TIP_SUM,
 .keys = KEYS(1, -1, REMOVE),
 .complexity = "O(keys); large values are freed by another thread",
 .summary = "Removes keys at once and frees their values later.",
 .syntax = "key [key ...]"},
};

/* clang-format on */

const struct command_family command_family_keys = FAMILY_OF(rows);
