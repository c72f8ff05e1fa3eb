/* standalone_commands: replies to commands for clusters and modules, of which this server has
 * none. */
#include "admin/admin_commands.h"
#include "engine/call.h"

/* --- Clusters --- */

/* READONLY, READWRITE, ASKING and the subcommands of CLUSTER. redis-cli and valkey-cli conclude
 * from this text that the server runs alone. */
void no_cluster_command(struct call *call) {
    reply_error(call->reply, "ERR This instance has cluster support disabled");
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
