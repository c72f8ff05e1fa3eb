/* family_transactions: MULTI, EXEC, WATCH and related commands. */
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

{ROW("discard", 1, "transactions", "2.0.0", NOSCRIPT | LOADING | STALE | FAST | ALLOW_BUSY |
     NOT_QUEUED,
     "O(N), N being the queued commands", "Leaves a transaction without running its commands.")},
{ROW("exec", -1, "transactions", "1.2.0", NOSCRIPT | LOADING | STALE | SKIP_SLOWLOG | RUNS_QUEUE |
     NOT_QUEUED,
     "Depends on the queued commands",
     "Runs the commands of a transaction, unless a watched key has changed or a condition does not "
     "hold."),
 .syntax = "[<IFEQ (ifeq-key value):ifeq | IFNE (ifne-key value):ifne | NX nx-key | XX xx-key>"
           ":condition@9.2.0 ...]"
           "\n@9.2.0 Takes conditions."},
{ROW("multi", 1, "transactions", "1.2.0", NOSCRIPT | LOADING | STALE | FAST | ALLOW_BUSY |
     NOT_QUEUED,
     "O(1)", "Begins a transaction: what follows is queued until EXEC.")},
{ROW("unwatch", 1, "transactions", "2.2.0", NOSCRIPT | LOADING | STALE | FAST | ALLOW_BUSY,
     "O(N), N being the watched keys", "Forgets the watched keys.")},
{ROW("watch", -2, "transactions", "2.2.0", NOSCRIPT | LOADING | STALE | FAST | ALLOW_BUSY |
     NOT_QUEUED,
     "O(keys)", "Lets the next transaction be run only if the keys have not changed by then."),
 .keys = KEYS(1, -1, LOOK), .syntax = "key [key ...]"},
};

/* clang-format on */

const struct command_family command_family_transactions = FAMILY_OF(rows);
