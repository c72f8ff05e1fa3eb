/* family_cluster: commands of a node of a cluster; and those for modules, which there are not. */
#include "table/command_row.h"

/* clang-format off */

/* A subcommand of CLUSTER. */
#define OF_CLUSTER(full, arguments, version, bits, hints, does, form)                             \
    {ROW(full, arguments, "cluster", version, SUBCOMMAND | (bits), "O(1)", does),                 \
     .tips = hints, .syntax = form}

static const struct command rows[] = {

/* --- cluster --- */
{ROW("asking", 1, "cluster", "3.0.0", FAST,
     "O(1)", "Announces a query that follows an ASK redirection of a cluster."),
 .categories = CATEGORY_CONNECTION},
{CONTAINER_ROW("cluster", "cluster", "3.0.0",
               "Looks at the cluster, and changes what this node knows of it.")},
OF_CLUSTER("cluster|addslots", -3, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Takes slots over.", "slot:integer [slot:integer ...]"),
OF_CLUSTER("cluster|addslotsrange", -4, "7.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Takes ranges of slots over.", "(start-slot:integer end-slot:integer):range ..."),
OF_CLUSTER("cluster|bumpepoch", 2, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, TIP_NONDETERMINISTIC,
        "Raises the epoch of the configuration.", ""),
OF_CLUSTER("cluster|count-failure-reports", 3, "3.0.0", ADMIN | STALE, TIP_NONDETERMINISTIC,
        "Counts the nodes that report a failure of a node.", "node-id"),
OF_CLUSTER("cluster|countkeysinslot", 3, "3.0.0", STALE, 0,
        "Counts the keys of a slot.", "slot:integer"),
OF_CLUSTER("cluster|delslots", -3, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Gives slots up.", "slot:integer [slot:integer ...]"),
OF_CLUSTER("cluster|delslotsrange", -4, "7.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Gives ranges of slots up.", "(start-slot:integer end-slot:integer):range ..."),
OF_CLUSTER("cluster|failover", -2, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Makes a replica take over from its primary.", "[<FORCE | TAKEOVER>:options]"),
{ROW("cluster|flushslot", -3, "cluster", "9.0.0", SUBCOMMAND | WRITE | ADMIN | NO_ASYNC_LOADING,
     "O(N), N being the number of keys in the slot", "Deletes the keys of a slot."),
 .categories = CATEGORY_KEYSPACE,
 .syntax = "slot:integer [<ASYNC | SYNC>:flush-type]",
 .databases = DATABASES_ALL},
OF_CLUSTER("cluster|flushslots", 2, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Gives all slots up.", ""),
OF_CLUSTER("cluster|forget", 3, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Removes a node from the known ones.", "node-id"),
OF_CLUSTER("cluster|getkeysinslot", 4, "3.0.0", STALE, TIP_NONDETERMINISTIC,
        "Lists keys of a slot.", "slot:integer count:integer"),
OF_CLUSTER("cluster|help", 2, "5.0.0", LOADING | STALE, 0, "Explains the subcommands.", ""),
OF_CLUSTER("cluster|info", 2, "3.0.0", STALE, TIP_NONDETERMINISTIC,
        "Describes the state of a node.", ""),
OF_CLUSTER("cluster|keyslot", 3, "3.0.0", STALE, 0, "Tells the slot of a key.", "key:string"),
OF_CLUSTER("cluster|links", 2, "7.0.0", STALE, TIP_NONDETERMINISTIC,
        "Lists the connections to other nodes.", ""),
OF_CLUSTER("cluster|meet", -4, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Makes two nodes know each other.", "ip port:integer [cluster-bus-port:integer@4.0.0]"
        "\n@4.0.0 Takes the port of the bus."),
OF_CLUSTER("cluster|myid", 2, "3.0.0", STALE, 0, "Tells a node's id.", ""),
OF_CLUSTER("cluster|myshardid", 2, "7.2.0", STALE, TIP_NONDETERMINISTIC,
        "Tells the id of a node's shard.", ""),
OF_CLUSTER("cluster|nodes", 2, "3.0.0", STALE, TIP_NONDETERMINISTIC, "Describes all nodes.", ""),
OF_CLUSTER("cluster|replicas", 3, "5.0.0", ADMIN | STALE, TIP_NONDETERMINISTIC,
        "Lists the replicas of a node.", "node-id"),
OF_CLUSTER("cluster|replicate", 3, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Makes a node a replica.", "node-id"),
OF_CLUSTER("cluster|reset", -2, "3.0.0", ADMIN | NOSCRIPT | STALE, 0,
        "Makes a node forget its cluster.", "[<HARD | SOFT>:reset-type]"),
OF_CLUSTER("cluster|saveconfig", 2, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Writes the configuration of a node to its disk.", ""),
OF_CLUSTER("cluster|set-config-epoch", 3, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Sets the epoch of a new node.", "config-epoch:integer"),
OF_CLUSTER("cluster|setslot", -4, "3.0.0", ADMIN | STALE | NO_ASYNC_LOADING, 0,
        "Binds a slot to a node.",
        "slot:integer <IMPORTING importing=node-id | MIGRATING migrating=node-id"
        " | NODE node=node-id | STABLE>:subcommand [TIMEOUT timeout:integer@8.0.0]"
        "\n@8.0.0 Takes TIMEOUT."),
OF_CLUSTER("cluster|shards", 2, "7.0.0", LOADING | STALE, TIP_NONDETERMINISTIC,
        "Describes the shards and their slots.", ""),
OF_CLUSTER("cluster|slaves", 3, "3.0.0", ADMIN | STALE, TIP_NONDETERMINISTIC,
        "Lists the replicas of a node.", "node-id\n~5.0.0 `CLUSTER REPLICAS`"),
OF_CLUSTER("cluster|slot-stats", -4, "8.2.0", LOADING | STALE,
        TIP_NONDETERMINISTIC | TIP_ALL_SHARDS, "Tells how slots are used.",
        "<(SLOTSRANGE start-slot:integer end-slot:integer):slotsrange | (ORDERBY metric "
        "[LIMIT limit:integer] [<ASC | DESC>:order]):orderby>:filter"),
OF_CLUSTER("cluster|slots", 2, "3.0.0", LOADING | STALE, TIP_NONDETERMINISTIC,
        "Describes the slots and their nodes.", "\n~7.0.0 `CLUSTER SHARDS`"
        "\n@4.0.0 Tells the ids of nodes."
        "\n@7.0.0 Tells more about each node."),
{ROW("clusterscan", -2, "cluster", "9.1.0", READONLY,
     "O(1) for every call, O(N) for a complete iteration",
     "Walks over all keys of a cluster in small steps."),
 .categories = CATEGORY_KEYSPACE,
 .tips = TIP_NONDETERMINISTIC | TIP_SPECIAL_REQUEST | TIP_SPECIAL_RESPONSE,
 .keys = ONE_KEY(KEY_NOT_KEY),
 .syntax = "cursor:string [MATCH match-pattern:pattern] [COUNT count:integer] [TYPE type:string]"
           " [SLOT slot:integer]"},
{ROW("readonly", 1, "cluster", "3.0.0", LOADING | STALE | FAST,
     "O(1)", "Lets a connection read from a replica of a cluster."),
 .categories = CATEGORY_CONNECTION},
{ROW("readwrite", 1, "cluster", "3.0.0", LOADING | STALE | FAST,
     "O(1)", "Ends what READONLY began."),
 .categories = CATEGORY_CONNECTION},

/* --- server --- */
{CONTAINER_ROW("module", "server", "4.0.0", "Looks at modules; there are none.")},
{HELP_ROW("module", "server", "5.0.0")},
{ROW("module|list", 2, "server", "4.0.0", SUBCOMMAND | ADMIN | NOSCRIPT,
     "O(1)", "Describes the loaded modules; there are none."),
 .tips = TIP_NONDETERMINISTIC_ORDER},
};

/* clang-format on */

const struct command_family command_family_cluster = FAMILY_OF(rows);
