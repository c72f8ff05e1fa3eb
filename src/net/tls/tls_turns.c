/* Which connections of TLS have something to do in the next iteration, whose handshakes go on, and
 * what happens when one fails. */
#include "base/chain.h"
#include "base/clock.h"
#include "net/tls/tls_context_internal.h"
#include "net/tls/tls_state.h"

enum { TIMER_MS = 500 }; /* between two looks for handshakes that take too long */

/* --- Lists --- */

void tls_leave_list(struct tls *tls) {
    struct tls_shared *shared = tls_shared_of(tls);
    enum tls_list list = tls->list;
    if (list != TLS_NO_LIST)
        CHAIN_REMOVE(shared->lists[list].first, shared->lists[list].last, tls, prev, next);
    tls->list = TLS_NO_LIST;
}

void tls_enter_list(struct tls *tls, enum tls_list list) {
    struct tls_shared *shared = tls_shared_of(tls);
    if (tls->is_closed || tls->list == list) return;
    tls_leave_list(tls);
    CHAIN_APPEND(shared->lists[list].first, shared->lists[list].last, tls, prev, next);
    tls->list = list;
    if (!uv_is_closing((uv_handle_t *)&shared->idle))
        uv_idle_start(&shared->idle, shared->take_turns);
}

void tls_want_turn(struct tls *tls) {
    tls_enter_list(tls, TLS_TURNS);
}

void tls_begin_shaking(struct tls *tls) {
    struct tls_shared *shared = tls_shared_of(tls);
    const struct tls_context *context = shared->contexts[tls->role];
    tls->is_shaking = true;
    tls->deadline_ms = (uint64_t)clock_monotonic_ms() +
                       (context ? context->handshake_timeout_ms : TLS_HANDSHAKE_TIMEOUT_MS);
    if (!shared->shaking_first) net_timer_start(shared->timer, TIMER_MS, TIMER_MS);
    CHAIN_APPEND(shared->shaking_first, shared->shaking_last, tls, shaking_prev, shaking_next);
}

void tls_end_shaking(struct tls *tls) {
    struct tls_shared *shared = tls_shared_of(tls);
    if (!tls->is_shaking) return;
    tls->is_shaking = false;
    CHAIN_REMOVE(shared->shaking_first, shared->shaking_last, tls, shaking_prev, shaking_next);
}

/* --- The end of the input, and failures --- */

void tls_fail(struct tls *tls, int status) {
    tls->is_failed = true;
    tls->end_status = status;
    tls->codec.input_len = 0;
    tls->codec.has_more = false;
    tls_end_shaking(tls);
    if (!tls->is_closed) tls_lower(tls)->transport->stop_reading(tls_lower(tls));
    tls_want_turn(tls);
}

void tls_log_failure(struct conn *conn, const char *reason, struct log_limit *limit) {
    static const char format[] = "TLS with %s failed: %s";
    char name[CONN_NAME_MAX];
    conn_peer_name(conn, name);
    if (tls_of(conn)->role == TLS_CLIENT)
        log_warning(format, name, reason);
    else if (limit)
        log_notice_limited(limit, format, name, reason);
    else
        log_verbose(format, name, reason);
}

void tls_fail_and_log(struct tls *tls, int status, const char *reason, struct log_limit *limit) {
    if (tls->is_closed || tls->is_failed) return;
    if (tls->call)
        tls_note_failure(tls, reason);
    else
        tls_log_failure(tls_conn(tls), reason, limit);
    tls_fail(tls, status);
}

void tls_fail_with(struct tls *tls, int status, const char *reason) {
    bool is_refused = status == UV_EPROTO;
    tls_fail_and_log(tls, status, reason, is_refused ? &tls_shared_of(tls)->refused : NULL);
}

void tls_fail_by_openssl(struct tls *tls) {
    tls_fail_with(tls, UV_EPROTO, tls_reason(&tls->codec));
}

void tls_begin(struct tls *tls) {
    struct conn *lower = tls_lower(tls);
    if (tls->is_begun) return;
    tls->is_begun = true;
    tls_begin_shaking(tls);
    if (tls->role == TLS_CLIENT) tls_want_turn(tls);
    lower->transport->start_reading(lower);
}
