/* family_replication: commands of replicas and about them, and of clients that wait for them. */
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

{ROW("failover", -1, "server", "6.2.0", ADMIN | NOSCRIPT | STALE,
     "O(replicas)",
     "Lets a replica take over, when it has all data; the server becomes its replica."),
 .syntax = "[TO (host port:integer [FORCE]):target] [ABORT] [TIMEOUT milliseconds:integer]"},
{ROW("psync", -3, "server", "2.8.0", ADMIN | NOSCRIPT | NO_ASYNC_LOADING | NO_MULTI,
     "O(1)", "Makes the connection that of a replica, which gets what it has missed, or all data."),
 .syntax = "replicationid offset:integer"},
{ROW("replconf", -1, "server", "3.0.0", ADMIN | NOSCRIPT | LOADING | STALE | ALLOW_BUSY,
     "O(1)", "Tells the server about the replica at the other end of the connection."),
 .syntax = "\n!"},
{ROW("replicaof", 3, "server", "5.0.0", ADMIN | NOSCRIPT | STALE | NO_ASYNC_LOADING,
     "O(1)", "Makes the server a replica of another one, or a primary."),
 .syntax = "<(host port:integer):host-port | (NO ONE):no-one>:args"},
{ROW("role", 1, "server", "2.8.12", NOSCRIPT | LOADING | STALE | FAST,
     "O(replicas)", "Describes the part that the server plays in replication."),
 .categories = CATEGORY_ADMIN | CATEGORY_DANGEROUS},
{ROW("slaveof", 3, "server", "1.0.0", ADMIN | NOSCRIPT | STALE | NO_ASYNC_LOADING,
     "O(1)", "Makes the server a replica of another one, or a primary; the old name of REPLICAOF."),
 .syntax = "<(host port:integer):host-port | (NO ONE):no-one>:args"
           "\n~5.0.0 `REPLICAOF`"},
{ROW("sync", 1, "server", "1.0.0", ADMIN | NOSCRIPT | NO_ASYNC_LOADING | NO_MULTI,
     "O(1)", "Makes the connection that of a replica, which gets all data.")},
{ROW("wait", 3, "generic", "3.0.0", BLOCKING,
     "O(replicas)", "Waits until replicas have the writes of this connection."),
 .categories = CATEGORY_CONNECTION, .tips = TIP_ALL_SHARDS | TIP_MIN,
 .syntax = "numreplicas:integer timeout:integer"},
{ROW("waitaof", 4, "generic", "7.2.0", BLOCKING,
     "O(replicas)",
     "Waits until the writes of this connection are on the disk, here and at replicas."),
 .categories = CATEGORY_CONNECTION, .tips = TIP_ALL_SHARDS | TIP_MIN,
 .syntax = "numlocal:integer numreplicas:integer timeout:integer"},
};

/* clang-format on */

const struct command_family command_family_replication = FAMILY_OF(rows);
