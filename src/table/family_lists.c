/* family_lists: the commands of lists. */
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

{ROW("blmove", 6, "list", "6.2.0", WRITE | DENYOOM | BLOCKING,
     "O(1)", "Moves an element from one list to another, waiting for one if the source is empty."),
 .keys = TWO_KEYS(POP, PUSH),
 .syntax = "source:key destination:key <LEFT | RIGHT>:wherefrom <LEFT | RIGHT>:whereto "
           "timeout:double"},
{ROW("blmovem", -6, "list", "8.10.0", WRITE | DENYOOM | BLOCKING,
     "O(N), N being the elements moved",
     "Moves elements from one list to another, waiting until there are any, or enough."),
 .keys = TWO_KEYS(POP, PUSH),
 .syntax = "source:key destination:key <LEFT | RIGHT>:wherefrom <LEFT | RIGHT>:whereto "
           "timeout:double [(<COUNT count:integer | EXACTLY exact-count:integer>:amount "
           "<OBO | BULK>:ordering):several]"},
{ROW("blmpop", -5, "list", "7.0.0", WRITE | BLOCKING | MOVABLE_KEYS,
     "O(keys + elements returned)",
     "Takes elements from the first list that has any, waiting until one has."),
 .keys = COUNTED_KEYS(2, POP),
 .syntax = "timeout:double numkeys:integer key [key ...] <LEFT | RIGHT>:where "
           "[COUNT count:integer]"},
{ROW("blpop", -3, "list", "2.0.0", WRITE | BLOCKING,
     "O(keys)", "Takes the head of the first list that has one, waiting until one has."),
 .keys = KEYS(1, -2, POP),
 .syntax = "key [key ...] timeout:double"
           "\n@6.0.0 The timeout may have a fraction."},
{ROW("brpop", -3, "list", "2.0.0", WRITE | BLOCKING,
     "O(keys)", "Takes the tail of the first list that has one, waiting until one has."),
 .keys = KEYS(1, -2, POP),
 .syntax = "key [key ...] timeout:double"
           "\n@6.0.0 The timeout may have a fraction."},
{ROW("brpoplpush", 4, "list", "2.2.0", WRITE | DENYOOM | BLOCKING,
     "O(1)", "Moves the tail of one list to the head of another, waiting for it if need be."),
 .keys = TWO_KEYS(POP, PUSH),
 .syntax = "source:key destination:key timeout:double"
           "\n~6.2.0 `BLMOVE` with `RIGHT` and `LEFT`"
           "\n@6.0.0 The timeout may have a fraction."},
{ROW("lindex", 3, "list", "1.0.0", READONLY,
     "O(log N), N being the length of the list; O(1) at either end",
     "Reads the element at a position."),
 .keys = ONE_KEY(READ), .syntax = "key index:integer"},
{ROW("linsert", 5, "list", "2.2.0", WRITE | DENYOOM,
     "O(N), N being the elements before the pivot",
     "Inserts an element in front of or behind the first one that equals the pivot."),
 .keys = ONE_KEY(PUSH), .syntax = "key <BEFORE | AFTER>:where pivot element"},
{ROW("llen", 2, "list", "1.0.0", READONLY | FAST,
     "O(1)", "Counts the elements of a list."),
 .keys = ONE_KEY(LOOK), .syntax = "key"},
{ROW("lmove", 5, "list", "6.2.0", WRITE | DENYOOM,
     "O(1)", "Moves an element from an end of one list to an end of another and returns it."),
 .keys = TWO_KEYS(POP, PUSH),
 .syntax = "source:key destination:key <LEFT | RIGHT>:wherefrom <LEFT | RIGHT>:whereto"},
{ROW("lmovem", -5, "list", "8.10.0", WRITE | DENYOOM,
     "O(N), N being the elements moved",
     "Moves elements from an end of one list to an end of another and returns them."),
 .keys = TWO_KEYS(POP, PUSH),
 .syntax = "source:key destination:key <LEFT | RIGHT>:wherefrom <LEFT | RIGHT>:whereto"
           " [(<COUNT count:integer | EXACTLY exact-count:integer>:amount"
           " <OBO | BULK>:ordering):several]"},
{ROW("lmpop", -4, "list", "7.0.0", WRITE | MOVABLE_KEYS,
     "O(keys + elements returned)", "Takes elements from the first list that has any."),
 .keys = COUNTED_KEYS(1, POP),
 .syntax = "numkeys:integer key [key ...] <LEFT | RIGHT>:where [COUNT count:integer]"},
{ROW("lpop", -2, "list", "1.0.0", WRITE | FAST,
     "O(elements returned)", "Takes one or more elements from the head of a list."),
 .keys = ONE_KEY(POP),
 .syntax = "key [count:integer@6.2.0]"
           "\n@6.2.0 Takes a count."},
{ROW("lpos", -3, "list", "6.0.6", READONLY,
     "O(N), N being the length of the list", "Finds the positions of elements that equal a value."),
 .keys = ONE_KEY(READ),
 .syntax = "key element [RANK rank:integer] [COUNT num-matches:integer] [MAXLEN len:integer]"},
{ROW("lpush", -3, "list", "1.0.0", WRITE | DENYOOM | FAST,
     "O(1) for each element added",
     "Adds elements at the head of a list, making the list if there is none."),
 .keys = ONE_KEY(PUSH),
 .syntax = "key element [element ...]"
           "\n@2.4.0 Takes several elements."},
{ROW("lpushbound", -4, "list", "0.3.0", WRITE | DENYOOM | FAST,
     "O(1) for each element added or removed",
     "Adds elements at the head of a list that keeps at most maxlen elements."),
 .keys = NOTED_KEY(CHANGE, "Updates the key because it may remove elements, too."),
 .syntax = "key maxlen:integer [<EVICT | REJECT>:overflow] element [element ...]"},
{ROW("lpushx", -3, "list", "2.2.0", WRITE | DENYOOM | FAST,
     "O(1) for each element added", "Adds elements at the head of a list that exists."),
 .keys = ONE_KEY(PUSH),
 .syntax = "key element [element ...]"
           "\n@4.0.0 Takes several elements."},
{ROW("lrange", 4, "list", "1.0.0", READONLY,
     "O(log N + M), N being the length of the list and M the elements returned",
     "Reads the elements between two positions."),
 .keys = ONE_KEY(READ), .syntax = "key start:integer stop:integer"},
{ROW("lrem", 4, "list", "1.0.0", WRITE,
     "O(N), N being the length of the list", "Removes elements that equal a value."),
 .keys = ONE_KEY(TAKE), .syntax = "key count:integer element"},
{ROW("lset", 4, "list", "1.0.0", WRITE | DENYOOM,
     "O(log N), N being the length of the list; O(1) at either end",
     "Replaces the element at a position."),
 .keys = ONE_KEY(CHANGE), .syntax = "key index:integer element"},
{ROW("ltrim", 4, "list", "1.0.0", WRITE,
     "O(M), M being the nodes removed",
     "Keeps the elements between two positions and removes all others."),
 .keys = ONE_KEY(TAKE), .syntax = "key start:integer stop:integer"},
{ROW("rpop", -2, "list", "1.0.0", WRITE | FAST,
     "O(elements returned)", "Takes one or more elements from the tail of a list."),
 .keys = ONE_KEY(POP),
 .syntax = "key [count:integer@6.2.0]"
           "\n@6.2.0 Takes a count."},
{ROW("rpoplpush", 3, "list", "1.2.0", WRITE | DENYOOM,
     "O(1)", "Moves the tail of one list to the head of another and returns it."),
 .keys = TWO_KEYS(POP, PUSH),
 .syntax = "source:key destination:key"
           "\n~6.2.0 `LMOVE` with `RIGHT` and `LEFT`"},
{ROW("rpush", -3, "list", "1.0.0", WRITE | DENYOOM | FAST,
     "O(1) for each element added",
     "Adds elements at the tail of a list, making the list if there is none."),
 .keys = ONE_KEY(PUSH),
 .syntax = "key element [element ...]"
           "\n@2.4.0 Takes several elements."},
{ROW("rpushbound", -4, "list", "0.3.0", WRITE | DENYOOM | FAST,
     "O(1) for each element added or removed",
     "Adds elements at the tail of a list that keeps at most maxlen elements."),
 .keys = NOTED_KEY(CHANGE, "Updates the key because it may remove elements, too."),
 .syntax = "key maxlen:integer [<EVICT | REJECT>:overflow] element [element ...]"},
{ROW("rpushx", -3, "list", "2.2.0", WRITE | DENYOOM | FAST,
     "O(1) for each element added", "Adds elements at the tail of a list that exists."),
 .keys = ONE_KEY(PUSH),
 .syntax = "key element [element ...]"
           "\n@4.0.0 Takes several elements."},
};

/* clang-format on */

const struct command_family command_family_lists = FAMILY_OF(rows);
