#include "server/propagate.h"

#include "base/number.h"
#include "server/call.h"
#include "server/server.h"
#include "table/command.h"

#include <assert.h>
#include <stdio.h>

static const struct slice multi[] = {{"MULTI", 5}}, exec[] = {{"EXEC", 4}};

/* --- The stream --- */

static void write_command(struct reply *stream, const struct slice *argv, size_t argc) {
    reply_array(stream, argc);
    for (size_t i = 0; i < argc; i++) reply_bulk(stream, argv[i]);
}

static void write_select(struct reply *stream, int database) {
    char buffer[INT64_TEXT_MAX];
    write_command(stream, (const struct slice[]){SLICE("SELECT"), number_text(buffer, database)},
                  2);
}

/* --- Units --- */

void propagate_annotate(struct reply *stream, int64_t time_s) {
    char line[32];
    int len = snprintf(line, sizeof(line), "#TS:%lld\r\n", (long long)time_s);
    reply_raw(stream, slice_make(line, (size_t)len));
}

/* aof-timestamp-enabled: the first unit of a second is preceded by the time. It never goes back,
 * even if the clock does: who cuts a file at a time looks for the first that is later. */
static void begin_unit(struct propagation *propagation) {
    int64_t now_s = server.now_ms / 1000;
    if (server.config.aof_timestamps && now_s > propagation->timestamp_s) {
        propagate_annotate(&propagation->stream, now_s);
        propagation->timestamp_s = now_s;
    }
    propagation->unit_begin = propagation->stream.len;
}

/* Puts MULTI in front of the unit. */
static void enclose_unit(struct propagation *propagation) {
    struct reply *stream = &propagation->stream;
    size_t len = stream->len;
    write_command(stream, multi, 1);
    size_t more = stream->len - len;
    char *unit = stream->data + propagation->unit_begin;
    memmove(unit + more, unit, len - propagation->unit_begin);
    stream->len = propagation->unit_begin;
    write_command(stream, multi, 1);
    stream->len = len + more;
}

static void end_unit(struct propagation *propagation) {
    if (propagation->unit_count > 1) write_command(&propagation->stream, exec, 1);
    propagation->unit_count = 0;
}

void propagate_tell(int database, const struct slice *argv, size_t argc) {
    struct propagation *propagation = &server.propagation;
    if (!propagation->is_on) return;
    if (propagation->unit_count == 0)
        begin_unit(propagation);
    else if (propagation->unit_count == 1)
        enclose_unit(propagation);
    propagation->unit_count++;
    if (database != propagation->database) write_select(&propagation->stream, database);
    propagation->database = database;
    write_command(&propagation->stream, argv, argc);
}

/* --- What happened --- */

void propagate_ran(const struct call *call, bool changed, bool ends_unit) {
    struct propagation *propagation = &server.propagation;
    bool is_write = call->command->flags & COMMAND_WRITE;
    if (changed && is_write && !propagation->is_replaced)
        propagate_tell(call->database, call->argv, call->argc);
    propagation->is_replaced = false;
    if (!ends_unit || !propagate_is_inside(propagation)) return;
    end_unit(propagation);
    call->session->told_position = propagate_position(propagation);
}

void propagate_removed(const struct call *call, struct slice key, bool unlink) {
    const struct slice argv[] = {unlink ? SLICE("UNLINK") : SLICE("DEL"), key};
    propagate_tell(call->database, argv, 2);
    if (call->command == NULL) end_unit(&server.propagation);
}

/* --- Who listens --- */

uint64_t propagate_position(const struct propagation *propagation) {
    return propagation->taken + propagation->stream.len;
}

void propagate_take(struct reply *taken) {
    struct reply *stream = &server.propagation.stream;
    assert(!propagate_is_inside(&server.propagation));
    server.propagation.taken += stream->len;
    if (taken->len > 0) {
        reply_raw(taken, slice_make(stream->data, stream->len));
        stream->len = 0;
        return;
    }
    struct reply emptied = *taken;
    *taken = *stream;
    *stream = emptied;
}

void propagate_start(void) {
    server.propagation.is_on = true;
    propagate_forget_database();
}

void propagate_stop(void) {
    end_unit(&server.propagation);
    server.propagation.is_on = false;
}

void propagate_forget_database(void) {
    server.propagation.database = -1;
}
