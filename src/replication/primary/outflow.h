/* outflow: a connection takes the bytes of a backlog as fast as its socket accepts them, without a
 * copy. */
#ifndef PACKLIST_REPLICATION_PRIMARY_OUTFLOW_H
#define PACKLIST_REPLICATION_PRIMARY_OUTFLOW_H

#include "replication/history/backlog.h"

struct conn;

/* Must not move while it flows. A connection has one that flows at a time, and no other sources. */
struct outflow {
    struct backlog *from; /* NULL: it does not flow */
    struct backlog_cursor cursor;
    uint64_t given; /* the connection refers to the bytes up to here */
};

/* Begins at an offset. Returns false when the backlog does not have it. O(blocks). */
bool outflow_begin(struct outflow *outflow, struct backlog *from, uint64_t offset);

/* Ends. The connection must be closed, or have sent all that it was given. Does nothing when it
 * does not flow. */
void outflow_end(struct outflow *outflow);

/* Gives the connection what was appended, unless it has not sent all of the earlier bytes. Returns
 * whether it has sent any since the last call. O(1) on average. */
bool outflow_move(struct outflow *outflow, struct conn *conn);

/* Returns the bytes that are not sent. O(1). */
static inline uint64_t outflow_left(const struct outflow *outflow) {
    return outflow->from ? outflow->from->end - outflow->cursor.offset : 0;
}

#endif
