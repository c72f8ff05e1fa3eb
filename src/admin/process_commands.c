/* process_commands: TIME and SHUTDOWN. */
#include "admin/admin_commands.h"
#include "engine/engine.h"
#include "engine/engine_clock.h"
#include "resp/reply.h"
#include "script/script.h"
#include "script/script_busy.h"
#include "server/shutdown.h"
#include "session/session.h"

/* The clock stands still in EXEC, and in a script until it is busy. A client sees the clock that
 * its next command will have: time never goes back. */
static int64_t time_of(struct call *call) {
    struct engine *engine = call->engine;
    if (call->origin == ORIGIN_SCRIPT) return script_busy_wall_us(engine->scripts->run);
    if (call->origin == ORIGIN_CLIENT) engine_update_clock(engine);
    return engine->now_us;
}

void time_command(struct call *call) {
    int64_t now_us = time_of(call);
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

/* A client that waits can only be answered when the server has not ended. */
static void shut_down(struct call *call, int options) {
    switch (shutdown_begin(call->engine, options)) {
    case SHUTDOWN_FAILS: shutdown_answer_failed(call); break;
    case SHUTDOWN_WAITS: shutdown_await(call); break;
    case SHUTDOWN_ENDS:
        session_close_after_reply(call_session(call)); /* the reply is the end of the connection */
        break;
    }
}

void shutdown_command(struct call *call) {
    int options = parse_shutdown(call);
    if (options < 0) {
        call_syntax_error(call);
    } else if (options & SHUTDOWN_ABORT) {
        if (shutdown_abort(call->engine))
            reply_ok(call->reply);
        else
            reply_error(call->reply, "ERR No shutdown in progress.");
    } else if (call->engine->restrictions & RESTRICTED_BUSY && !(options & SHUTDOWN_NOSAVE)) {
        reply_error(call->reply, call->engine->busy_refusal);
    } else {
        shut_down(call, options);
    }
}
