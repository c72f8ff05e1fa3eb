/* family_keys: the commands of keys, whatever their values are. */
#include "commands/commands.h"
#include "server/server_commands.h"
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

{"copy", copy_command, -3, W|M, TWO_KEYS(READ, WRITE), "generic", "6.2.0",
 "O(N), N being the bytes of the value",
 "Copies a value, with its expiry, to another key.",
 "source:key destination:key [DB destination-db:integer] [REPLACE]"},
{"del", del_command, -2, W|SPLIT_SUM, KEYS(1, -1, REMOVE), "generic", "1.0.0",
 "O(keys + nodes of their lists)",
 "Removes keys with their values.",
 "key [key ...]"},
{"dump", dump_command, 2, R|VARIES, ONE_KEY(READ), "generic", "2.6.0",
 "O(N), N being the bytes of the value",
 "Returns a value as a payload for RESTORE.",
 "key"},
{"exists", exists_command, -2, R|F|SPLIT_SUM, KEYS(1, -1, LOOK), "generic", "1.0.0",
 "O(keys)",
 "Counts how many of the named keys exist.",
 "key [key ...]"
 "\n@3.0.3 Takes several keys."},
{"expire", expire_command, -3, W|F, ONE_KEY(CHANGE), "generic", "1.0.0",
 "O(1)",
 "Lets a key expire after some seconds.",
 "key seconds:integer [<NX | XX | GT | LT>:condition@7.0.0]"
 "\n@7.0.0 Takes NX, XX, GT and LT."},
{"expireat", expireat_command, -3, W|F, ONE_KEY(CHANGE), "generic", "1.2.0",
 "O(1)",
 "Lets a key expire at a time given in seconds since 1970.",
 "key unix-time-seconds:unix-time [<NX | XX | GT | LT>:condition@7.0.0]"
 "\n@7.0.0 Takes NX, XX, GT and LT."},
{"expiretime", expiretime_command, 2, R|F, ONE_KEY(READ), "generic", "7.0.0",
 "O(1)",
 "Tells when a key expires, in seconds since 1970.",
 "key"},
{"keys", keys_command, 2, R|UNORDERED|SHARDS, NO_KEYS, "generic", "1.0.0",
 "O(N), N being the keys of the database",
 "Lists the keys whose names match a pattern.",
 "pattern:pattern"},
{"migrate", migrate_command, -6, W|K|VARIES|COMMAND_REACHES_OUT, MIGRATED_KEYS, "generic", "2.6.0",
 "O(N), N being the bytes of the values, and the time until the other server has answered",
 "Moves keys to another server.",
 "host port:integer <key | \"\":empty-string>:key-selector destination-db:integer timeout:integer "
 "[COPY@3.0.0] [REPLACE@3.0.0] "
 "[<AUTH auth=password@4.0.7 | AUTH2 (username password):auth2@6.0.0>:authentication] "
 "[KEYS keys:key=key@3.0.6 ...]"
 "\n@3.0.0 Takes COPY and REPLACE."
 "\n@3.0.6 Takes KEYS."
 "\n@4.0.7 Takes AUTH."
 "\n@6.0.0 Takes AUTH2."},
{"move", move_command, 3, W|F, ONE_KEY(KEY_RW | KEY_ACCESS | KEY_UPDATE), "generic", "1.0.0",
 "O(1)",
 "Moves a key to another database.",
 "key db:integer"},
{"object", NULL, -2, C, NO_KEYS, "generic", "2.2.3",
 "Depends on the subcommand",
 "Looks at how a value is stored.",
 ""},
{"object|encoding", object_encoding_command, 3, X|R|VARIES, KEY_AT(2, LOOK), "generic", "2.2.3",
 "O(1)",
 "Names the encoding of a value.",
 "key"},
{"object|freq", object_freq_command, 3, X|R|VARIES, KEY_AT(2, LOOK), "generic", "4.0.0",
 "O(1)",
 "Tells how often a key is used, under an LFU policy.",
 "key"},
{"object|help", object_help_command, 2, P, NO_KEYS, "generic", "6.2.0",
 "O(1)",
 "Explains the subcommands.",
 ""},
{"object|idletime", object_idletime_command, 3, X|R|VARIES, KEY_AT(2, LOOK), "generic", "2.2.3",
 "O(1)",
 "Tells for how many seconds a key has not been used.",
 "key"},
{"object|refcount", object_refcount_command, 3, X|R|VARIES, KEY_AT(2, LOOK), "generic", "2.2.3",
 "O(1)",
 "Counts the references to a value.",
 "key"},
{"persist", persist_command, 2, W|F, ONE_KEY(CHANGE), "generic", "2.2.0",
 "O(1)",
 "Takes the expiry of a key away.",
 "key"},
{"pexpire", pexpire_command, -3, W|F, ONE_KEY(CHANGE), "generic", "2.6.0",
 "O(1)",
 "Lets a key expire after some milliseconds.",
 "key milliseconds:integer [<NX | XX | GT | LT>:condition@7.0.0]"
 "\n@7.0.0 Takes NX, XX, GT and LT."},
{"pexpireat", pexpireat_command, -3, W|F, ONE_KEY(CHANGE), "generic", "2.6.0",
 "O(1)",
 "Lets a key expire at a time given in milliseconds since 1970.",
 "key unix-time-milliseconds:unix-time [<NX | XX | GT | LT>:condition@7.0.0]"
 "\n@7.0.0 Takes NX, XX, GT and LT."},
{"pexpiretime", pexpiretime_command, 2, R|F, ONE_KEY(READ), "generic", "7.0.0",
 "O(1)",
 "Tells when a key expires, in milliseconds since 1970.",
 "key"},
{"pttl", pttl_command, 2, R|F|VARIES, ONE_KEY(READ), "generic", "2.6.0",
 "O(1)",
 "Tells in how many milliseconds a key expires.",
 "key"
 "\n@2.8.0 Replies -2 if the key does not exist."},
{"randomkey", randomkey_command, 1, R|VARIES|SHARDS_JOIN, NO_KEYS, "generic", "1.0.0",
 "O(1)",
 "Names a key chosen at random.",
 ""},
{"rename", rename_command, 3, W, TWO_KEYS(POP, WRITE), "generic", "1.0.0",
 "O(1), and freeing what stood under the new name",
 "Gives a key another name, whatever that held before.",
 "key newkey:key"},
{"renamenx", renamenx_command, 3, W|F, TWO_KEYS(POP, KEY_OW | KEY_INSERT), "generic", "1.0.0",
 "O(1)",
 "Gives a key another name that is not in use.",
 "key newkey:key"
 "\n@3.2.0 Both names may be the same."},
{"restore", restore_command, -4, W|M, ONE_KEY(WRITE), "generic", "2.6.0",
 "O(N), N being the bytes of the value",
 "Makes a key of a payload of DUMP.",
 "key ttl:integer serialized-value [REPLACE@3.0.0] [ABSTTL@5.0.0] [IDLETIME seconds:integer@5.0.0] "
 "[FREQ frequency:integer@5.0.0]"
 "\n@3.0.0 Takes REPLACE."
 "\n@5.0.0 Takes ABSTTL."
 "\n@5.0.0 Takes IDLETIME and FREQ."},
{"scan", scan_command, -2, R|VARIES|BY_CURSOR, NO_KEYS, "generic", "2.8.0",
 "O(1) for every call, O(N) for a complete iteration",
 "Walks over all keys in small steps.",
 "cursor:integer [MATCH pattern:pattern] [COUNT count:integer] [TYPE type@6.0.0]"
 "\n@6.0.0 Takes TYPE."},
{"sort", sort_command, -2, W|M|K, SORT_KEYS(WRITE), "generic", "1.0.0",
 "O(N * log(M)), N being the elements to sort and M those returned; O(M) without sorting",
 "Sorts a list by its elements or by other keys, and returns or stores the result.",
 "key [BY by-pattern:pattern=pattern] [LIMIT (offset:integer count:integer):limit] "
 "[GET get-pattern:pattern=pattern [GET get-pattern:pattern ...]] [<ASC | DESC>:order] "
 "[ALPHA:sorting] [STORE destination:key]"},
{"sort_ro", sort_ro_command, -2, R|K, SORT_KEYS(0), "generic", "7.0.0",
 "O(N * log(M)), N being the elements to sort and M those returned; O(M) without sorting",
 "Sorts a list by its elements or by other keys, and returns the result.",
 "key [BY by-pattern:pattern=pattern] [LIMIT (offset:integer count:integer):limit] "
 "[GET get-pattern:pattern=pattern [GET get-pattern:pattern ...]] [<ASC | DESC>:order] "
 "[ALPHA:sorting]"},
{"touch", touch_command, -2, R|F|SPLIT_SUM|COMMAND_TOUCHES, KEYS(1, -1, LOOK), "generic", "3.2.1",
 "O(keys)",
 "Marks keys as used and counts those that exist.",
 "key [key ...]"},
{"ttl", ttl_command, 2, R|F|VARIES, ONE_KEY(READ), "generic", "1.0.0",
 "O(1)",
 "Tells in how many seconds a key expires.",
 "key"
 "\n@2.8.0 Replies -2 if the key does not exist."},
{"type", type_command, 2, R|F, ONE_KEY(LOOK), "generic", "1.0.0",
 "O(1)",
 "Names the type of a value.",
 "key"},
{"unlink", unlink_command, -2, W|F|SPLIT_SUM, KEYS(1, -1, REMOVE), "generic", "4.0.0",
 "O(keys); large values are freed by another thread",
 "Removes keys at once and frees their values later.",
 "key [key ...]"},
{"wait", wait_command, 3, B|SHARDS_MIN, NO_KEYS, "generic", "3.0.0",
 "O(1)",
 "Waits until replicas have the writes of this connection.",
 "numreplicas:integer timeout:integer"},
{"waitaof", waitaof_command, 4, B|SHARDS_MIN, NO_KEYS, "generic", "7.2.0",
 "O(1)",
 "Waits until the writes of this connection are on the disk.",
 "numlocal:integer numreplicas:integer timeout:integer"},
};

/* clang-format on */

const struct command_family command_family_keys = FAMILY_OF(rows);
