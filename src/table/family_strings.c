/* family_strings: the commands of strings, and of the bits in them. */
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

/* --- string --- */
{ROW("append", 3, "string", "2.0.0", WRITE | DENYOOM | FAST,
     "O(M), M being the length of the value, spread over many calls",
     "Adds a value at the end of a string, making the string if there is none."),
 .keys = ONE_KEY(PUSH), .syntax = "key value"},
{ROW("decr", 2, "string", "1.0.0", WRITE | DENYOOM | FAST,
     "O(1)", "Subtracts one from a number."),
 .keys = ONE_KEY(EXCHANGE), .syntax = "key"},
{ROW("decrby", 3, "string", "1.0.0", WRITE | DENYOOM | FAST,
     "O(1)", "Subtracts from a number."),
 .keys = ONE_KEY(EXCHANGE), .syntax = "key decrement:integer"},
{ROW("delex", -2, "string", "8.4.0", WRITE | FAST,
     "O(1), but O(N) for digests, N being the length of the string",
     "Removes a key, perhaps only if its string is, or is not, the one that is given."),
 .keys = NOTED_KEY(POP, "Tells something of the value, if there is a condition."),
 .syntax = "key [<IFEQ ifeq-value:string | IFNE ifne-value:string | IFDEQ ifdeq-digest:string | "
           "IFDNE ifdne-digest:string>:condition]"},
{ROW("delifeq", 3, "string", "9.0.0", WRITE | FAST,
     "O(1)", "Removes a key if its string is the one that is given."),
 .keys = ONE_KEY(POP), .syntax = "key value"},
{ROW("digest", 2, "string", "8.4.0", READONLY | FAST,
     "O(N), N being the length of the string",
     "Replies a hash of a string, by which conditions can name it."),
 .keys = ONE_KEY(READ), .syntax = "key"},
{ROW("get", 2, "string", "1.0.0", READONLY | FAST,
     "O(1)", "Reads a string."),
 .keys = ONE_KEY(READ), .syntax = "key"},
{ROW("getdel", 2, "string", "6.2.0", WRITE | FAST,
     "O(1)", "Reads a string and removes its key."),
 .keys = ONE_KEY(POP), .syntax = "key"},
{ROW("getex", -2, "string", "6.2.0", WRITE | FAST,
     "O(1)", "Reads a string and sets or takes away the time at which its key expires."),
 .keys = NOTED_KEY(EXCHANGE, "Updates the key because it may change its expiry."),
 .syntax = "key [<EX seconds:integer | PX milliseconds:integer | EXAT unix-time-seconds:unix-time "
           "| PXAT unix-time-milliseconds:unix-time | PERSIST>:expiration]"},
{ROW("getrange", 4, "string", "2.4.0", READONLY,
     "O(M), M being the length of the part", "Reads the part of a string between two positions."),
 .keys = ONE_KEY(READ), .syntax = "key start:integer end:integer"},
{ROW("getset", 3, "string", "1.0.0", WRITE | DENYOOM | FAST,
     "O(1)", "Stores a string and returns the one that was there before."),
 .keys = ONE_KEY(EXCHANGE),
 .syntax = "key value"
           "\n~6.2.0 `SET` with `GET`"},
{ROW("incr", 2, "string", "1.0.0", WRITE | DENYOOM | FAST,
     "O(1)", "Adds one to a number."),
 .keys = ONE_KEY(EXCHANGE), .syntax = "key"},
{ROW("incrby", 3, "string", "1.0.0", WRITE | DENYOOM | FAST,
     "O(1)", "Adds to a number."),
 .keys = ONE_KEY(EXCHANGE), .syntax = "key increment:integer"},
{ROW("incrbyfloat", 3, "string", "2.6.0", WRITE | DENYOOM | FAST,
     "O(1)", "Adds to a number, which may have a fraction."),
 .keys = ONE_KEY(EXCHANGE), .syntax = "key increment:double"},
{ROW("increx", -2, "string", "8.8.0", WRITE | DENYOOM | FAST,
     "O(1)", "Adds to a number within bounds, and sets or takes away the expiry of its key."),
 .keys = ONE_KEY(EXCHANGE),
 .syntax = "key [<BYFLOAT float-increment:double | BYINT integer-increment:integer>:increment] "
           "[LBOUND lowerbound:string] [UBOUND upperbound:string] [SATURATE] "
           "[<EX seconds:integer | PX milliseconds:integer | EXAT unix-time-seconds:unix-time | "
           "PXAT unix-time-milliseconds:unix-time | PERSIST>:expiration] [ENX]"},
{ROW("lcs", -3, "string", "7.0.0", READONLY,
     "O(N * M / 64), N and M being the lengths of the strings",
     "Finds the longest subsequence that two strings have in common."),
 .keys = KEYS(1, 2, READ),
 .syntax = "key1:key key2:key [LEN] [IDX] [MINMATCHLEN min-match-len:integer] [WITHMATCHLEN]"},
{ROW("mget", -2, "string", "1.0.0", READONLY | FAST,
     "O(keys)", "Reads several strings."),
 .tips = TIP_MULTI_SHARD, .keys = KEYS(1, -1, READ), .syntax = "key [key ...]"},
{ROW("mset", -3, "string", "1.0.1", WRITE | DENYOOM,
     "O(keys)", "Stores several strings."),
 .tips = TIP_MULTI_SHARD | TIP_ALL_SUCCEEDED, .keys = PAIRS(OVERWRITE),
 .syntax = "(key value):data ..."},
{ROW("msetex", -4, "string", "8.4.0", WRITE | DENYOOM | MOVABLE_KEYS,
     "O(keys)",
     "Stores several strings, perhaps only if all or none of the keys exist, and sets when they "
     "expire."),
 .tips = TIP_MULTI_SHARD | TIP_ALL_SUCCEEDED, .keys = COUNTED_PAIRS(1, OVERWRITE),
 .syntax = "numkeys:integer (key value):data ... [<NX | XX>:condition] [<EX seconds:integer | "
           "PX milliseconds:integer | EXAT unix-time-seconds:unix-time | "
           "PXAT unix-time-milliseconds:unix-time | KEEPTTL>:expiration]"},
{ROW("msetnx", -3, "string", "1.0.1", WRITE | DENYOOM,
     "O(keys)", "Stores several strings if none of the keys exists."),
 .keys = PAIRS(MAKE), .syntax = "(key value):data ..."},
{ROW("psetex", 4, "string", "2.6.0", WRITE | DENYOOM,
     "O(1)", "Stores a string that expires after a number of milliseconds."),
 .keys = ONE_KEY(OVERWRITE),
 .syntax = "key milliseconds:integer value"
           "\n~2.6.12 `SET` with `PX`"},
{ROW("set", -3, "string", "1.0.0", WRITE | DENYOOM,
     "O(1)", "Stores a string, whatever the key held before."),
 .keys = SPECIAL_KEY(KEYS_OF_SET, EXCHANGE | KEY_VARIABLE,
                     "Reads the old value only with the option GET, or with one that compares."),
 .syntax = "key value [<NX@2.6.12 | XX@2.6.12 | IFEQ ifeq-value:string@8.4.0 | IFNE "
           "ifne-value:string@8.4.0 | IFDEQ ifdeq-digest:string@8.4.0 | IFDNE "
           "ifdne-digest:string@8.4.0>:condition] [GET@6.2.0] [<EX seconds:integer@2.6.12 | PX "
           "milliseconds:integer@2.6.12 | EXAT unix-time-seconds:unix-time@6.2.0 | PXAT "
           "unix-time-milliseconds:unix-time@6.2.0 | KEEPTTL@6.0.0>:expiration]"
           "\n@2.6.12 Takes EX, PX, NX and XX."
           "\n@6.0.0 Takes KEEPTTL."
           "\n@6.2.0 Takes GET, EXAT and PXAT."
           "\n@7.0.0 NX and GET may stand together."
           "\n@8.4.0 Takes IFEQ, IFNE, IFDEQ and IFDNE."},
{ROW("setex", 4, "string", "2.0.0", WRITE | DENYOOM,
     "O(1)", "Stores a string that expires after a number of seconds."),
 .keys = ONE_KEY(OVERWRITE),
 .syntax = "key seconds:integer value"
           "\n~2.6.12 `SET` with `EX`"},
{ROW("setnx", 3, "string", "1.0.0", WRITE | DENYOOM | FAST,
     "O(1)", "Stores a string if the key does not exist."),
 .keys = ONE_KEY(MAKE),
 .syntax = "key value"
           "\n~2.6.12 `SET` with `NX`"},
{ROW("setrange", 4, "string", "2.2.0", WRITE | DENYOOM,
     "O(M), M being the length of the value and of the gap before it",
     "Overwrites a part of a string, making it longer where need be."),
 .keys = ONE_KEY(CHANGE), .syntax = "key offset:integer value"},
{ROW("strlen", 2, "string", "2.2.0", READONLY | FAST,
     "O(1)", "Tells the length of a string."),
 .keys = ONE_KEY(LOOK), .syntax = "key"},
{ROW("substr", 4, "string", "1.0.0", READONLY,
     "O(M), M being the length of the part",
     "Reads the part of a string between two positions; the old name of GETRANGE."),
 .keys = ONE_KEY(READ),
 .syntax = "key start:integer end:integer"
           "\n~2.0.0 `GETRANGE`"},

