/* WAIT numreplicas timeout: until so many replicas have all that this client has written. There are
 * no replicas: waiting for any ends with the timeout. */
#include "base/number.h"
#include "commands/commands.h"
#include "server/call.h"

static void answer_none(struct reply *reply) {
    reply_integer(reply, 0);
}

/* A timeout in whole milliseconds; *deadline_ms gets the wall clock time, 0 for none. */
static bool parse_timeout(struct call *call, size_t index, int64_t *deadline_ms) {
    int64_t ms;
    const char *error = NULL;
    if (!number_parse_int64(call->argv[index], &ms))
        error = "ERR timeout is not an integer or out of range";
    else if (ms < 0)
        error = "ERR timeout is negative";
    else if (ms > INT64_MAX - call->now_ms)
        error = "ERR timeout is out of range";
    if (error) {
        reply_error(call->reply, error);
        return false;
    }
    *deadline_ms = ms ? call->now_ms + ms : 0;
    return true;
}

void wait_command(struct call *call) {
    int64_t replicas, deadline_ms;
    if (!call_integer(call, 1, &replicas) || !parse_timeout(call, 2, &deadline_ms)) return;
    if (replicas <= 0)
        answer_none(call->reply);
    else
        call_block(call,
                   &(struct block_request){.deadline_ms = deadline_ms, .expire = answer_none});
}
