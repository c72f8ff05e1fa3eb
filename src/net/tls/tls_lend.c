/* Connections whose records another thread works on for a while: the codec goes there and comes
 * back; everything else stays. */
#include "net/tls/tls_state.h"

bool tls_is_over_tcp(const struct conn *conn) {
    const struct filter *filter = conn->transport->filter;
    return filter && filter->room == tls_room &&
           tls_lower(tls_of(conn))->transport == &transport_tcp;
}

bool tls_may_lend(const struct conn *conn) {
    const struct tls *tls = tls_of(conn);
    return tls->is_open && !tls->call && !tls->is_failed && !tls->end_status &&
           !tls->lower_status && !tls->unsent.first && !tls->write && tls->list == TLS_NO_LIST &&
           !tls_has_input(&tls->codec);
}

void tls_lend(struct conn *conn, struct tls_codec *to) {
    struct tls *tls = tls_of(conn);
    tls_detach(&tls->codec);
    tls_codec_move(to, &tls->codec);
}

void tls_take_back(struct conn *conn, struct tls_codec *from, struct block_queue *records) {
    struct tls *tls = tls_of(conn);
    tls_codec_move(&tls->codec, from);
    tls_attach(&tls->codec, &tls_shared_of(tls)->worker);
    tls->reads = false;
    if (!records->first) return;
    tls->unsent = *records;
    *records = (struct block_queue){.first = NULL};
    tls_want_turn(tls);
}

size_t tls_lent_allocated(const struct conn *conn, const struct tls_codec *codec) {
    return tls_of(conn)->ssl_allocated + tls_codec_allocated(codec);
}
