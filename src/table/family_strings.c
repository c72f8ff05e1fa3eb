/* family_strings: the commands of strings, and of the bits in them. */
#include "commands/commands.h"
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

/* --- string --- */
{"append", append_command, 3, W|M|F, ONE_KEY(PUSH), "string", "2.0.0",
 "O(M), M being the length of the value, spread over many calls",
 "Adds a value at the end of a string, making the string if there is none.",
 "key value"},
{"decr", decr_command, 2, W|M|F, ONE_KEY(EXCHANGE), "string", "1.0.0",
 "O(1)",
 "Subtracts one from a number.",
 "key"},
{"decrby", decrby_command, 3, W|M|F, ONE_KEY(EXCHANGE), "string", "1.0.0",
 "O(1)",
 "Subtracts from a number.",
 "key decrement:integer"},
{"get", get_command, 2, R|F, ONE_KEY(READ), "string", "1.0.0",
 "O(1)",
 "Reads a string.",
 "key"},
{"getdel", getdel_command, 2, W|F, ONE_KEY(POP), "string", "6.2.0",
 "O(1)",
 "Reads a string and removes its key.",
 "key"},
{"getex", getex_command, -2, W|F,
 NOTED_KEY(EXCHANGE, "Updates the key because it may change its expiry."), "string", "6.2.0",
 "O(1)",
 "Reads a string and sets or takes away the time at which its key expires.",
 "key [<EX seconds:integer | PX milliseconds:integer | EXAT unix-time-seconds:unix-time | "
 "PXAT unix-time-milliseconds:unix-time | PERSIST>:expiration]"},
{"getrange", getrange_command, 4, R, ONE_KEY(READ), "string", "2.4.0",
 "O(M), M being the length of the part",
 "Reads the part of a string between two positions.",
 "key start:integer end:integer"},
{"getset", getset_command, 3, W|M|F, ONE_KEY(EXCHANGE), "string", "1.0.0",
 "O(1)",
 "Stores a string and returns the one that was there before.",
 "key value"
 "\n~6.2.0 `SET` with `GET`"},
{"incr", incr_command, 2, W|M|F, ONE_KEY(EXCHANGE), "string", "1.0.0",
 "O(1)",
 "Adds one to a number.",
 "key"},
{"incrby", incrby_command, 3, W|M|F, ONE_KEY(EXCHANGE), "string", "1.0.0",
 "O(1)",
 "Adds to a number.",
 "key increment:integer"},
{"incrbyfloat", incrbyfloat_command, 3, W|M|F, ONE_KEY(EXCHANGE), "string", "2.6.0",
 "O(1)",
 "Adds to a number, which may have a fraction.",
 "key increment:double"},
{"lcs", lcs_command, -3, R, KEYS(1, 2, READ), "string", "7.0.0",
 "O(N * M / 64), N and M being the lengths of the strings",
 "Finds the longest subsequence that two strings have in common.",
 "key1:key key2:key [LEN] [IDX] [MINMATCHLEN min-match-len:integer] [WITHMATCHLEN]"},
{"mget", mget_command, -2, R|F|SPLIT, KEYS(1, -1, READ), "string", "1.0.0",
 "O(keys)",
 "Reads several strings.",
 "key [key ...]"},
{"mset", mset_command, -3, W|M|SPLIT_OK, PAIRS(WRITE), "string", "1.0.1",
 "O(keys)",
 "Stores several strings.",
 "(key value):data ..."},
{"msetnx", msetnx_command, -3, W|M, PAIRS(MAKE), "string", "1.0.1",
 "O(keys)",
 "Stores several strings if none of the keys exists.",
 "(key value):data ..."},
{"psetex", psetex_command, 4, W|M, ONE_KEY(WRITE), "string", "2.6.0",
 "O(1)",
 "Stores a string that expires after a number of milliseconds.",
 "key milliseconds:integer value"
 "\n~2.6.12 `SET` with `PX`"},
{"set", set_command, -3, W|M,
 VARIABLE_KEY(command_set_key_flags, "Reads the old value only with the option GET."),
 "string", "1.0.0",
 "O(1)",
 "Stores a string, whatever the key held before.",
 "key value [<NX | XX>:condition@2.6.12] [GET@6.2.0] [<EX seconds:integer@2.6.12 | "
 "PX milliseconds:integer@2.6.12 | EXAT unix-time-seconds:unix-time@6.2.0 | "
 "PXAT unix-time-milliseconds:unix-time@6.2.0 | KEEPTTL@6.0.0>:expiration]"
 "\n@2.6.12 Takes EX, PX, NX and XX."
 "\n@6.0.0 Takes KEEPTTL."
 "\n@6.2.0 Takes GET, EXAT and PXAT."
 "\n@7.0.0 NX and GET may stand together."},
{"setex", setex_command, 4, W|M, ONE_KEY(WRITE), "string", "2.0.0",
 "O(1)",
 "Stores a string that expires after a number of seconds.",
 "key seconds:integer value"
 "\n~2.6.12 `SET` with `EX`"},
{"setnx", setnx_command, 3, W|M|F, ONE_KEY(MAKE), "string", "1.0.0",
 "O(1)",
 "Stores a string if the key does not exist.",
 "key value"
 "\n~2.6.12 `SET` with `NX`"},
{"setrange", setrange_command, 4, W|M, ONE_KEY(CHANGE), "string", "2.2.0",
 "O(M), M being the length of the value and of the gap before it",
 "Overwrites a part of a string, making it longer where need be.",
 "key offset:integer value"},
{"strlen", strlen_command, 2, R|F, ONE_KEY(LOOK), "string", "2.2.0",
 "O(1)",
 "Tells the length of a string.",
 "key"},
{"substr", substr_command, 4, R, ONE_KEY(READ), "string", "1.0.0",
 "O(M), M being the length of the part",
 "Reads the part of a string between two positions; the old name of GETRANGE.",
 "key start:integer end:integer"
 "\n~2.0.0 `GETRANGE`"},

