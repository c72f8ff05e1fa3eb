/* family_standalone: replies of a server without clusters and modules to the commands for these. */
#include "table/command_row.h"

/* clang-format off */

/* A subcommand of CLUSTER, with what it does where there is a cluster. */
#define REFUSED(full, arguments, version, bits, hints, does, form)                                \
    {ROW(full, arguments, "cluster", version, SUBCOMMAND | (bits), "O(1)", does),                 \
     .tips = hints, .syntax = form}

static const struct command rows[] = {

/* --- cluster --- */
{ROW("asking", 1, "cluster", "3.0.0", FAST,
     "O(1)", "Announces a query that follows the redirection of a cluster; there is no cluster."),
 .categories = CATEGORY_CONNECTION},
{CONTAINER_ROW("cluster", "cluster", "3.0.0",
               "Refuses what a cluster would do; there is no cluster.")},
REFUSED("cluster|addslots", -3, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Takes slots over.", "slot:integer [slot:integer ...]"),
REFUSED("cluster|addslotsrange", -4, "7.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Takes ranges of slots over.", "(start-slot:integer end-slot:integer):range ..."),
REFUSED("cluster|bumpepoch", 2, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, TIP_NONDETERMINISTIC,
        "Raises the epoch of the configuration.", ""),
REFUSED("cluster|count-failure-reports", 3, "3.0.0", ADMIN | STALE, TIP_NONDETERMINISTIC,
        "Counts the nodes that report a failure of a node.", "node-id"),
REFUSED("cluster|countkeysinslot", 3, "3.0.0", STALE, 0,
        "Counts the keys of a slot.", "slot:integer"),
REFUSED("cluster|delslots", -3, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Gives slots up.", "slot:integer [slot:integer ...]"),
REFUSED("cluster|delslotsrange", -4, "7.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Gives ranges of slots up.", "(start-slot:integer end-slot:integer):range ..."),
REFUSED("cluster|failover", -2, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Makes a replica take over from its primary.", "[<FORCE | TAKEOVER>:options]"),
REFUSED("cluster|flushslots", 2, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Gives all slots up.", ""),
REFUSED("cluster|forget", 3, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Removes a node from the known ones.", "node-id"),
REFUSED("cluster|getkeysinslot", 4, "3.0.0", STALE, TIP_NONDETERMINISTIC,
        "Lists keys of a slot.", "slot:integer count:integer"),
REFUSED("cluster|help", 2, "5.0.0", LOADING | STALE, 0, "Explains the subcommands.", ""),
REFUSED("cluster|info", 2, "3.0.0", STALE, TIP_NONDETERMINISTIC,
        "Describes the state of a node.", ""),
REFUSED("cluster|keyslot", 3, "3.0.0", STALE, 0, "Tells the slot of a key.", "key:string"),
REFUSED("cluster|links", 2, "7.0.0", STALE, TIP_NONDETERMINISTIC,
        "Lists the connections to other nodes.", ""),
REFUSED("cluster|meet", -4, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Makes two nodes know each other.", "ip port:integer [cluster-bus-port:integer@4.0.0]"
        "\n@4.0.0 Takes the port of the bus."),
REFUSED("cluster|myid", 2, "3.0.0", STALE, 0, "Tells a node's id.", ""),
REFUSED("cluster|myshardid", 2, "7.2.0", STALE, TIP_NONDETERMINISTIC,
        "Tells the id of a node's shard.", ""),
REFUSED("cluster|nodes", 2, "3.0.0", STALE, TIP_NONDETERMINISTIC, "Describes all nodes.", ""),
REFUSED("cluster|replicas", 3, "5.0.0", ADMIN | STALE, TIP_NONDETERMINISTIC,
        "Lists the replicas of a node.", "node-id"),
REFUSED("cluster|replicate", 3, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Makes a node a replica.", "node-id"),
REFUSED("cluster|reset", -2, "3.0.0", ADMIN | NOSCRIPT | STALE, 0,
        "Makes a node forget its cluster.", "[<HARD | SOFT>:reset-type]"),
REFUSED("cluster|saveconfig", 2, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Writes the configuration of a node to its disk.", ""),
REFUSED("cluster|set-config-epoch", 3, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Sets the epoch of a new node.", "config-epoch:integer"),
REFUSED("cluster|setslot", -4, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Binds a slot to a node.",
        "slot:integer <IMPORTING importing=node-id | MIGRATING migrating=node-id"
        " | NODE node=node-id | STABLE>:subcommand"),
REFUSED("cluster|shards", 2, "7.0.0", LOADING | STALE, TIP_NONDETERMINISTIC,
        "Describes the shards and their slots.", ""),
REFUSED("cluster|slaves", 3, "3.0.0", ADMIN | STALE, TIP_NONDETERMINISTIC,
        "Lists the replicas of a node.", "node-id\n~5.0.0 `CLUSTER REPLICAS`"),
REFUSED("cluster|slot-stats", -4, "8.2.0", LOADING | STALE, TIP_NONDETERMINISTIC | TIP_ALL_SHARDS,
        "Tells how slots are used.",
        "<(SLOTSRANGE start-slot:integer end-slot:integer):slotsrange | (ORDERBY metric "
        "[LIMIT limit:integer] [<ASC | DESC>:order]):orderby>:filter"),
REFUSED("cluster|slots", 2, "3.0.0", LOADING | STALE, TIP_NONDETERMINISTIC,
        "Describes the slots and their nodes.", "\n~7.0.0 `CLUSTER SHARDS`"
        "\n@4.0.0 Tells the ids of nodes."
        "\n@7.0.0 Tells more about each node."),
{ROW("readonly", 1, "cluster", "3.0.0", LOADING | STALE | FAST,
     "O(1)", "Lets a connection read from a replica of a cluster; there is no cluster."),
 .categories = CATEGORY_CONNECTION},
{ROW("readwrite", 1, "cluster", "3.0.0", LOADING | STALE | FAST,
     "O(1)", "Ends what READONLY began; there is no cluster."),
 .categories = CATEGORY_CONNECTION},

/* --- server --- */
{CONTAINER_ROW("module", "server", "4.0.0", "Looks at modules; there are none.")},
{HELP_ROW("module", "server", "5.0.0")},
{ROW("module|list", 2, "server", "4.0.0", SUBCOMMAND | ADMIN | NOSCRIPT,
     "O(1)", "Describes the loaded modules; there are none."),
 .tips = TIP_NONDETERMINISTIC_ORDER},
};

/* clang-format on */

const struct command_family command_family_standalone = FAMILY_OF(rows);
