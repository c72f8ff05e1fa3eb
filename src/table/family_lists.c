/* family_lists: the commands of lists. */
#include "commands/commands.h"
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

{"blmove", blmove_command, 6, W|M|B, TWO_KEYS(POP, PUSH), "list", "6.2.0",
 "O(1)",
 "Moves an element from one list to another, waiting for one if the source is empty.",
 "source:key destination:key <LEFT | RIGHT>:wherefrom <LEFT | RIGHT>:whereto timeout:double"},
{"blmpop", blmpop_command, -5, W|B|K, COUNTED_KEYS(2, POP), "list", "7.0.0",
 "O(keys + elements returned)",
 "Takes elements from the first list that has any, waiting until one has.",
 "timeout:double numkeys:integer key [key ...] <LEFT | RIGHT>:where [COUNT count:integer]"},
{"blpop", blpop_command, -3, W|B, KEYS(1, -2, POP), "list", "2.0.0",
 "O(keys)",
 "Takes the head of the first list that has one, waiting until one has.",
 "key [key ...] timeout:double"
 "\n@6.0.0 The timeout may have a fraction."},
{"brpop", brpop_command, -3, W|B, KEYS(1, -2, POP), "list", "2.0.0",
 "O(keys)",
 "Takes the tail of the first list that has one, waiting until one has.",
 "key [key ...] timeout:double"
 "\n@6.0.0 The timeout may have a fraction."},
{"brpoplpush", brpoplpush_command, 4, W|M|B, TWO_KEYS(POP, PUSH), "list", "2.2.0",
 "O(1)",
 "Moves the tail of one list to the head of another, waiting for it if need be.",
 "source:key destination:key timeout:double"
 "\n~6.2.0 `BLMOVE` with `RIGHT` and `LEFT`"
 "\n@6.0.0 The timeout may have a fraction."},
{"lindex", lindex_command, 3, R, ONE_KEY(READ), "list", "1.0.0",
 "O(log N), N being the length of the list; O(1) at either end",
 "Reads the element at a position.",
 "key index:integer"},
{"linsert", linsert_command, 5, W|M, ONE_KEY(PUSH), "list", "2.2.0",
 "O(N), N being the elements before the pivot",
 "Inserts an element in front of or behind the first one that equals the pivot.",
 "key <BEFORE | AFTER>:where pivot element"},
{"llen", llen_command, 2, R|F, ONE_KEY(LOOK), "list", "1.0.0",
 "O(1)",
 "Counts the elements of a list.",
 "key"},
{"lmove", lmove_command, 5, W|M, TWO_KEYS(POP, PUSH), "list", "6.2.0",
 "O(1)",
 "Moves an element from an end of one list to an end of another and returns it.",
 "source:key destination:key <LEFT | RIGHT>:wherefrom <LEFT | RIGHT>:whereto"},
{"lmpop", lmpop_command, -4, W|K, COUNTED_KEYS(1, POP), "list", "7.0.0",
 "O(keys + elements returned)",
 "Takes elements from the first list that has any.",
 "numkeys:integer key [key ...] <LEFT | RIGHT>:where [COUNT count:integer]"},
{"lpop", lpop_command, -2, W|F, ONE_KEY(POP), "list", "1.0.0",
 "O(elements returned)",
 "Takes one or more elements from the head of a list.",
 "key [count:integer@6.2.0]"
 "\n@6.2.0 Takes a count."},
{"lpos", lpos_command, -3, R, ONE_KEY(READ), "list", "6.0.6",
 "O(N), N being the length of the list",
 "Finds the positions of elements that equal a value.",
 "key element [RANK rank:integer] [COUNT num-matches:integer] [MAXLEN len:integer]"},
{"lpush", lpush_command, -3, W|M|F, ONE_KEY(PUSH), "list", "1.0.0",
 "O(1) for each element added",
 "Adds elements at the head of a list, making the list if there is none.",
 "key element [element ...]"
 "\n@2.4.0 Takes several elements."},
{"lpushx", lpushx_command, -3, W|M|F, ONE_KEY(PUSH), "list", "2.2.0",
 "O(1) for each element added",
 "Adds elements at the head of a list that exists.",
 "key element [element ...]"
 "\n@4.0.0 Takes several elements."},
{"lrange", lrange_command, 4, R, ONE_KEY(READ), "list", "1.0.0",
 "O(log N + M), N being the length of the list and M the elements returned",
 "Reads the elements between two positions.",
 "key start:integer stop:integer"},
{"lrem", lrem_command, 4, W, ONE_KEY(TAKE), "list", "1.0.0",
 "O(N), N being the length of the list",
 "Removes elements that equal a value.",
 "key count:integer element"},
{"lset", lset_command, 4, W|M, ONE_KEY(CHANGE), "list", "1.0.0",
 "O(log N), N being the length of the list; O(1) at either end",
 "Replaces the element at a position.",
 "key index:integer element"},
{"ltrim", ltrim_command, 4, W, ONE_KEY(TAKE), "list", "1.0.0",
 "O(M), M being the nodes removed",
 "Keeps the elements between two positions and removes all others.",
 "key start:integer stop:integer"},
{"rpop", rpop_command, -2, W|F, ONE_KEY(POP), "list", "1.0.0",
 "O(elements returned)",
 "Takes one or more elements from the tail of a list.",
 "key [count:integer@6.2.0]"
 "\n@6.2.0 Takes a count."},
{"rpoplpush", rpoplpush_command, 3, W|M, TWO_KEYS(POP, PUSH), "list", "1.2.0",
 "O(1)",
 "Moves the tail of one list to the head of another and returns it.",
 "source:key destination:key"
 "\n~6.2.0 `LMOVE` with `RIGHT` and `LEFT`"},
{"rpush", rpush_command, -3, W|M|F, ONE_KEY(PUSH), "list", "1.0.0",
 "O(1) for each element added",
 "Adds elements at the tail of a list, making the list if there is none.",
 "key element [element ...]"
 "\n@2.4.0 Takes several elements."},
{"rpushx", rpushx_command, -3, W|M|F, ONE_KEY(PUSH), "list", "2.2.0",
 "O(1) for each element added",
 "Adds elements at the tail of a list that exists.",
 "key element [element ...]"
 "\n@4.0.0 Takes several elements."},
};

/* clang-format on */

const struct command_family command_family_lists = FAMILY_OF(rows);
