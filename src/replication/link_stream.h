/* link_stream: runs the commands that the primary sends.
 *
 * A unit takes effect as a whole: the commands between MULTI and EXEC are collected and run when
 * EXEC has come, so that a link that is cut leaves no half of a transaction. Only whole units move
 * the offset and go to the backlog, with the bytes of the primary unchanged: replicas of this
 * replica share its history.
 *
 * A command that this server does not know, or cannot run, would make its data differ from the
 * primary's. So it closes the link, and all data is asked for again. */
#ifndef PACKLIST_REPLICATION_LINK_STREAM_H
#define PACKLIST_REPLICATION_LINK_STREAM_H

#include "engine/requester.h"
#include "resp/parser.h"
#include "resp/reply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct link;

struct link_stream {
    bool is_running;
    struct requester requester;
    struct resp_parser parser;
    struct reply reply; /* of the command that runs; nobody gets it */
    struct reply unit;  /* the bytes since MULTI; empty outside of a transaction */
    struct slice done;  /* bytes of this batch that were executed, but are not in the backlog yet */
    int64_t begun_ms;   /* steady_ms */
};

/* Begins in a database; ends, forgetting an incomplete unit. link_stream_end does nothing when it
 * does not run. */
void link_stream_begin(struct link_stream *stream, struct engine *engine, int database);
void link_stream_end(struct link_stream *stream);

/* Returns the selected database. */
int link_stream_database(const struct link_stream *stream);

/* Takes bytes of the stream and runs the whole commands. Returns how many bytes it took. May close
 * the link. O(bytes), plus the cost of the commands. */
size_t link_stream_take(struct link *link, char *bytes, size_t len);

/* Called once a second. */
void link_stream_tick(struct link *link);

#endif
