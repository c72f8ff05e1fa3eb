/* Runs the commands that the primary sends.
 *
 * The commands between MULTI and EXEC are collected and run when EXEC has come, so that a link that
 * is cut leaves no half of a transaction. Only whole units move the offset and go to the backlog,
 * with the bytes of the primary unchanged: replicas of this replica share its history.
 *
 * After a command that this server does not know, or cannot run, its data would differ from the
 * primary's. So it closes the link, and asks for all data again, for one command at most once a
 * minute (link_reset_for in link.c). */
#include "engine/blocking.h"
#include "engine/engine.h"
#include "execute/blocking_serve.h"
#include "execute/execute.h"
#include "execute/prefetch.h"
#include "net/connections/conn.h"
#include "replication/link/link.h"
#include "session/pause.h"
#include "table/command.h"

#include <assert.h>

enum {
    EXPECT_AT = 32 * 1024,      /* as for clients: a large request gets a buffer of its own */
    REPLY_KEEP_MAX = 64 * 1024, /* a larger buffer is freed */
    SHOWN_MAX = 128             /* bytes of an unknown command that the log shows */
};

/* The most bytes between MULTI and EXEC: several texts of any length. */
#define UNIT_MAX (4 * TEXT_LENGTH_MAX)

/* --- One command --- */

/* The limits of directives are those of clients. What the primary has accepted fits here, too. */
static const struct resp_limits limits = {.bulk_max = (int64_t)TEXT_LENGTH_MAX,
                                          .authenticated = true};

/* Returns a text as the log may show it: users may have written it. */
static struct slice shown(const struct engine *engine, struct slice text) {
    if (engine->config.hide_user_data_from_log) return SLICE("*redacted*");
    return slice_make(text.ptr, text.len < SHOWN_MAX ? text.len : SHOWN_MAX);
}

/* The command was not run. */
static void refuse(struct link *link, struct slice name) {
    enum call_error error = link->stream.requester.error;
    const char *why = error == CALL_ERROR_UNKNOWN ? "which this server does not know"
                      : error == CALL_ERROR_ARITY ? "with a wrong number of arguments"
                                                  : "which has no place in its stream";
    struct slice text = shown(link->engine, name);
    link->engine->stats.unexpected_errors++;
    link_refuse(link, text,
                "MASTER has sent the command '%.*s', %s. The data would differ from the "
                "primary's: asking for all of it.",
                slice_precision(text), text.ptr, why);
}

/* The command has replied an error, although it has changed the primary's data. */
static void complain(struct link *link) {
    const struct link_stream *stream = &link->stream;
    struct slice error =
        shown(link->engine, slice_make(stream->reply.data + 1, stream->reply.len - 3));
    const char *name = stream->requester.last_command->name;
    link->engine->stats.unexpected_errors++;
    link_refuse(link, slice_of_cstr(name),
                "== CRITICAL == The command '%s' of MASTER fails here: %.*s. The data differs "
                "from the primary's: asking for all of it.",
                name, slice_precision(error), error.ptr);
}

/* Returns whether the error of a command that was run can be passed over: data of a replica that
 * clients may write to can differ. */
static bool is_passable(const struct engine *engine, enum call_error error) {
    return error == CALL_ERROR_NONE ||
           (error == CALL_ERROR_OTHER && !engine->config.replica_read_only);
}

/* Runs a command. Returns false when the link was closed; what the unit has changed so far is then
 * a unit of the command log. */
static bool run(struct link *link, const struct slice *argv, size_t argc) {
    struct link_stream *stream = &link->stream;
    enum execution execution = execute_from_primary(&stream->requester, &stream->reply, argv, argc);
    bool is_refused = execution == EXECUTION_REFUSED;
    if (is_refused || !is_passable(link->engine, stream->requester.error)) {
        execute_end_unit(link->engine); /* what follows in the command log is none of it */
        if (is_refused)
            refuse(link, argv[0]);
        else
            complain(link);
        return false;
    }
    stream->reply.len = 0;
    if (stream->reply.capacity > REPLY_KEEP_MAX) reply_free(&stream->reply);
    return true;
}

/* The bytes of a unit, or of a command about the link, are done with. Those of a whole batch go to
 * the backlog together. */
static void note_done(struct link_stream *stream, struct slice bytes) {
    struct slice *done = &stream->done;
    if (done->len > 0 && done->ptr + done->len != bytes.ptr) link_pass_on(stream);
    if (done->len == 0) done->ptr = bytes.ptr;
    done->len += bytes.len;
}

/* The changes of a unit are made. */
static void end_unit(struct link *link, struct slice bytes) {
    struct engine *engine = link->engine;
    execute_end_unit(engine);
    note_done(&link->stream, bytes);
    if (blocking_has_ready(engine->blocking)) blocking_serve(engine, engine->blocking);
}

/* --- MULTI and EXEC --- */

static bool is_exec(const struct slice *argv, size_t argc) {
    return argc == 1 && slice_is(argv[0], "exec");
}

