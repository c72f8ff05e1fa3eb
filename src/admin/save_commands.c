/* save_commands: SAVE BGSAVE LASTSAVE BGREWRITEAOF. */
#include "admin/admin_commands.h"
#include "durability/background.h"
#include "server/server.h"

static bool is_saving(struct call *call) {
    if (!save_is_running()) return false;
    reply_error(call->reply, "ERR Background save already in progress");
    return true;
}

void save_command(struct call *call) {
    if (is_saving(call)) return;
    server.durability.save.saves++;
    if (save_now())
        reply_ok(call->reply);
    else
        reply_error(call->reply, "ERR");
}

/* In a transaction nothing is begun before its end. */
void bgsave_command(struct call *call) {
    bool scheduled = call->argc == 2 && slice_is(call->argv[1], "schedule");
    if (call->argc > 1 && !scheduled) {
        call_syntax_error(call);
    } else if (is_saving(call)) {
        return;
    } else if (!call_may_block(call) || (background_is_busy() && scheduled)) {
        save_schedule();
        reply_status(call->reply, SLICE("Background saving scheduled"));
    } else if (background_is_busy()) {
        reply_error(call->reply,
                    "ERR Another child process is active (AOF?): can't BGSAVE right now. Use "
                    "BGSAVE SCHEDULE in order to schedule a BGSAVE whenever possible.");
    } else if (save_begin()) {
        reply_status(call->reply, SLICE("Background saving started"));
    } else {
        reply_error(call->reply, "ERR");
    }
}

void lastsave_command(struct call *call) {
    reply_integer(call->reply, server.durability.save.saved_s);
}

void bgrewriteaof_command(struct call *call) {
    if (aof_rewrite_is_running()) {
        reply_error(call->reply, "ERR Background append only file rewriting already in progress");
    } else if (!call_may_block(call) || background_is_busy()) {
        aof_rewrite_schedule();
        reply_status(call->reply, SLICE("Background append only file rewriting scheduled"));
    } else if (aof_rewrite_begin()) {
        reply_status(call->reply, SLICE("Background append only file rewriting started"));
    } else {
        reply_error(call->reply, "ERR Can't execute an AOF background rewriting. Please check the "
                                 "server logs for more information.");
    }
}
