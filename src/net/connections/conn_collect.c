/* conn_collect: a large argument is read straight into the string that may become a value.
 *
 *      bytes sent       *3 $3 SET $1 k $500000000 ┌ argument ┐ *1 $4 PING
 *      input            *3 $3 SET $1 k $500000000              (kept)
 *      collected                                  argument
 *      presented then   *3 $3 SET $1 k $500000000 \r\n *1 $4 PING
 *
 * A client cannot take memory by announcing alone: the string gets its full size when a small part
 * of the argument has arrived. Only that part is copied, once. */
#include "net/connections/conn_state.h"

#include <assert.h>

/* The part is 1 MB, or 1/256 of a very large argument, so that copying it takes 2 ms at most. */
enum { COLLECT_SHARE = 256 };

static size_t believed(size_t have, size_t len) {
    size_t first = len / COLLECT_SHARE;
    if (first < CONN_BELIEVED) first = CONN_BELIEVED;
    return have < first && first < len ? first : len;
}

/* Returns a string that begins with the bytes, with the capacity that believed() allows for `len`.
 * NULL when there is no memory. */
static sds begin_text(const char *bytes, size_t have, size_t len) {
    sds text = sds_try_new_uninit(believed(have, len));
    if (text == NULL) return NULL;
    memcpy(text, bytes, have);
    sds_set_len(text, have);
    return text;
}

bool conn_collect(struct conn *conn, const char *argument, size_t have, size_t len) {
    struct net *net = net_of(conn);
    assert(net->presenting == conn && net->collecting.text == NULL && have < len);
    if (conn->input != NULL && conn->input->collected.text != NULL) return false;
    sds text = begin_text(argument, have, len);
    if (text == NULL) return false;
    net->collecting = (struct collected){.text = text, .missing = len - have};
    net->collecting_from = argument;
    return true;
}

size_t conn_collected_input(const struct conn *conn) {
    if (conn->input == NULL || conn->input->collected.text == NULL) return 0;
    return sds_len(conn->input->collected.text);
}

sds conn_take_collected(struct conn *conn) {
    if (conn->input == NULL) return NULL;
    sds text = conn->input->collected.text;
    assert(text == NULL || conn->input->collected.missing == 0);
    conn->input->collected.text = NULL;
    return text;
}

static bool grow(const struct conn *conn) {
    struct collected *collected = &conn->input->collected;
    size_t have = sds_len(collected->text);
    sds text = begin_text(collected->text, have, have + collected->missing);
    if (text == NULL) return false;
    conn_free_text(conn, collected->text);
    collected->text = text;
    return true;
}

uv_buf_t conn_collect_room(struct conn *conn, size_t most) {
    struct collected *collected = &conn->input->collected;
    if (sds_available(collected->text) == 0 && !grow(conn)) return uv_buf_init(NULL, 0);
    size_t room = sds_available(collected->text);
    if (room > collected->missing) room = collected->missing;
    if (room > most) room = most;
    return uv_buf_init(collected->text + sds_len(collected->text), (unsigned)room);
}

void conn_collect_read(struct conn *conn, size_t len) {
    struct collected *collected = &conn->input->collected;
    sds_set_len(collected->text, sds_len(collected->text) + len);
    collected->missing -= len;
    conn->events->collecting(conn);
}
