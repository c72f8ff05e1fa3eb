/* family_keys: commands on keys, whatever their values are. */
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

{ROW("copy", -3, "generic", "6.2.0", WRITE | DENYOOM,
     "O(N), N being the bytes of the value", "Copies a value, with its expiry, to another key."),
 .categories = CATEGORY_KEYSPACE, .keys = TWO_KEYS(READ, OVERWRITE), .databases = DATABASES_OF_COPY,
 .syntax = "source:key destination:key [DB destination-db:integer] [REPLACE]"},
{ROW("del", -2, "generic", "1.0.0", WRITE,
     "O(keys + nodes of their lists)", "Removes keys with their values."),
 .categories = CATEGORY_KEYSPACE, .tips = TIP_MULTI_SHARD | TIP_SUM, .keys = KEYS(1, -1, REMOVE),
 .syntax = "key [key ...]"},
{ROW("dump", 2, "generic", "2.6.0", READONLY,
     "O(N), N being the bytes of the value", "Returns a value as a payload for RESTORE."),
 .categories = CATEGORY_KEYSPACE, .tips = TIP_NONDETERMINISTIC, .keys = ONE_KEY(READ),
 .syntax = "key"},
{ROW("exists", -2, "generic", "1.0.0", READONLY | FAST,
     "O(keys)", "Counts how many of the named keys exist."),
 .categories = CATEGORY_KEYSPACE, .tips = TIP_MULTI_SHARD | TIP_SUM, .keys = KEYS(1, -1, LOOK),
 .syntax = "key [key ...]"
           "\n@3.0.3 Takes several keys."},
{ROW("expire", -3, "generic", "1.0.0", WRITE | FAST,
     "O(1)", "Lets a key expire after some seconds."),
 .categories = CATEGORY_KEYSPACE, .keys = ONE_KEY(CHANGE),
 .syntax = "key seconds:integer [<NX | XX | GT | LT>:condition@7.0.0]"
           "\n@7.0.0 Takes NX, XX, GT and LT."},
{ROW("expireat", -3, "generic", "1.2.0", WRITE | FAST,
     "O(1)", "Lets a key expire at a time given in seconds since 1970."),
 .categories = CATEGORY_KEYSPACE, .keys = ONE_KEY(CHANGE),
 .syntax = "key unix-time-seconds:unix-time [<NX | XX | GT | LT>:condition@7.0.0]"
           "\n@7.0.0 Takes NX, XX, GT and LT."},
{ROW("expiretime", 2, "generic", "7.0.0", READONLY | FAST,
     "O(1)", "Tells when a key expires, in seconds since 1970."),
 .categories = CATEGORY_KEYSPACE, .keys = ONE_KEY(READ), .syntax = "key"},
{ROW("keys", 2, "generic", "1.0.0", READONLY,
     "O(N), N being the keys of the database", "Lists the keys whose names match a pattern."),
 .categories = CATEGORY_KEYSPACE | CATEGORY_DANGEROUS,
 .tips = TIP_NONDETERMINISTIC_ORDER | TIP_ALL_SHARDS, .sees_claimed = true,
 .syntax = "pattern:pattern"},
{ROW("migrate", -6, "generic", "2.6.0", WRITE | MOVABLE_KEYS | REACHES_OUT,
     "O(N), N being the bytes of the values, and the time until the other server has answered",
     "Moves keys to another server."),
 .categories = CATEGORY_KEYSPACE | CATEGORY_DANGEROUS, .tips = TIP_NONDETERMINISTIC,
 .keys = MIGRATED_KEYS, .secrets = SECRETS_OF_MIGRATE,
 .syntax = "host port:integer <key | \"\":empty-string>:key-selector destination-db:integer "
           "timeout:integer [COPY@3.0.0] [REPLACE@3.0.0] [<AUTH auth=password@4.0.7 | "
           "AUTH2 (username password):auth2@6.0.0>:authentication] [KEYS keys:key=key@3.0.6 ...]"
           "\n@3.0.0 Takes COPY and REPLACE."
           "\n@3.0.6 Takes KEYS."
           "\n@4.0.7 Takes AUTH."
           "\n@6.0.0 Takes AUTH2."},
{ROW("move", -3, "generic", "1.0.0", WRITE | FAST,
     "O(1)", "Moves a key to another database."),
 .categories = CATEGORY_KEYSPACE, .keys = ONE_KEY(EXCHANGE), .databases = DATABASES_OF_MOVE,
 .syntax = "key db:integer [REPLACE@9.2.0]"
           "\n@9.2.0 Takes REPLACE."},
{CONTAINER_ROW("object", "generic", "2.2.3", "Looks at how a value is stored.")},
{ROW("object|encoding", 3, "generic", "2.2.3", SUBCOMMAND | READONLY,
     "O(1)", "Names the encoding of a value."),
 .categories = CATEGORY_KEYSPACE, .tips = TIP_NONDETERMINISTIC, .keys = KEY_AT(2, LOOK),
 .syntax = "key"},
{ROW("object|freq", 3, "generic", "4.0.0", SUBCOMMAND | READONLY,
     "O(1)", "Tells how often a key is used, under an LFU policy."),
 .categories = CATEGORY_KEYSPACE, .tips = TIP_NONDETERMINISTIC, .keys = KEY_AT(2, LOOK),
 .syntax = "key"},
{HELP_ROW("object", "generic", "6.2.0"), .categories = CATEGORY_KEYSPACE},
{ROW("object|idletime", 3, "generic", "2.2.3", SUBCOMMAND | READONLY,
     "O(1)", "Tells for how many seconds a key has not been used."),
 .categories = CATEGORY_KEYSPACE, .tips = TIP_NONDETERMINISTIC, .keys = KEY_AT(2, LOOK),
 .syntax = "key"},
{ROW("object|refcount", 3, "generic", "2.2.3", SUBCOMMAND | READONLY,
     "O(1)", "Counts the references to a value."),
 .categories = CATEGORY_KEYSPACE, .tips = TIP_NONDETERMINISTIC, .keys = KEY_AT(2, LOOK),
 .syntax = "key"},
{ROW("persist", 2, "generic", "2.2.0", WRITE | FAST,
     "O(1)", "Takes the expiry of a key away."),
 .categories = CATEGORY_KEYSPACE, .keys = ONE_KEY(CHANGE), .syntax = "key"},
{ROW("pexpire", -3, "generic", "2.6.0", WRITE | FAST,
     "O(1)", "Lets a key expire after some milliseconds."),
 .categories = CATEGORY_KEYSPACE, .keys = ONE_KEY(CHANGE),
 .syntax = "key milliseconds:integer [<NX | XX | GT | LT>:condition@7.0.0]"
           "\n@7.0.0 Takes NX, XX, GT and LT."},
{ROW("pexpireat", -3, "generic", "2.6.0", WRITE | FAST,
     "O(1)", "Lets a key expire at a time given in milliseconds since 1970."),
 .categories = CATEGORY_KEYSPACE, .keys = ONE_KEY(CHANGE),
 .syntax = "key unix-time-milliseconds:unix-time [<NX | XX | GT | LT>:condition@7.0.0]"
           "\n@7.0.0 Takes NX, XX, GT and LT."},
{ROW("pexpiretime", 2, "generic", "7.0.0", READONLY | FAST,
     "O(1)", "Tells when a key expires, in milliseconds since 1970."),
 .categories = CATEGORY_KEYSPACE, .keys = ONE_KEY(READ), .syntax = "key"},
{ROW("pttl", 2, "generic", "2.6.0", READONLY | FAST,
     "O(1)", "Tells in how many milliseconds a key expires."),
 .categories = CATEGORY_KEYSPACE, .tips = TIP_NONDETERMINISTIC, .keys = ONE_KEY(READ),
 .syntax = "key"
           "\n@2.8.0 Replies -2 if the key does not exist."},
{ROW("randomkey", 1, "generic", "1.0.0", READONLY,
     "O(1)", "Names a key chosen at random."),
 .categories = CATEGORY_KEYSPACE,
 .tips = TIP_NONDETERMINISTIC | TIP_ALL_SHARDS | TIP_SPECIAL_RESPONSE},
{ROW("rename", 3, "generic", "1.0.0", WRITE,
     "O(1), and freeing what stood under the new name",
     "Gives a key another name, whatever that held before."),
 .categories = CATEGORY_KEYSPACE, .keys = TWO_KEYS(POP, OVERWRITE), .syntax = "key newkey:key"},
{ROW("renamenx", 3, "generic", "1.0.0", WRITE | FAST,
     "O(1)", "Gives a key another name that is not in use."),
 .categories = CATEGORY_KEYSPACE, .keys = TWO_KEYS(POP, MAKE),
 .syntax = "key newkey:key"
           "\n@3.2.0 Both names may be the same."},
{ROW("restore", -4, "generic", "2.6.0", WRITE | DENYOOM,
     "O(N), N being the bytes of the value", "Makes a key of a payload of DUMP."),
 .categories = CATEGORY_KEYSPACE | CATEGORY_DANGEROUS, .keys = ONE_KEY(OVERWRITE),
 .syntax = "key ttl:integer serialized-value [REPLACE@3.0.0] [ABSTTL@5.0.0] "
           "[IDLETIME seconds:integer@5.0.0] [FREQ frequency:integer@5.0.0]"
           "\n@3.0.0 Takes REPLACE."
           "\n@5.0.0 Takes ABSTTL."
           "\n@5.0.0 Takes IDLETIME and FREQ."},
{ROW("restore-asking", -4, "server", "3.0.0", WRITE | DENYOOM,
     "O(N), N being the bytes of the value",
     "Does what RESTORE does; nodes of a cluster send it to each other."),
 .categories = CATEGORY_KEYSPACE | CATEGORY_DANGEROUS, .keys = ONE_KEY(OVERWRITE),
 .syntax = "key ttl:integer serialized-value [REPLACE@3.0.0] [ABSTTL@5.0.0] "
           "[IDLETIME seconds:integer@5.0.0] [FREQ frequency:integer@5.0.0]"
           "\n@3.0.0 Takes REPLACE."
           "\n@5.0.0 Takes ABSTTL."
           "\n@5.0.0 Takes IDLETIME and FREQ."
           "\n!"},
{ROW("scan", -2, "generic", "2.8.0", READONLY,
     "O(1) for every call, O(N) for a complete iteration", "Walks over all keys in small steps."),
 .categories = CATEGORY_KEYSPACE,
 .tips = TIP_NONDETERMINISTIC | TIP_SPECIAL_REQUEST | TIP_SPECIAL_RESPONSE,
 .syntax = "cursor:integer [MATCH pattern:pattern] [COUNT count:integer] [TYPE type@6.0.0]"
           "\n@6.0.0 Takes TYPE."},
{ROW("sort", -2, "generic", "1.0.0", WRITE | DENYOOM | MOVABLE_KEYS,
     "O(N * log(M)), N being the elements to sort and M those returned; O(M) without sorting",
     "Sorts a list or set by its elements or by other keys; returns or stores the result."),
 .categories = CATEGORY_SET | CATEGORY_SORTED_SET | CATEGORY_LIST | CATEGORY_DANGEROUS,
 .keys = SORTED_KEY(OVERWRITE),
 .syntax = "key [BY by-pattern:pattern=pattern] [LIMIT (offset:integer count:integer):limit] "
           "[GET get-pattern:pattern=pattern [GET get-pattern:pattern ...]] [<ASC | DESC>:order] "
           "[ALPHA:sorting] [STORE destination:key]"},
{ROW("sort_ro", -2, "generic", "7.0.0", READONLY | MOVABLE_KEYS,
     "O(N * log(M)), N being the elements to sort and M those returned; O(M) without sorting",
     "Sorts a list by its elements or by other keys, and returns the result."),
 .categories = CATEGORY_SET | CATEGORY_SORTED_SET | CATEGORY_LIST | CATEGORY_DANGEROUS,
 .keys = SORTED_KEY(0),
 .syntax = "key [BY by-pattern:pattern=pattern] [LIMIT (offset:integer count:integer):limit] "
           "[GET get-pattern:pattern=pattern [GET get-pattern:pattern ...]] [<ASC | DESC>:order] "
           "[ALPHA:sorting]"},
{ROW("touch", -2, "generic", "3.2.1", READONLY | FAST | TOUCHES,
     "O(keys)", "Marks keys as used and counts those that exist."),
 .categories = CATEGORY_KEYSPACE, .tips = TIP_MULTI_SHARD | TIP_SUM, .keys = KEYS(1, -1, LOOK),
 .syntax = "key [key ...]"},
{ROW("ttl", 2, "generic", "1.0.0", READONLY | FAST,
     "O(1)", "Tells in how many seconds a key expires."),
 .categories = CATEGORY_KEYSPACE, .tips = TIP_NONDETERMINISTIC, .keys = ONE_KEY(READ),
 .syntax = "key"
           "\n@2.8.0 Replies -2 if the key does not exist."},
{ROW("type", 2, "generic", "1.0.0", READONLY | FAST,
     "O(1)", "Names the type of a value."),
 .categories = CATEGORY_KEYSPACE, .keys = ONE_KEY(LOOK), .syntax = "key"},
{ROW("unlink", -2, "generic", "4.0.0", WRITE | FAST,
     "O(keys); large values are freed by another thread",
     "Removes keys at once and frees their values later."),
 .categories = CATEGORY_KEYSPACE, .tips = TIP_MULTI_SHARD | TIP_SUM, .keys = KEYS(1, -1, REMOVE),
 .syntax = "key [key ...]"},
};

/* clang-format on */

const struct command_family command_family_keys = FAMILY_OF(rows);
