/* family_standalone: what a server that runs alone answers about replication, clusters, modules and
 * scripts. */
#include "admin/admin_commands.h"
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

/* --- cluster --- */
{"asking", no_cluster_command, 1, F, NO_KEYS, "cluster", "3.0.0",
 "O(1)",
 "Announces a query that follows the redirection of a cluster; there is no cluster.",
 ""},
{"cluster", cluster_command, -2, 0, NO_KEYS, "cluster", "3.0.0",
 "O(1)",
 "Answers that there is no cluster.",
 "subcommand [arg ...]"},
{"readonly", no_cluster_command, 1, L|S|F, NO_KEYS, "cluster", "3.0.0",
 "O(1)",
 "Lets a connection read from a replica of a cluster; there is no cluster.",
 ""},
{"readwrite", no_cluster_command, 1, L|S|F, NO_KEYS, "cluster", "3.0.0",
 "O(1)",
 "Ends what READONLY began; there is no cluster.",
 ""},

/* --- scripting --- */
{"function", NULL, -2, C, NO_KEYS, "scripting", "7.0.0",
 "Depends on the subcommand",
 "Looks at functions; there are none.",
 ""},
{"function|help", function_help_command, 2, P, NO_KEYS, "scripting", "7.0.0",
 "O(1)",
 "Explains the subcommands.",
 ""},
{"function|list", function_list_command, -2, X|N|UNORDERED, NO_KEYS, "scripting", "7.0.0",
 "O(1)",
 "Describes the libraries of functions; there are none.",
 "[LIBRARYNAME library-name-pattern] [WITHCODE]"},
{"function|stats", function_stats_command, 2, X|N|Y|VARIES|SHARDS_JOIN, NO_KEYS, "scripting",
 "7.0.0",
 "O(1)",
 "Describes the function that is running; there is none.",
 ""},
{"script", NULL, -2, C, NO_KEYS, "scripting", "2.6.0",
 "Depends on the subcommand",
 "Looks at the cache of scripts, which is empty.",
 ""},
{"script|exists", script_exists_command, -3, X|N|SHARDS_AND, NO_KEYS, "scripting", "2.6.0",
 "O(N), N being the scripts named",
 "Tells which scripts are cached: none is.",
 "sha1 ..."},
{"script|help", script_help_command, 2, P, NO_KEYS, "scripting", "5.0.0",
 "O(1)",
 "Explains the subcommands.",
 ""},

/* --- server --- */
{"failover", failover_command, -1, A|N|S, NO_KEYS, "server", "6.2.0",
 "O(1)",
 "Lets a replica take over; there are none.",
 "[TO (host port:integer [FORCE]):target] [ABORT] [TIMEOUT milliseconds:integer]"},
{"module", NULL, -2, C, NO_KEYS, "server", "4.0.0",
 "Depends on the subcommand",
 "Looks at modules; there are none.",
 ""},
{"module|help", module_help_command, 2, P, NO_KEYS, "server", "5.0.0",
 "O(1)",
 "Explains the subcommands.",
 ""},
{"module|list", module_list_command, 2, X|A|N|UNORDERED, NO_KEYS, "server", "4.0.0",
 "O(1)",
 "Describes the loaded modules; there are none.",
 ""},
{"replicaof", replicaof_command, 3, A|N|S|I, NO_KEYS, "server", "5.0.0",
 "O(1)",
 "Ends replication with NO ONE; there is none.",
 "<(host port:integer):host-port | (NO ONE):no-one>:args"},
{"role", role_command, 1, L|S|N|F, NO_KEYS, "server", "2.8.12",
 "O(1)",
 "Describes the part that the server plays in replication: that of a primary without replicas.",
 ""},
{"slaveof", replicaof_command, 3, A|N|S|I, NO_KEYS, "server", "1.0.0",
 "O(1)",
 "Ends replication with NO ONE; the old name of REPLICAOF.",
 "<(host port:integer):host-port | (NO ONE):no-one>:args"
 "\n~5.0.0 `REPLICAOF`"},
};

/* clang-format on */

const struct command_family command_family_standalone = FAMILY_OF(rows);
