/* monitor_command: MONITOR. */
#include "admin/admin_commands.h"
#include "engine/engine.h"
#include "resp/reply.h"
#include "session/monitor.h"
#include "session/session.h"

void monitor_command(struct call *call) {
    if (!call_may_block(call)) {
        reply_error(call->reply, "ERR MONITOR isn't allowed for DENY BLOCKING client");
    } else if (!(call_session(call)->flags & SESSION_MONITOR)) { /* a second one: no reply */
        monitor_join(call_session(call));
        reply_ok(call->reply);
    }
}
