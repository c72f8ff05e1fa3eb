/* process_commands: TIME and SHUTDOWN. */
#include "admin/admin_commands.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "resp/reply.h"
#include "server/server_run.h"
#include "session/session.h"

void time_command(struct call *call) {
    /* The clock stands still while a script runs. */
    int64_t now_us = call->origin == ORIGIN_SCRIPT ? call->now_ms * 1000 : clock_wall_us();
    reply_array(call->reply, 2);
    reply_bulk_integer(call->reply, now_us / 1000000);
    reply_bulk_integer(call->reply, now_us % 1000000);
}

/* --- SHUTDOWN --- */

/* Returns the options (enum shutdown_option); -1 when one is unknown or they contradict each
 * other. */
static int parse_shutdown(const struct call *call) {
    static const char *const names[] = {"save", "nosave", "now", "force", "abort"};
    const int save_modes = SHUTDOWN_SAVE | SHUTDOWN_NOSAVE;
    int options = 0;
    for (size_t i = 1; i < call->argc; i++) {
        unsigned option = 0;
        while (option < 5 && !slice_is(call->argv[i], names[option])) option++;
        if (option == 5) return -1;
        options |= 1 << option;
    }
    if (options & SHUTDOWN_ABORT && options != SHUTDOWN_ABORT) return -1;
    return (options & save_modes) == save_modes ? -1 : options;
}

/* Revokes a signal that has not ended the server yet. */
static void abort_shutdown(struct call *call) {
    if (call->engine->pending_signal)
        reply_ok(call->reply);
    else
        reply_error(call->reply, "ERR No shutdown in progress.");
    call->engine->pending_signal = 0;
}

/* The server does not wait for replicas, so NOW has no effect, and ABORT finds only a signal that
 * waits for the append-only file. */
void shutdown_command(struct call *call) {
    int options = parse_shutdown(call);
    if (options < 0) {
        call_syntax_error(call);
    } else if (options & SHUTDOWN_ABORT) {
        abort_shutdown(call);
    } else if (call->engine->restrictions & RESTRICTED_BUSY && !(options & SHUTDOWN_NOSAVE)) {
        reply_error(call->reply, call->engine->busy_refusal);
    } else if (server_shutdown(call->engine, options)) {
        session_close_after_reply(call_session(call)); /* the reply is the end of the connection */
    } else {
        reply_error(call->reply, "ERR Errors trying to SHUTDOWN. Check logs.");
    }
}
