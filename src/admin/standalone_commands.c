/* standalone_commands: replies to commands for clusters and modules, of which this server has
 * none. */
#include "admin/admin_commands.h"
#include "engine/call.h"
#include "table/command.h"

/* --- Clusters --- */

/* READONLY, READWRITE and ASKING. redis-cli and valkey-cli conclude from this text that the server
 * runs alone. */
void no_cluster_command(struct call *call) {
    reply_error(call->reply, "ERR This instance has cluster support disabled");
}

/* A subcommand of CLUSTER. With a valid arity it is refused because there is no cluster, otherwise
 * as any command. Arities as in struct command. */
struct cluster_subcommand {
    const char *name;
    int arity;
};

static const struct cluster_subcommand *find_cluster_subcommand(struct slice name) {
    static const struct cluster_subcommand rows[] = {
        {"addslots", -3},
        {"addslotsrange", -4},
        {"bumpepoch", 2},
        {"count-failure-reports", 3},
        {"countkeysinslot", 3},
        {"delslots", -3},
        {"delslotsrange", -4},
        {"failover", -2},
        {"flushslots", 2},
        {"forget", 3},
        {"getkeysinslot", 4},
        {"help", 2},
        {"info", 2},
        {"keyslot", 3},
        {"links", 2},
        {"meet", -4},
        {"myid", 2},
        {"myshardid", 2},
        {"nodes", 2},
        {"replicas", 3},
        {"replicate", 3},
        {"reset", -2},
        {"saveconfig", 2},
        {"set-config-epoch", 3},
        {"setslot", -4},
        {"shards", 2},
        {"slaves", 3},
        {"slots", 2},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (slice_is(name, rows[i].name)) return &rows[i];
    return NULL;
}

void cluster_command(struct call *call) {
    const struct cluster_subcommand *row = find_cluster_subcommand(call->argv[1]);
    if (!row)
        call_unknown_subcommand(call);
    else if (row->arity >= 0 ? call->argc != (size_t)row->arity : call->argc < (size_t)-row->arity)
        reply_error_format(call->reply, "ERR wrong number of arguments for 'cluster|%s' command",
                           row->name);
    else
        no_cluster_command(call);
}

/* --- Modules --- */

void module_list_command(struct call *call) {
    reply_array(call->reply, 0);
}

void module_help_command(struct call *call) {
    static const char *const lines[] = {
        "LIST",
        "    The loaded modules: none, this server cannot load any.",
        NULL,
    };
    call_help(call, lines);
}
