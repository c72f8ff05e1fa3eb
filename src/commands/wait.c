/* WAIT numreplicas timeout: waits until as many replicas have all changes of this client. There are
 * no replicas, so waiting for one ends with the timeout. */
#include "commands/commands.h"
#include "engine/call.h"

static void answer_none(struct call *call) {
    reply_integer(call->reply, 0);
}

void wait_command(struct call *call) {
    int64_t replicas, deadline_ms;
    if (!call_integer(call, 1, &replicas) || !call_timeout_ms(call, 2, &deadline_ms)) return;
    if (replicas <= 0)
        answer_none(call);
    else
        call_block(call, &(struct block_request){.deadline_ms = deadline_ms,
                                                 .answer_unserved = answer_none});
}
