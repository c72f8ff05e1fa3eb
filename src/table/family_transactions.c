/* family_transactions: MULTI, EXEC, WATCH and related commands. */
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

{.name = "discard", .arity = 1, .group = "transactions", .since = "2.0.0",
 .flags = NOSCRIPT | LOADING | STALE | FAST | ALLOW_BUSY | NOT_QUEUED,
 .categories = CATEGORY_TRANSACTION,
 .complexity = "O(N), N being the queued commands",
 .summary = "Leaves a transaction without running its commands."},
{.name = "exec", .arity = -1, .group = "transactions", .since = "1.2.0",
 .flags = NOSCRIPT | LOADING | STALE | SKIP_SLOWLOG | RUNS_QUEUE | NOT_QUEUED,
 .categories = CATEGORY_TRANSACTION,
 .complexity = "Depends on the queued commands",
 .summary = "Runs the commands of a transaction, unless a watched key has changed or a condition "
            "does not hold.",
 .syntax = "[<IFEQ (ifeq-key value):ifeq | IFNE (ifne-key value):ifne | NX nx-key | XX xx-key>"
           ":condition@9.2.0 ...]"
           "\n@9.2.0 Takes conditions."},
{.name = "multi", .arity = 1, .group = "transactions", .since = "1.2.0",
 .flags = NOSCRIPT | LOADING | STALE | FAST | ALLOW_BUSY | NOT_QUEUED,
 .categories = CATEGORY_TRANSACTION,
 .complexity = "O(1)",
 .summary = "Begins a transaction: what follows is queued until EXEC."},
{.name = "unwatch", .arity = 1, .group = "transactions", .since = "2.2.0",
 .flags = NOSCRIPT | LOADING | STALE | FAST | ALLOW_BUSY, .categories = CATEGORY_TRANSACTION,
 .complexity = "O(N), N being the watched keys",
 .summary = "Forgets the watched keys."},
{.name = "watch", .arity = -2, .group = "transactions", .since = "2.2.0",
 .flags = NOSCRIPT | LOADING | STALE | FAST | ALLOW_BUSY | NOT_QUEUED,
 .categories = CATEGORY_TRANSACTION,
 .keys = KEYS(1, -1, LOOK),
 .complexity = "O(keys)",
 .summary = "Lets the next transaction be run only if the keys have not changed by then.",
 .syntax = "key [key ...]"},
};

/* clang-format on */

const struct command_family command_family_transactions = FAMILY_OF(rows);
