/* monitor_command: MONITOR. */
#include "admin/admin_commands.h"
#include "server/server.h"

void monitor_command(struct call *call) {
    if (!call->may_block) {
        reply_error(call->reply, "ERR MONITOR isn't allowed for DENY BLOCKING client");
    } else if (!(call->session->flags & SESSION_MONITOR)) { /* a second one is not answered */
        monitor_join(call->session);
        reply_ok(call->reply);
    }
}