/* --- bitmap --- */
{"bitcount", bitcount_command, -2, R, ONE_KEY(READ), "bitmap", "2.6.0",
 "O(N), N being the bytes looked at",
 "Counts the bits that are set, in a string or a part of it.",
 "key [(start:integer end:integer [<BYTE | BIT>:unit@7.0.0]):range]"
 "\n@7.0.0 Takes BYTE and BIT."},
{"bitfield", bitfield_command, -2, W|M,
 VARIABLE_KEY(command_bitfield_key_flags, "Writes only with the operations SET and INCRBY."),
 "bitmap", "3.2.0",
 "O(operations)",
 "Reads, stores and adds to integers of any width that stand anywhere in a string.",
 "key [<GET (encoding offset:integer):get-block | ([OVERFLOW <WRAP | SAT | FAIL>:overflow-block] "
 "<SET (encoding offset:integer value:integer):set-block | "
 "INCRBY (encoding offset:integer increment:integer):incrby-block>:write-operation):write>"
 ":operation ...]"},
{"bitfield_ro", bitfield_ro_command, -2, R|F, ONE_KEY(READ), "bitmap", "6.0.0",
 "O(operations)",
 "Reads integers of any width that stand anywhere in a string.",
 "key [GET (encoding offset:integer):get-block [GET (encoding offset:integer):get-block ...]]"},
{"bitop", bitop_command, -4, W|M, TARGET_AND_KEYS(2), "bitmap", "2.6.0",
 "O(N), N being the bytes of all strings",
 "Combines strings bit by bit and stores the result.",
 "<AND | OR | XOR | NOT>:operation destkey:key key [key ...]"},
{"bitpos", bitpos_command, -3, R, ONE_KEY(READ), "bitmap", "2.8.7",
 "O(N), N being the bytes looked at",
 "Finds the first bit that is set, or clear, in a string or a part of it.",
 "key bit:integer [(start:integer [(end:integer [<BYTE | BIT>:unit@7.0.0]):end-unit-block]):range]"
 "\n@7.0.0 Takes BYTE and BIT."},
{"getbit", getbit_command, 3, R|F, ONE_KEY(READ), "bitmap", "2.2.0",
 "O(1)",
 "Reads one bit.",
 "key offset:integer"},
{"setbit", setbit_command, 4, W|M, ONE_KEY(EXCHANGE), "bitmap", "2.2.0",
 "O(1), but for the bytes that a longer string needs",
 "Sets or clears one bit, making the string longer where need be.",
 "key offset:integer value:integer"},
};

/* clang-format on */

const struct command_family command_family_strings = FAMILY_OF(rows);
