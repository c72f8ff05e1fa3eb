/* Bytes that many connections get. */
#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/memory/shared.h"
#include "net/connections/conn_state.h"

#include <string.h>

struct conn_shared {
    struct shared head;
    size_t len;
    char bytes[];
};

struct conn_shared *conn_shared_new(struct slice bytes) {
    struct conn_shared *shared = mem_alloc(sizeof(*shared) + bytes.len);
    shared_begin(&shared->head);
    shared->len = bytes.len;
    memcpy(shared->bytes, bytes.ptr, bytes.len);
    return shared;
}

void conn_shared_end(struct conn_shared *shared) {
    shared_end(&shared->head);
}

bool conn_may_share(const struct conn *conn) {
    const int unfit = CONN_CLOSING | CONN_DRAINING | CONN_FAILED | CONN_ENDED | CONN_CLEARS_OUTPUT;
    return conn->transport->share && !conn->output && !(conn->flags & unfit) &&
           !net_of(conn)->nested;
}

bool conn_send_shared(struct conn *conn, struct conn_shared *shared) {
    CHECKED_ASSERT(conn_may_share(conn));
    struct slice bytes = slice_make(shared->bytes, shared->len);
    if (!conn->transport->share(conn, &shared->head, bytes)) return false;
    conn_count_output(conn, shared->len);
    return true;
}
