/* save_commands: SAVE BGSAVE LASTSAVE BGREWRITEAOF. */
#include "admin/admin_commands.h"
#include "aof/aof.h"
#include "engine/engine.h"
#include "resp/reply.h"
#include "snapshot/background.h"
#include "snapshot/save.h"

static bool is_saving(struct call *call) {
    if (!save_is_running(call->engine)) return false;
    reply_error(call->reply, "ERR Background save already in progress");
    return true;
}

void save_command(struct call *call) {
    struct engine *engine = call->engine;
    if (is_saving(call)) return;
    engine->save->saves++;
    if (save_now(engine))
        reply_ok(call->reply);
    else
        reply_error(call->reply, "ERR");
}

/* In a transaction the snapshot begins after its end. */
void bgsave_command(struct call *call) {
    struct engine *engine = call->engine;
    bool scheduled = call->argc == 2 && slice_is(call->argv[1], "schedule");
    if (call->argc > 1 && !scheduled) {
        call_syntax_error(call);
    } else if (is_saving(call)) {
        return;
    } else if (!call_may_block(call) || (background_is_busy(engine) && scheduled)) {
        save_schedule(engine);
        reply_status(call->reply, SLICE("Background saving scheduled"));
    } else if (background_is_busy(engine)) {
        reply_error(call->reply,
                    "ERR Another child process is active (AOF?): can't BGSAVE right now. Use "
                    "BGSAVE SCHEDULE in order to schedule a BGSAVE whenever possible.");
    } else if (save_begin(engine)) {
        reply_status(call->reply, SLICE("Background saving started"));
    } else {
        reply_error(call->reply, "ERR");
    }
}

void lastsave_command(struct call *call) {
    reply_integer(call->reply, call->engine->save->saved_s);
}

void bgrewriteaof_command(struct call *call) {
    struct engine *engine = call->engine;
    if (aof_rewrite_is_running(engine)) {
        reply_error(call->reply, "ERR Background append only file rewriting already in progress");
    } else if (!call_may_block(call) || background_is_busy(engine)) {
        aof_rewrite_schedule(engine);
        reply_status(call->reply, SLICE("Background append only file rewriting scheduled"));
    } else if (aof_rewrite_begin(engine)) {
        reply_status(call->reply, SLICE("Background append only file rewriting started"));
    } else {
        reply_error(call->reply, "ERR Can't execute an AOF background rewriting. Please check the "
                                 "server logs for more information.");
    }
}
