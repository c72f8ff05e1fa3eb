/* family_transactions: MULTI, EXEC, WATCH and their like. */
#include "server/server_commands.h"
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

{"discard", discard_command, 1, N|L|S|F|Y|COMMAND_NOT_QUEUED, NO_KEYS, "transactions", "2.0.0",
 "O(N), N being the queued commands",
 "Leaves a transaction without running its commands.",
 ""},
{"exec", exec_command, 1, 
 N|L|S|COMMAND_SKIP_SLOWLOG|COMMAND_RUNS_QUEUE|COMMAND_NOT_QUEUED,
 NO_KEYS, "transactions", "1.2.0",
 "Depends on the queued commands",
 "Runs the commands of a transaction, unless a watched key has changed.",
 ""},
{"multi", multi_command, 1, N|L|S|F|Y|COMMAND_NOT_QUEUED, NO_KEYS, "transactions", "1.2.0",
 "O(1)",
 "Begins a transaction: what follows is queued until EXEC.",
 ""},
{"unwatch", unwatch_command, 1, N|L|S|F|Y, NO_KEYS, "transactions", "2.2.0",
 "O(N), N being the watched keys",
 "Forgets the watched keys.",
 ""},
{"watch", watch_command, -2, 
 N|L|S|F|Y|COMMAND_NOT_QUEUED,
 KEYS(1, -1, LOOK), "transactions", "2.2.0",
 "O(keys)",
 "Lets the next transaction be run only if the keys have not changed by then.",
 "key [key ...]"},
};

/* clang-format on */

const struct command_family command_family_transactions = FAMILY_OF(rows);
