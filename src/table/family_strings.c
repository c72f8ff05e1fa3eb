/* family_strings: the commands of strings, and of the bits in them. */
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

/* --- string --- */
{.name = "append", .arity = 3, .group = "string", .since = "2.0.0",
 .flags = WRITE | DENYOOM | FAST, .categories = CATEGORY_STRING,
 .keys = ONE_KEY(PUSH),
 .complexity = "O(M), M being the length of the value, spread over many calls",
 .summary = "Adds a value at the end of a string, making the string if there is none.",
 .syntax = "key value"},
{.name = "decr", .arity = 2, .group = "string", .since = "1.0.0",
 .flags = WRITE | DENYOOM | FAST, .categories = CATEGORY_STRING,
 .keys = ONE_KEY(EXCHANGE),
 .complexity = "O(1)",
 .summary = "Subtracts one from a number.",
 .syntax = "key"},
{.name = "decrby", .arity = 3, .group = "string", .since = "1.0.0",
 .flags = WRITE | DENYOOM | FAST, .categories = CATEGORY_STRING,
 .keys = ONE_KEY(EXCHANGE),
 .complexity = "O(1)",
 .summary = "Subtracts from a number.",
 .syntax = "key decrement:integer"},
{.name = "delex", .arity = -2, .group = "string", .since = "8.4.0",
 .flags = WRITE | FAST, .categories = CATEGORY_STRING,
 .keys = NOTED_KEY(POP, "Tells something of the value, if there is a condition."),
 .complexity = "O(1), but O(N) for digests, N being the length of the string",
 .summary = "Removes a key, perhaps only if its string is, or is not, the one that is given.",
 .syntax = "key [<IFEQ ifeq-value:string | IFNE ifne-value:string | IFDEQ ifdeq-digest:string | "
           "IFDNE ifdne-digest:string>:condition]"},
{.name = "delifeq", .arity = 3, .group = "string", .since = "9.0.0",
 .flags = WRITE | FAST, .categories = CATEGORY_STRING,
 .keys = ONE_KEY(POP),
 .complexity = "O(1)",
 .summary = "Removes a key if its string is the one that is given.",
 .syntax = "key value"},
{.name = "digest", .arity = 2, .group = "string", .since = "8.4.0",
 .flags = READONLY | FAST, .categories = CATEGORY_STRING,
 .keys = ONE_KEY(READ),
 .complexity = "O(N), N being the length of the string",
 .summary = "Replies a hash of a string, by which conditions can name it.",
 .syntax = "key"},
{.name = "get", .arity = 2, .group = "string", .since = "1.0.0",
 .flags = READONLY | FAST, .categories = CATEGORY_STRING,
 .keys = ONE_KEY(READ),
 .complexity = "O(1)",
 .summary = "Reads a string.",
 .syntax = "key"},
{.name = "getdel", .arity = 2, .group = "string", .since = "6.2.0",
 .flags = WRITE | FAST, .categories = CATEGORY_STRING,
 .keys = ONE_KEY(POP),
 .complexity = "O(1)",
 .summary = "Reads a string and removes its key.",
 .syntax = "key"},
{.name = "getex", .arity = -2, .group = "string", .since = "6.2.0",
 .flags = WRITE | FAST, .categories = CATEGORY_STRING,
 .keys = NOTED_KEY(EXCHANGE, "Updates the key because it may change its expiry."),
 .complexity = "O(1)",
 .summary = "Reads a string and sets or takes away the time at which its key expires.",
 .syntax =
     "key [<EX seconds:integer | PX milliseconds:integer | EXAT unix-time-seconds:unix-time | "
     "PXAT unix-time-milliseconds:unix-time | PERSIST>:expiration]"},
{.name = "getrange", .arity = 4, .group = "string", .since = "2.4.0",
 .flags = READONLY, .categories = CATEGORY_STRING,
 .keys = ONE_KEY(READ),
 .complexity = "O(M), M being the length of the part",
 .summary = "Reads the part of a string between two positions.",
 .syntax = "key start:integer end:integer"},
{.name = "getset", .arity = 3, .group = "string", .since = "1.0.0",
 .flags = WRITE | DENYOOM | FAST, .categories = CATEGORY_STRING,
 .keys = ONE_KEY(EXCHANGE),
 .complexity = "O(1)",
 .summary = "Stores a string and returns the one that was there before.",
 .syntax = "key value"
           "\n~6.2.0 `SET` with `GET`"},
{.name = "incr", .arity = 2, .group = "string", .since = "1.0.0",
 .flags = WRITE | DENYOOM | FAST, .categories = CATEGORY_STRING,
 .keys = ONE_KEY(EXCHANGE),
 .complexity = "O(1)",
 .summary = "Adds one to a number.",
 .syntax = "key"},
{.name = "incrby", .arity = 3, .group = "string", .since = "1.0.0",
 .flags = WRITE | DENYOOM | FAST, .categories = CATEGORY_STRING,
 .keys = ONE_KEY(EXCHANGE),
 .complexity = "O(1)",
 .summary = "Adds to a number.",
 .syntax = "key increment:integer"},
{.name = "incrbyfloat", .arity = 3, .group = "string", .since = "2.6.0",
 .flags = WRITE | DENYOOM | FAST, .categories = CATEGORY_STRING,
 .keys = ONE_KEY(EXCHANGE),
 .complexity = "O(1)",
 .summary = "Adds to a number, which may have a fraction.",
 .syntax = "key increment:double"},
{.name = "increx", .arity = -2, .group = "string", .since = "8.8.0",
 .flags = WRITE | DENYOOM | FAST, .categories = CATEGORY_STRING,
 .keys = ONE_KEY(EXCHANGE),
 .complexity = "O(1)",
 .summary = "Adds to a number within bounds, and sets or takes away the expiry of its key.",
 .syntax =
     "key [<BYFLOAT float-increment:double | BYINT integer-increment:integer>:increment] "
     "[LBOUND lowerbound:string] [UBOUND upperbound:string] [SATURATE] "
     "[<EX seconds:integer | PX milliseconds:integer | EXAT unix-time-seconds:unix-time | "
     "PXAT unix-time-milliseconds:unix-time | PERSIST>:expiration] [ENX]"},
{.name = "lcs", .arity = -3, .group = "string", .since = "7.0.0",
 .flags = READONLY, .categories = CATEGORY_STRING,
 .keys = KEYS(1, 2, READ),
 .complexity = "O(N * M / 64), N and M being the lengths of the strings",
 .summary = "Finds the longest subsequence that two strings have in common.",
 .syntax = "key1:key key2:key [LEN] [IDX] [MINMATCHLEN min-match-len:integer] [WITHMATCHLEN]"},
{.name = "mget", .arity = -2, .group = "string", .since = "1.0.0",
 .flags = READONLY | FAST, .categories = CATEGORY_STRING, .tips = TIP_MULTI_SHARD,
 .keys = KEYS(1, -1, READ),
 .complexity = "O(keys)",
 .summary = "Reads several strings.",
 .syntax = "key [key ...]"},
{.name = "mset", .arity = -3, .group = "string", .since = "1.0.1",
 .flags = WRITE | DENYOOM, .categories = CATEGORY_STRING,
 .tips = TIP_MULTI_SHARD | TIP_ALL_SUCCEEDED,
 .keys = PAIRS(OVERWRITE),
 .complexity = "O(keys)",
 .summary = "Stores several strings.",
 .syntax = "(key value):data ..."},
{.name = "msetex", .arity = -4, .group = "string", .since = "8.4.0",
 .flags = WRITE | DENYOOM | MOVABLE_KEYS, .categories = CATEGORY_STRING,
 .tips = TIP_MULTI_SHARD | TIP_ALL_SUCCEEDED,
 .keys = COUNTED_PAIRS(1, OVERWRITE),
 .complexity = "O(keys)",
 .summary = "Stores several strings, perhaps only if all or none of the keys exist, and sets when "
            "they expire.",
 .syntax =
     "numkeys:integer (key value):data ... [<NX | XX>:condition] [<EX seconds:integer | "
     "PX milliseconds:integer | EXAT unix-time-seconds:unix-time | "
     "PXAT unix-time-milliseconds:unix-time | KEEPTTL>:expiration]"},
{.name = "msetnx", .arity = -3, .group = "string", .since = "1.0.1",
 .flags = WRITE | DENYOOM, .categories = CATEGORY_STRING,
 .keys = PAIRS(MAKE),
 .complexity = "O(keys)",
 .summary = "Stores several strings if none of the keys exists.",
 .syntax = "(key value):data ..."},
{.name = "psetex", .arity = 4, .group = "string", .since = "2.6.0",
 .flags = WRITE | DENYOOM, .categories = CATEGORY_STRING,
 .keys = ONE_KEY(OVERWRITE),
 .complexity = "O(1)",
 .summary = "Stores a string that expires after a number of milliseconds.",
 .syntax = "key milliseconds:integer value"
           "\n~2.6.12 `SET` with `PX`"},
{.name = "set", .arity = -3, .group = "string", .since = "1.0.0",
 .flags = WRITE | DENYOOM, .categories = CATEGORY_STRING,
 .keys = SPECIAL_KEY(KEYS_OF_SET, EXCHANGE | KEY_VARIABLE,
                     "Reads the old value only with the option GET, or with one that compares."),
 .complexity = "O(1)",
 .summary = "Stores a string, whatever the key held before.",
 .syntax =
     "key value [<NX@2.6.12 | XX@2.6.12 | IFEQ ifeq-value:string@8.4.0 | "
     "IFNE ifne-value:string@8.4.0 | IFDEQ ifdeq-digest:string@8.4.0 | "
     "IFDNE ifdne-digest:string@8.4.0>:condition] [GET@6.2.0] [<EX seconds:integer@2.6.12 | "
     "PX milliseconds:integer@2.6.12 | EXAT unix-time-seconds:unix-time@6.2.0 | "
     "PXAT unix-time-milliseconds:unix-time@6.2.0 | KEEPTTL@6.0.0>:expiration]"
     "\n@2.6.12 Takes EX, PX, NX and XX."
     "\n@6.0.0 Takes KEEPTTL."
     "\n@6.2.0 Takes GET, EXAT and PXAT."
     "\n@7.0.0 NX and GET may stand together."
     "\n@8.4.0 Takes IFEQ, IFNE, IFDEQ and IFDNE."},
{.name = "setex", .arity = 4, .group = "string", .since = "2.0.0",
 .flags = WRITE | DENYOOM, .categories = CATEGORY_STRING,
 .keys = ONE_KEY(OVERWRITE),
 .complexity = "O(1)",
 .summary = "Stores a string that expires after a number of seconds.",
 .syntax = "key seconds:integer value"
           "\n~2.6.12 `SET` with `EX`"},
{.name = "setnx", .arity = 3, .group = "string", .since = "1.0.0",
 .flags = WRITE | DENYOOM | FAST, .categories = CATEGORY_STRING,
 .keys = ONE_KEY(MAKE),
 .complexity = "O(1)",
 .summary = "Stores a string if the key does not exist.",
 .syntax = "key value"
           "\n~2.6.12 `SET` with `NX`"},
{.name = "setrange", .arity = 4, .group = "string", .since = "2.2.0",
 .flags = WRITE | DENYOOM, .categories = CATEGORY_STRING,
 .keys = ONE_KEY(CHANGE),
 .complexity = "O(M), M being the length of the value and of the gap before it",
 .summary = "Overwrites a part of a string, making it longer where need be.",
 .syntax = "key offset:integer value"},
{.name = "strlen", .arity = 2, .group = "string", .since = "2.2.0",
 .flags = READONLY | FAST, .categories = CATEGORY_STRING,
 .keys = ONE_KEY(LOOK),
 .complexity = "O(1)",
 .summary = "Tells the length of a string.",
 .syntax = "key"},
{.name = "substr", .arity = 4, .group = "string", .since = "1.0.0",
 .flags = READONLY, .categories = CATEGORY_STRING,
 .keys = ONE_KEY(READ),
 .complexity = "O(M), M being the length of the part",
 .summary = "Reads the part of a string between two positions; the old name of GETRANGE.",
 .syntax = "key start:integer end:integer"
           "\n~2.0.0 `GETRANGE`"},