/* Runs the commands of the unit; its bytes were parsed before. Returns false when the link was
 * closed. */
static bool run_unit(struct link *link) {
    struct link_stream *stream = &link->stream;
    struct resp_parser parser;
    bool done = true;
    resp_parser_init(&parser);
    for (size_t at = 0; done && at < stream->unit.len; at += parser.consumed) {
        enum resp_status status =
            resp_parse_array(&parser, stream->unit.data + at, stream->unit.len - at, &limits);
        assert(status == RESP_REQUEST);
        (void)status;
        bool frames = at == 0 || is_exec(parser.argv, parser.argc); /* MULTI, or EXEC */
        if (parser.argc > 0 && !frames) done = run(link, parser.argv, parser.argc);
    }
    resp_parser_free(&parser);
    return done;
}

/* Adds a command to the unit, which ends with EXEC. Returns false when the link was closed. */
static bool collect(struct link *link, const struct slice *argv, size_t argc, struct slice bytes) {
    struct link_stream *stream = &link->stream;
    if (argc > 0 && slice_is(argv[0], "multi")) {
        link_give_up(link, "MASTER has sent MULTI inside of a transaction.");
        return false;
    }
    if (bytes.len > UNIT_MAX - stream->unit.len) {
        link_give_up(link, "MASTER has sent a transaction of more than 128 GB.");
        return false;
    }
    reply_raw(&stream->unit, bytes);
    if (!is_exec(argv, argc)) return true;
    if (!run_unit(link)) return false;
    end_unit(link, slice_make(stream->unit.data, stream->unit.len));
    link_pass_on(stream);
    if (stream->unit.capacity > REPLY_KEEP_MAX)
        reply_free(&stream->unit);
    else
        stream->unit.len = 0;
    return true;
}

/* --- The stream --- */

/* Returns whether the command is about the link, not the data. */
static bool is_about_link(const struct slice *argv, size_t argc) {
    return argc == 0 || slice_is(argv[0], "ping") || slice_is(argv[0], "replconf");
}

static void take_about_link(struct link *link, const struct slice *argv, size_t argc) {
    if (argc < 2 || !slice_is(argv[0], "replconf") || !slice_is(argv[1], "getack")) return;
    link_pass_on(&link->stream);
    link_send_ack(link);
}

/* Returns whether the command must wait: CLIENT PAUSE holds everything back, or what changes data.
 * A unit waits as a whole. */
static bool is_held_back(struct engine *engine, const struct slice *argv, size_t argc) {
    if (!engine->restrictions) return false;
    return pause_holds(engine, is_about_link(argv, argc) ? 0 : COMMAND_WRITE);
}

/* Takes a whole command. Returns false when the link was closed. */
static bool take_command(struct link *link, const struct slice *argv, size_t argc,
                         struct slice bytes) {
    struct link_stream *stream = &link->stream;
    if (stream->unit.len > 0) return collect(link, argv, argc, bytes);
    if (is_about_link(argv, argc)) {
        /* The offset that is confirmed is the one before GETACK itself, as Redis does. */
        take_about_link(link, argv, argc);
        note_done(stream, bytes);
        return true;
    }
    if (argc == 1 && slice_is(argv[0], "multi")) {
        reply_raw(&stream->unit, bytes);
        return true;
    }
    if (!run(link, argv, argc)) return false;
    end_unit(link, bytes);
    return true;
}

/* The bytes end inside a command. */
static void expect_more(struct link *link) {
    size_t needs = resp_parser_needs(&link->stream.parser);
    if (needs >= EXPECT_AT) conn_expect(link->conn, needs);
}

size_t link_stream_take(struct link *link, char *bytes, size_t len) {
    struct engine *engine = link->engine;
    struct link_stream *stream = &link->stream;
    size_t done = 0, looked_ahead = 0;
    execute_begin_batch(engine);
    while (done < len) {
        struct resp_parser *parser = &stream->parser;
        enum resp_status status = resp_parse_array(parser, bytes + done, len - done, &limits);
        if (status == RESP_MORE) {
            expect_more(link);
            break;
        }
        if (status == RESP_ERROR) {
            link_give_up(link, "Protocol error from MASTER: %s. Asking for all data.",
                         parser->error);
            return done;
        }
        if (is_held_back(engine, parser->argv, parser->argc)) {
            link_hold_back(link);
            break;
        }
        struct slice command = slice_make(bytes + done, parser->consumed);
        done += parser->consumed;
        if (parser->argc > 0 && command.ptr[0] != '*') {
            /* Parsing has changed the bytes, which the own replicas could not get. */
            link_give_up(link, "Protocol error from MASTER: a line of text. Asking for all data.");
            return done;
        }
        prefetch_next(&looked_ahead, engine->keyspaces[stream->requester.database], parser->argv,
                      parser->argc, bytes + done, len - done, &engine->stats.prefetched);
        execute_renew_clock(engine);
        if (!take_command(link, parser->argv, parser->argc, command)) return done;
    }
    link_pass_on(stream);
    return done;
}
