/* family_replication: commands of replicas and about them, and of clients that wait for them. */
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

{.name = "failover", .arity = -1, .group = "server", .since = "6.2.0",
 .flags = ADMIN | NOSCRIPT | STALE,
 .complexity = "O(replicas)",
 .summary = "Lets a replica take over, when it has all data; the server becomes its replica.",
 .syntax = "[TO (host port:integer [FORCE]):target] [ABORT] [TIMEOUT milliseconds:integer]"},
{.name = "psync", .arity = -3, .group = "server", .since = "2.8.0",
 .flags = ADMIN | NOSCRIPT | NO_ASYNC_LOADING | NO_MULTI,
 .complexity = "O(1)",
 .summary = "Makes the connection that of a replica, which gets what it has missed, or all data.",
 .syntax = "replicationid offset:integer"},
{.name = "replconf", .arity = -1, .group = "server", .since = "3.0.0",
 .flags = ADMIN | NOSCRIPT | LOADING | STALE | ALLOW_BUSY,
 .complexity = "O(1)",
 .summary = "Tells the server about the replica at the other end of the connection.",
 .syntax = "\n!"},
{.name = "replicaof", .arity = 3, .group = "server", .since = "5.0.0",
 .flags = ADMIN | NOSCRIPT | STALE | NO_ASYNC_LOADING,
 .complexity = "O(1)",
 .summary = "Makes the server a replica of another one, or a primary.",
 .syntax = "<(host port:integer):host-port | (NO ONE):no-one>:args"},
{.name = "role", .arity = 1, .group = "server", .since = "2.8.12",
 .flags = NOSCRIPT | LOADING | STALE | FAST, .categories = CATEGORY_ADMIN | CATEGORY_DANGEROUS,
 .complexity = "O(replicas)",
 .summary = "Describes the part that the server plays in replication."},
{.name = "slaveof", .arity = 3, .group = "server", .since = "1.0.0",
 .flags = ADMIN | NOSCRIPT | STALE | NO_ASYNC_LOADING,
 .complexity = "O(1)",
 .summary = "Makes the server a replica of another one, or a primary; the old name of REPLICAOF.",
 .syntax = "<(host port:integer):host-port | (NO ONE):no-one>:args"
           "\n~5.0.0 `REPLICAOF`"},
{.name = "sync", .arity = 1, .group = "server", .since = "1.0.0",
 .flags = ADMIN | NOSCRIPT | NO_ASYNC_LOADING | NO_MULTI,
 .complexity = "O(1)",
 .summary = "Makes the connection that of a replica, which gets all data."},
{.name = "wait", .arity = 3, .group = "generic", .since = "3.0.0",
 .flags = BLOCKING, .categories = CATEGORY_CONNECTION, .tips = TIP_ALL_SHARDS | TIP_MIN,
 .complexity = "O(replicas)",
 .summary = "Waits until replicas have the writes of this connection.",
 .syntax = "numreplicas:integer timeout:integer"},
{.name = "waitaof", .arity = 4, .group = "generic", .since = "7.2.0",
 .flags = BLOCKING, .categories = CATEGORY_CONNECTION, .tips = TIP_ALL_SHARDS | TIP_MIN,
 .complexity = "O(replicas)",
 .summary = "Waits until the writes of this connection are on the disk, here and at replicas.",
 .syntax = "numlocal:integer numreplicas:integer timeout:integer"},
};

/* clang-format on */

const struct command_family command_family_replication = FAMILY_OF(rows);
