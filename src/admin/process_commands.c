/* process_commands: TIME SHUTDOWN MONITOR LOLWUT; MODULE, which only replies that there are no
 * modules. */
#include "admin/admin_commands.h"
#include "base/version.h"
#include "engine/call.h"
#include "engine/engine.h"
#include "resp/reply.h"
#include "script/script.h"
#include "script/script_busy.h"
#include "server/shutdown.h"
#include "session/monitor.h"
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
    static const char *const names[] = {"save",  "nosave", "now",     "force",
                                        "abort", "safe",   "failover"};
    const unsigned count = sizeof(names) / sizeof(names[0]);
    const int save_modes = SHUTDOWN_SAVE | SHUTDOWN_NOSAVE;
    int options = 0;
    for (size_t i = 1; i < call->argc; i++) {
        unsigned option = 0;
        while (option < count && !slice_is(call->argv[i], names[option])) option++;
        if (option == count) return -1;
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
    } else if (options & SHUTDOWN_FAILOVER) {
        reply_error(call->reply, "ERR SHUTDOWN FAILOVER is only supported in cluster mode.");
    } else if (call->engine->restrictions & RESTRICTED_BUSY && !(options & SHUTDOWN_NOSAVE)) {
        reply_error(call->reply, call->engine->busy_refusal);
    } else {
        shut_down(call, options);
    }
}

/* --- MONITOR --- */

void monitor_command(struct call *call) {
    if (!call_may_block(call)) {
        reply_error(call->reply, "ERR MONITOR isn't allowed for DENY BLOCKING client");
    } else if (!(call_session(call)->flags & SESSION_MONITOR)) { /* a second one: no reply */
        monitor_join(call_session(call));
        reply_ok(call->reply);
    }
}

/* --- Modules --- */

void module_list_command(struct call *call) {
    reply_array(call->reply, 0);
}

COMMAND_FORM(module_help_command, call_help,
             "LIST\n"
             "    The loaded modules: none, this server cannot load any.\n")

/* --- LOLWUT ---
 *
 * It draws lists as this server stores them: packed side by side, without gaps.
 *
 *      +-----+--+--------+
 *      |     |::|########|
 *      +--+--+--+-----+--+
 *      |//|     |.....|  |
 *      +--+-----+-----+--+
 *
 * Each row is a list and each box an element. Where boxes end and how they are shaded is random. */

enum {
    COLUMNS_DEFAULT = 66,
    COLUMNS_MAX = 200,
    ROWS_DEFAULT = 5,
    ROWS_MAX = 50,
    BOX_MIN = 3, /* columns with one edge */
    BOX_MAX = 14
};

/* Whether a box ends at a column. The first and the last column always are edges. */
typedef bool edges[COLUMNS_MAX + 1];

static unsigned chance(struct engine *engine, unsigned below) {
    return (unsigned)random_below(&engine->random, below);
}

static void pack(struct engine *engine, edges row, unsigned columns) {
    for (unsigned i = 0; i <= columns; i++) row[i] = false;
    row[0] = row[columns - 1] = true;
    unsigned at = BOX_MIN + chance(engine, BOX_MAX - BOX_MIN);
    for (; at + BOX_MIN < columns; at += BOX_MIN + chance(engine, BOX_MAX - BOX_MIN))
        row[at] = true;
}

/* Appends the border between two rows; NULL is outside. */
static sds append_border(sds out, const bool *above, const bool *below, unsigned columns) {
    for (unsigned i = 0; i < columns; i++) {
        bool corner = (above && above[i]) || (below && below[i]);
        out = sds_append_cstr(out, corner ? "+" : "-");
    }
    return sds_append_cstr(out, "\n");
}

static sds append_boxes(struct engine *engine, sds out, const bool *row, unsigned columns) {
    static const char shades[] = "   .:#/";
    char shade = ' ';
    for (unsigned i = 0; i < columns; i++) {
        if (row[i]) shade = shades[chance(engine, sizeof(shades) - 1)];
        out = sds_append(out, slice_make(row[i] ? "|" : &shade, 1));
    }
    return sds_append_cstr(out, "\n");
}

static sds append_drawing(struct engine *engine, sds out, unsigned columns, unsigned rows) {
    edges lists[2];
    const bool *above = NULL;
    for (unsigned i = 0; i < rows; i++) {
        bool *row = lists[i % 2];
        pack(engine, row, columns);
        out = append_border(out, above, row, columns);
        out = append_boxes(engine, out, row, columns);
        above = row;
    }
    return append_border(out, above, NULL, columns);
}

/* Reads the number at argv[index], if there is one, and limits it to [min, max]. Returns false when
 * it is not a number. */
static bool read_size(struct call *call, size_t index, unsigned min, unsigned max, unsigned *size) {
    int64_t number;
    if (index >= call->argc) return true;
    if (!call_integer(call, index, &number)) return false;
    *size = number < min ? min : number > max ? max : (unsigned)number;
    return true;
}

/* LOLWUT [VERSION version [columns [rows]]]: the same drawing for all versions. */
void lolwut_command(struct call *call) {
    unsigned version = 0, columns = COLUMNS_DEFAULT, rows = ROWS_DEFAULT;
    if (call->argc >= 3 && slice_is(call->argv[1], "version") &&
        (!read_size(call, 2, 0, UINT32_MAX, &version) ||
         !read_size(call, 3, 2 * BOX_MIN, COLUMNS_MAX, &columns) ||
         !read_size(call, 4, 1, ROWS_MAX, &rows)))
        return;
    sds out = append_drawing(call->engine, sds_new(SLICE("")), columns, rows);
    out = sds_append_cstr(out, "\nLists, packed. Packlist " PACKLIST_VERSION
                               ", as Redis ver. " PACKLIST_REDIS_VERSION "\n");
    call_answer_text(call, out);
}