/* --- bitmap --- */
{ROW("bitcount", -2, "bitmap", "2.6.0", READONLY,
     "O(N), N being the bytes looked at",
     "Counts the bits that are set, in a string or a part of it."),
 .keys = ONE_KEY(READ),
 .syntax = "key [(start:integer end:integer [<BYTE | BIT>:unit@7.0.0]):range]"
           "\n@7.0.0 Takes BYTE and BIT."},
{ROW("bitfield", -2, "bitmap", "3.2.0", WRITE | DENYOOM,
     "O(operations)",
     "Reads, stores and adds to integers of any width that stand anywhere in a string."),
 .keys = SPECIAL_KEY(KEYS_OF_BITFIELD, EXCHANGE | KEY_VARIABLE,
                      "Writes only with the operations SET and INCRBY."),
 .syntax = "key [<GET (encoding offset:integer):get-block | ([OVERFLOW "
           "<WRAP | SAT | FAIL>:overflow-block] <SET (encoding offset:integer "
           "value:integer):set-block | INCRBY (encoding offset:integer "
           "increment:integer):incrby-block>:write-operation):write>:operation ...]"},
{ROW("bitfield_ro", -2, "bitmap", "6.0.0", READONLY | FAST,
     "O(operations)", "Reads integers of any width that stand anywhere in a string."),
 .keys = ONE_KEY(READ),
 .syntax = "key [GET (encoding offset:integer):get-block [GET (encoding offset:integer):get-block "
           "...]]"},
{ROW("bitop", -4, "bitmap", "2.6.0", WRITE | DENYOOM,
     "O(N), N being the bytes of all strings",
     "Combines strings bit by bit and stores the result."),
 .keys = TARGET_AND_KEYS(2),
 .syntax = "<AND | OR | XOR | NOT | DIFF | DIFF1 | ANDOR | ONE>:operation destkey:key key "
           "[key ...]"
           "\n@8.2.0 Takes DIFF, DIFF1, ANDOR and ONE."},
{ROW("bitpos", -3, "bitmap", "2.8.7", READONLY,
     "O(N), N being the bytes looked at",
     "Finds the first bit that is set, or clear, in a string or a part of it."),
 .keys = ONE_KEY(READ),
 .syntax = "key bit:integer [(start:integer [(end:integer [<BYTE | "
           "BIT>:unit@7.0.0]):end-unit-block]):range]"
           "\n@7.0.0 Takes BYTE and BIT."},
{ROW("getbit", 3, "bitmap", "2.2.0", READONLY | FAST,
     "O(1)", "Reads one bit."),
 .keys = ONE_KEY(READ), .syntax = "key offset:integer"},
{ROW("setbit", 4, "bitmap", "2.2.0", WRITE | DENYOOM,
     "O(1), but for the bytes that a longer string needs",
     "Sets or clears one bit, making the string longer where need be."),
 .keys = ONE_KEY(EXCHANGE), .syntax = "key offset:integer value:integer"},
};

/* clang-format on */

const struct command_family command_family_strings = FAMILY_OF(rows);