/* --- bitmap --- */
{.name = "bitcount", .arity = -2, .group = "bitmap", .since = "2.6.0",
 .flags = READONLY, .categories = CATEGORY_BITMAP,
 .keys = ONE_KEY(READ),
 .complexity = "O(N), N being the bytes looked at",
 .summary = "Counts the bits that are set, in a string or a part of it.",
 .syntax = "key [(start:integer end:integer [<BYTE | BIT>:unit@7.0.0]):range]"
           "\n@7.0.0 Takes BYTE and BIT."},
{.name = "bitfield", .arity = -2, .group = "bitmap", .since = "3.2.0",
 .flags = WRITE | DENYOOM, .categories = CATEGORY_BITMAP,
 .keys = SPECIAL_KEY(KEYS_OF_BITFIELD, EXCHANGE | KEY_VARIABLE,
                      "Writes only with the operations SET and INCRBY."),
 .complexity = "O(operations)",
 .summary = "Reads, stores and adds to integers of any width that stand anywhere in a string.",
 .syntax =
     "key [<GET (encoding offset:integer):get-block | "
     "([OVERFLOW <WRAP | SAT | FAIL>:overflow-block] "
     "<SET (encoding offset:integer value:integer):set-block | "
     "INCRBY (encoding offset:integer increment:integer):incrby-block>:write-operation):write>"
     ":operation ...]"},
{.name = "bitfield_ro", .arity = -2,
 .group = "bitmap", .since = "6.0.0",
 .flags = READONLY | FAST, .categories = CATEGORY_BITMAP,
 .keys = ONE_KEY(READ),
 .complexity = "O(operations)",
 .summary = "Reads integers of any width that stand anywhere in a string.",
 .syntax =
     "key [GET (encoding offset:integer):get-block [GET (encoding offset:integer):get-block ...]]"},
{.name = "bitop", .arity = -4, .group = "bitmap", .since = "2.6.0",
 .flags = WRITE | DENYOOM, .categories = CATEGORY_BITMAP,
 .keys = TARGET_AND_KEYS(2),
 .complexity = "O(N), N being the bytes of all strings",
 .summary = "Combines strings bit by bit and stores the result.",
 .syntax = "<AND | OR | XOR | NOT | DIFF | DIFF1 | ANDOR | ONE>:operation destkey:key key "
           "[key ...]\n@8.2.0 Takes DIFF, DIFF1, ANDOR and ONE."},
{.name = "bitpos", .arity = -3, .group = "bitmap", .since = "2.8.7",
 .flags = READONLY, .categories = CATEGORY_BITMAP,
 .keys = ONE_KEY(READ),
 .complexity = "O(N), N being the bytes looked at",
 .summary = "Finds the first bit that is set, or clear, in a string or a part of it.",
 .syntax =
     "key bit:integer [(start:integer [(end:integer [<BYTE | "
     "BIT>:unit@7.0.0]):end-unit-block]):range]"
     "\n@7.0.0 Takes BYTE and BIT."},
{.name = "getbit", .arity = 3, .group = "bitmap", .since = "2.2.0",
 .flags = READONLY | FAST, .categories = CATEGORY_BITMAP,
 .keys = ONE_KEY(READ),
 .complexity = "O(1)",
 .summary = "Reads one bit.",
 .syntax = "key offset:integer"},
{.name = "setbit", .arity = 4, .group = "bitmap", .since = "2.2.0",
 .flags = WRITE | DENYOOM, .categories = CATEGORY_BITMAP,
 .keys = ONE_KEY(EXCHANGE),
 .complexity = "O(1), but for the bytes that a longer string needs",
 .summary = "Sets or clears one bit, making the string longer where need be.",
 .syntax = "key offset:integer value:integer"},
};

/* clang-format on */

const struct command_family command_family_strings = FAMILY_OF(rows);
