/* READONLY READWRITE ASKING: what a client says before requests to a node of a cluster
 * (cluster/route.h). Without a cluster the first two have no effect. */
#include "engine/engine.h"
#include "requests/client_commands.h"
#include "session/session.h"

void readonly_command(struct call *call) {
    call_session(call)->marks |= SESSION_READONLY;
    reply_ok(call->reply);
}

void readwrite_command(struct call *call) {
    call_session(call)->marks &= (uint8_t)~SESSION_READONLY;
    reply_ok(call->reply);
}

void asking_command(struct call *call) {
    if (!call->engine->cluster) {
        reply_error(call->reply, "ERR This instance has cluster support disabled");
        return;
    }
    call_session(call)->marks |= SESSION_ASKING;
    reply_ok(call->reply);
}
