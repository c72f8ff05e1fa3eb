/* family_standalone: replies of a server without clusters and modules to the commands for these. */
#include "admin/admin_commands.h"
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

/* --- cluster --- */
{.name = "asking", .run = no_cluster_command, .arity = 1, .group = "cluster", .since = "3.0.0",
 .flags = FAST, .categories = CATEGORY_CONNECTION,
 .complexity = "O(1)",
 .summary = "Announces a query that follows the redirection of a cluster; there is no cluster."},
{.name = "cluster", .run = cluster_command, .arity = -2, .group = "cluster", .since = "3.0.0",
 .complexity = "O(1)",
 .summary = "Answers that there is no cluster.",
 .syntax = "subcommand [arg ...]"},
{.name = "readonly", .run = no_cluster_command, .arity = 1, .group = "cluster", .since = "3.0.0",
 .flags = LOADING | STALE | FAST, .categories = CATEGORY_CONNECTION,
 .complexity = "O(1)",
 .summary = "Lets a connection read from a replica of a cluster; there is no cluster."},
{.name = "readwrite", .run = no_cluster_command, .arity = 1, .group = "cluster", .since = "3.0.0",
 .flags = LOADING | STALE | FAST, .categories = CATEGORY_CONNECTION,
 .complexity = "O(1)",
 .summary = "Ends what READONLY began; there is no cluster."},

/* --- server --- */
{.name = "module", .arity = -2, .group = "server", .since = "4.0.0",
 .flags = CONTAINER,
 .complexity = "Depends on the subcommand",
 .summary = "Looks at modules; there are none."},
{.name = "module|help", .run = module_help_command, .arity = 2, .group = "server", .since = "5.0.0",
 .flags = SUBCOMMAND | LOADING | STALE,
 .complexity = "O(1)",
 .summary = "Explains the subcommands."},
{.name = "module|list", .run = module_list_command, .arity = 2, .group = "server", .since = "4.0.0",
 .flags = SUBCOMMAND | ADMIN | NOSCRIPT, .tips = TIP_NONDETERMINISTIC_ORDER,
 .complexity = "O(1)",
 .summary = "Describes the loaded modules; there are none."},
};

/* clang-format on */

const struct command_family command_family_standalone = FAMILY_OF(rows);
