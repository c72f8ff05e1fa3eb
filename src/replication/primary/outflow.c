#include "replication/primary/outflow.h"

#include "net/connections/conn.h"

#include <string.h>

static struct slice peek(void *source, size_t offset, size_t most) {
    const struct outflow *outflow = source;
    return backlog_peek(outflow->from, &outflow->cursor, offset, most);
}

/* The outflow may be gone already, with its session. */
static void release(void *source) {
    (void)source;
}

static struct shared *share(void *source, size_t offset) {
    const struct outflow *outflow = source;
    return backlog_share(outflow->from, &outflow->cursor, offset);
}

static const struct conn_source functions = {.peek = peek, .release = release, .share = share};

bool outflow_begin(struct outflow *outflow, struct backlog *from, uint64_t offset) {
    if (!backlog_add_cursor(from, &outflow->cursor, offset)) return false;
    outflow->from = from;
    outflow->given = offset;
    return true;
}

void outflow_end(struct outflow *outflow) {
    if (!outflow->from) return;
    backlog_remove_cursor(outflow->from, &outflow->cursor);
    outflow->from = NULL;
}

bool outflow_move(struct outflow *outflow, struct conn *conn) {
    size_t referred = conn_output_referred(conn);
    uint64_t sent = outflow->given - referred;
    bool moved = sent > outflow->cursor.offset;
    if (moved) backlog_move_cursor(outflow->from, &outflow->cursor, sent);
    if (referred > 0 || sent == outflow->from->end) return moved;
    outflow->given = outflow->from->end;
    conn_hold_source(conn, &functions, outflow, (size_t)sent, (size_t)outflow->given);
    return moved;
}
