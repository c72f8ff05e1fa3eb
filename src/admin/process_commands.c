/* process_commands: TIME and SHUTDOWN. */
#include "admin/admin_commands.h"
#include "base/clock.h"
#include "server/server.h"

void time_command(struct call *call) {
    int64_t now_us = clock_wall_us();
    reply_array(call->reply, 2);
    reply_bulk_integer(call->reply, now_us / 1000000);
    reply_bulk_integer(call->reply, now_us % 1000000);
}

/* --- SHUTDOWN --- */

enum shutdown_option {
    SHUTDOWN_SAVE = 1 << 0,
    SHUTDOWN_NOSAVE = 1 << 1,
    SHUTDOWN_NOW = 1 << 2,
    SHUTDOWN_FORCE = 1 << 3,
    SHUTDOWN_ABORT = 1 << 4
};

/* The options, or -1 when there are others or they contradict each other. */
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

/* There are no replicas to wait for and no file to finish, so NOW changes nothing and a
 * shutdown is over at once: ABORT never finds one. */
void shutdown_command(struct call *call) {
    int options = parse_shutdown(call);
    if (options < 0) {
        call_syntax_error(call);
    } else if (options & SHUTDOWN_ABORT) {
        reply_error(call->reply, "ERR No shutdown in progress.");
    } else if (options & SHUTDOWN_SAVE && !(options & SHUTDOWN_FORCE)) {
        reply_error(call->reply, "ERR The data cannot be saved: it is kept in memory only. Use "
                                 "SHUTDOWN NOSAVE to end the server without it.");
    } else {
        server_shutdown("SHUTDOWN");
        session_close_after_reply(call->session); /* answers with the connection's end */
    }
}
