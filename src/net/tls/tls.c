/* TLS connections: their handshake, input, turns and end.
 *
 *      records arrive ──→ shared->input ──→ OpenSSL ──→ conn_room ──→ conn_received
 *                              └─ kept: what was not read when a callback runs or reading stops
 *
 * A connection that holds input, or output that the lower transport did not take while it could not
 * write, is in the list of turns: an idle handle gives it one in the next loop iteration. */
#include "net/tls/tls.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/memory/alloc.h"
#include "net/tls/tls_context_internal.h"
#include "net/tls/tls_state.h"

#include <errno.h>
#include <openssl/err.h>
#include <sys/socket.h>

enum { HANDSHAKE_RECORD = 22 };

/* --- What all connections share --- */

static void on_idle(uv_idle_t *idle);
static void on_timer(void *arg);

void tls_free(struct net *net) {
    struct tls_shared *shared = net->tls;
    for (int role = 0; role < TLS_ROLES; role++) tls_context_free(shared->contexts[role]);
    BIO_meth_free(shared->method);
    tls_worker_free(&shared->worker);
    mem_free(shared);
    net->tls = NULL;
}

static struct tls_shared *shared_of(struct net *net) {
    if (net->tls) return net->tls;
    struct tls_shared *shared = net->tls = mem_alloc_zeroed(sizeof(*shared));
    shared->net = net;
    shared->method = tls_codec_method_new();
    uv_idle_init(&net->loop.uv, &shared->idle);
    shared->idle.data = shared;
    shared->take_turns = on_idle;
    shared->timer = net_timer_new(net, on_timer, shared);
    tls_worker_begin(&shared->worker, &net->loop);
    return shared;
}

void tls_use(struct net *net, enum tls_role role, struct tls_context *context) {
    if (!context && !net->tls) return;
    struct tls_shared *shared = shared_of(net);
    tls_context_free(shared->contexts[role]);
    shared->contexts[role] = context;
}

struct tls_context *tls_copy_of_used(const struct net *net, enum tls_role role) {
    const struct tls_context *context = net->tls ? net->tls->contexts[role] : NULL;
    return context ? tls_context_copy(context) : NULL;
}

void tls_use_client_of(struct net *net, const struct net *other) {
    struct tls_context *context = tls_copy_of_used(other, TLS_CLIENT);
    if (context) tls_use(net, TLS_CLIENT, context);
}

struct tls_certificates tls_certificates(const struct net *net, enum tls_role role) {
    const struct tls_context *context = net->tls ? net->tls->contexts[role] : NULL;
    return context ? context->certificates : (struct tls_certificates){0};
}

/* --- The end of the input --- */

/* Tells the connection that a write has failed, or that its input has ended, or that it is not
 * connected. From the loop or read_now only. */
static void report_end(struct tls *tls) {
    struct conn *conn = tls_conn(tls);
    if (tls->call) {
        if (tls->end_status && !tls->is_closed) tls_connected(tls, tls->end_status);
        return;
    }
    if (tls->is_failed && tls->write) {
        tls->write = NULL;
        conn_written(conn, tls->end_status);
    }
    if (tls->is_closed || !tls->end_status || !tls->reads || tls->reported) return;
    tls->reported = true;
    conn_input_ended(conn, tls->end_status);
}

/* --- The handshake --- */

/* Whether the other side of a connection that had to wait has closed or reset it. */
static bool is_gone(const struct tls *tls) {
    char byte;
    const struct conn *lower = tls_lower(tls);
    int fd = lower->transport->fd(lower);
    if (fd < 0) return false;
    ssize_t got = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

/* Forgets what was counted in an earlier loop iteration. */
static void count_anew(struct tls_shared *shared) {
    if (shared->turn == shared->net->turn) return;
    shared->turn = shared->net->turn;
    shared->begun = shared->steps = 0;
}

/* Handshakes that have begun come first. While they take all steps of an iteration, it begins only
 * one: else those who wait for a step would become more and more, and late. */
static bool may_begin(struct tls_shared *shared) {
    const struct tls_context *context = shared->contexts[TLS_SERVER];
    count_anew(shared);
    if (!context || shared->begun == 0) return true;
    return shared->begun < context->new_per_turn && shared->steps < TLS_TURN_STEPS;
}

/* Whether a handshake that has begun may go on in this iteration. */
static bool may_go_on(struct tls *tls) {
    struct tls_shared *shared = tls_shared_of(tls);
    if (tls->role == TLS_CLIENT) return true;
    count_anew(shared);
    if (shared->steps == TLS_TURN_STEPS) return false;
    shared->steps++;
    return true;
}

/* Counts what OpenSSL has taken for the connection since the balance was `before`. It may also have
 * freed what belongs to others, such as old sessions. */
static void count_memory(struct tls *tls, int64_t before) {
    int64_t now = (int64_t)tls->ssl_allocated + mem_thread_balance() - before;
    tls->ssl_allocated = now > 0 ? (size_t)now : 0;
}

/* Makes OpenSSL's connection. */
static bool make_ssl(struct tls *tls) {
    struct tls_shared *shared = tls_shared_of(tls);
    const struct tls_context *context = shared->contexts[tls->role];
    BIO *bio = context ? BIO_new(shared->method) : NULL;
    int64_t before = mem_thread_balance();
    SSL *ssl = bio ? SSL_new(context->ssl) : NULL;
    if (!ssl) {
        BIO_free(bio);
        ERR_clear_error();
        tls_fail_with(tls, UV_EPROTO, context ? "no memory" : "TLS is not configured");
        return false;
    }
    BIO_set_data(bio, &tls->codec);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    tls->codec.ssl = ssl;
    count_memory(tls, before);
    if (tls->role == TLS_SERVER) {
        SSL_set_accept_state(ssl);
        return true;
    }
    SSL_set_connect_state(ssl);
    if (tls_set_names(tls->call, ssl)) return true;
    ERR_clear_error();
    tls_fail_with(tls, UV_EPROTO, "no certificate can have the name that is expected");
    return false;
}

/* Begins a handshake, of a client with its first bytes. Returns false when it must wait, or has
 * failed. */
static bool begin_handshake(struct tls *tls) {
    struct tls_shared *shared = tls_shared_of(tls);
    if (tls->role == TLS_SERVER) {
        if (tls->codec.input_len == 0) return false;
        if (!may_begin(shared)) {
            tls_enter_list(tls, TLS_WAITING);
            return false;
        }
        shared->begun++;
        tls_begin_shaking(tls);
    }
    return make_ssl(tls);
}

/* The handshake has succeeded. A session that is resumed brings the certificate that was verified
 * when it began. */
static void open_up(struct tls *tls) {
    tls_end_shaking(tls);
    if (tls_peer_has_expired(&tls->codec)) {
        tls_fail_with(tls, UV_EPROTO, "the certificate of the resumed session has expired");
        return;
    }
    tls->is_open = true;
    tls->codec.empty_records = 0;
    if (!tls->reads) tls_lower(tls)->transport->stop_reading(tls_lower(tls));
}

/* Returns whether the handshake is done. */
static bool shake(struct tls *tls) {
    if (tls->is_open) return true;
    if (tls->is_failed) return false;
    if (tls->codec.ssl && !may_go_on(tls)) {
        tls->codec.has_more = true;
        return false;
    }
    if (!tls->codec.ssl && !begin_handshake(tls)) return false;
    tls->codec.has_more = false;
    int64_t before = mem_thread_balance();
    CHECKED_ASSERT(ERR_peek_error() == 0 && tls->codec.worker->output_len == 0);
    int result = SSL_do_handshake(tls->codec.ssl);
    int error = SSL_get_error(tls->codec.ssl, result);
    if (result == 1) tls_free_buffers(&tls->codec);
    count_memory(tls, before);
    if (result == 1)
        open_up(tls);
    else if (error != SSL_ERROR_WANT_READ)
        tls_fail_by_openssl(tls);
    else if (tls->codec.input_len > 0)
        tls->codec.has_more = true; /* records_left has stopped it */
    ERR_clear_error(); /* also a success leaves errors, such as that of an old ticket */
    tls_flush(tls);
    if (tls->is_open && tls->write) tls_want_turn(tls);
    if (tls->is_open && tls->role == TLS_SERVER && tls_has_peer(&tls->codec))
        conn_verified(tls_conn(tls));
    return tls->is_open;
}

/* --- Input --- */

static size_t decrypt(struct tls *tls, uv_buf_t room) {
    const char *reason = NULL;
    int status = 0;
    size_t len = tls_decrypt(&tls->codec, room, &status, &reason);
    if (reason)
        tls_fail_with(tls, status, reason);
    else if (status)
        tls->end_status = status;
    return len;
}

/* Works on the input that is there, until the connection takes no more or has had its share. */
static void work(struct tls *tls) {
    struct conn *conn = tls_conn(tls);
    tls->codec.records_left = TLS_TURN_RECORDS;
    if (!shake(tls)) {
        tls_keep_input(&tls->codec);
        if (tls->codec.has_more) tls_want_turn(tls);
        if (tls->end_status && tls->list != TLS_WAITING) report_end(tls);
        return;
    }
    if (tls->call) tls_connected(tls, 0);
    bool goes_on = true, has_share = true;
    while (goes_on && tls->reads && !tls->is_closed && !tls->end_status) {
        uv_buf_t room = conn_room(conn);
        has_share = room.base != NULL;
        if (!has_share || tls->is_closed) break;
        size_t len = decrypt(tls, room);
        goes_on = tls->codec.has_more && tls->codec.records_left > 0;
        tls_keep_input(&tls->codec);
        if (tls->is_closed) return;
        tls_flush(tls);
        tls_go_on_writing(tls);
        if (len > 0) conn_received(conn, len);
    }
    if (tls->is_closed) return;
    tls_keep_input(&tls->codec);
    if (!has_share) tls->codec.has_more = true;
    if (tls->reads && !tls->end_status && tls_has_input(&tls->codec))
        tls_want_turn(tls);
    else if (tls->end_status && (tls->is_failed || !tls->codec.has_more))
        report_end(tls);
}

static uv_buf_t room_for(struct conn *conn) {
    struct tls *tls = tls_of(conn);
    struct tls_shared *shared = tls_shared_of(tls);
    net_note_awake(shared->net);
    if (tls->is_closed || tls_has_input(&tls->codec) || tls->end_status)
        return uv_buf_init(NULL, 0);
    return uv_buf_init(shared->input, sizeof(shared->input));
}

static void received(struct conn *conn, size_t len) {
    struct tls *tls = tls_of(conn);
    tls->codec.input = tls_shared_of(tls)->input;
    tls->codec.input_len = len;
    if (tls->is_open || tls->role == TLS_CLIENT) {
        work(tls);
        return;
    }
    if (!tls->codec.ssl && tls->codec.input[0] != HANDSHAKE_RECORD) {
        tls_fail_and_log(tls, UV_EPROTO, "it does not speak TLS, but this port does",
                         &tls_shared_of(tls)->plain);
        report_end(tls);
        return;
    }
    tls_keep_input(&tls->codec);
    if (!tls->codec.ssl) tls_end_shaking(tls); /* it has no part in how long it waits for others */
    tls_enter_list(tls, tls->codec.ssl ? TLS_TURNS : TLS_WAITING);
}

/* The lower transport is read no more. What it has brought before comes first. */
static void input_ended(struct conn *conn, int status) {
    struct tls *tls = tls_of(conn);
    if (tls->is_closed || tls->end_status) return;
    if (!tls->is_open) {
        tls_fail_with(tls, status,
                      status == UV_EOF ? "the other side closed" : uv_strerror(status));
        report_end(tls);
    } else if (tls_has_input(&tls->codec)) {
        tls->lower_status = status;
        tls_want_turn(tls);
    } else {
        tls->end_status = status;
        report_end(tls);
    }
}

/* --- Turns ---
 *
 * Handshakes of clients take their steps only in turns, and an iteration has few such steps:
 * thousands of clients that connect at once do not delay those that are connected. */

static void take_turn(struct tls *tls) {
    tls_pump(tls);
    if (tls->is_closed) return;
    if (tls->end_status)
        report_end(tls);
    else if (tls_has_input(&tls->codec) || (tls->role == TLS_CLIENT && !tls->is_open))
        work(tls);
    if (tls->is_closed || tls->end_status || !tls->lower_status || tls_has_input(&tls->codec))
        return;
    tls->end_status = tls->lower_status;
    report_end(tls);
}

/* Returns the client that has waited longest and the newest one alternately: a new client does not
 * wait for all that came before, and clients that keep coming delay the others to half the rate at
 * most. */
static struct tls *next_waiting(struct tls_shared *shared) {
    shared->newest_next = !shared->newest_next;
    return shared->newest_next ? shared->lists[TLS_WAITING].first : shared->lists[TLS_WAITING].last;
}

/* Begins handshakes that had to wait, and ends those whose client has gone: few in an iteration. */
static void begin_waiting(struct tls_shared *shared) {
    unsigned gone = 0;
    while (shared->lists[TLS_WAITING].first && gone < TLS_TURN_GONE && may_begin(shared)) {
        struct tls *tls = next_waiting(shared);
        tls_leave_list(tls);
        if (is_gone(tls)) {
            gone++;
            tls_fail_with(tls, UV_EOF, "the other side closed before its handshake");
            report_end(tls);
        } else {
            work(tls);
        }
    }
}

/* Those that come into the lists meanwhile have their turn in the next iteration. */
static void on_idle(uv_idle_t *idle) {
    struct tls_shared *shared = idle->data;
    net_note_awake(shared->net);
    shared->net->reader = NULL;
    size_t count = 0;
    for (const struct tls *tls = shared->lists[TLS_TURNS].first; tls; tls = tls->next) count++;
    for (; count > 0 && shared->lists[TLS_TURNS].first; count--) {
        struct tls *tls = shared->lists[TLS_TURNS].first;
        tls_leave_list(tls);
        take_turn(tls);
    }
    begin_waiting(shared);
    if (!shared->lists[TLS_TURNS].first && !shared->lists[TLS_WAITING].first) uv_idle_stop(idle);
}

static void end_late(struct tls *tls) {
    tls_leave_list(tls);
    tls_fail_with(tls, UV_ETIMEDOUT, "the handshake took too long");
    tls_leave_list(tls);
    report_end(tls);
}

static void on_timer(void *arg) {
    struct tls_shared *shared = arg;
    uint64_t now_ms = (uint64_t)clock_monotonic_ms();
    while (shared->shaking_first && shared->shaking_first->deadline_ms <= now_ms)
        end_late(shared->shaking_first);
    if (!shared->shaking_first) net_timer_stop(shared->timer);
}

/* Returns the handshake of a client that began first; NULL: there is none. This
 * side's own as a client are few. */
static struct tls *first_of_client(const struct net *net) {
    struct tls *tls = net->tls ? net->tls->shaking_first : NULL;
    while (tls && tls->role == TLS_CLIENT) tls = tls->shaking_next;
    return tls;
}

void tls_end_slow(struct net *net, unsigned left_ms, unsigned most) {
    uint64_t until_ms = (uint64_t)clock_monotonic_ms() + left_ms;
    struct tls *tls;
    while (most-- > 0 && (tls = first_of_client(net)) && tls->deadline_ms <= until_ms)
        end_late(tls);
}

/* --- The functions of the table --- */

static struct conn *make_lower(struct conn *conn, enum tls_role role) {
    struct tls *tls = tls_of(conn);
    struct conn *lower = tls_lower(tls);
    tls->codec.worker = &shared_of(net_of(conn))->worker;
    lower->transport = conn->transport->filter->lower;
    lower->net = net_of(conn);
    lower->above = conn;
    lower->flags |= CONN_LOWER;
    tls->role = role;
    return lower;
}

static int accept_tls(struct conn *conn, void *from) {
    struct conn *lower = make_lower(conn, TLS_SERVER);
    return lower->transport->accept(lower, from);
}

static void on_lower_connected(uv_connect_t *request, int status) {
    const struct conn *lower = request->handle->data;
    struct tls *tls = tls_of(lower->above);
    net_note_awake(lower->net);
    if (status != 0)
        tls_connected(tls, status);
    else
        tls_begin(tls);
}

static int connect_tls(struct conn *conn, uv_connect_t *request, const struct destination *to,
                       uv_connect_cb done) {
    struct conn *lower = make_lower(conn, TLS_CLIENT);
    struct tls *tls = tls_of(conn);
    tls_begin_call(tls, request, to, done);
    int status = lower->transport->connect(lower, request, to, on_lower_connected);
    if (status != 0) tls_free_call(tls);
    return status;
}

static int adopt(struct conn *conn, int fd) {
    struct conn *lower = tls_lower(tls_of(conn));
    return lower->transport->adopt(lower, fd);
}

static void start_reading(struct conn *conn) {
    struct tls *tls = tls_of(conn);
    struct conn *lower = tls_lower(tls);
    bool is_first = !tls->is_begun;
    tls->reads = true;
    tls_begin(tls);
    if (is_first) return;
    if (tls->end_status || tls_has_input(&tls->codec)) tls_want_turn(tls);
    if (!tls->end_status && !tls->lower_status) lower->transport->start_reading(lower);
}

/* A handshake goes on without the connection. */
static void stop_reading(struct conn *conn) {
    struct tls *tls = tls_of(conn);
    struct conn *lower = tls_lower(tls);
    tls->reads = false;
    if (tls->is_open || tls->is_failed || tls->is_closed) lower->transport->stop_reading(lower);
}

static bool wants_turn(const struct conn *conn) {
    const struct tls *tls = tls_of(conn);
    bool takes_input = tls->reads || !tls->is_open;
    return tls->list != TLS_NO_LIST || (takes_input && tls_has_input(&tls->codec)) ||
           (tls->unsent.first && !tls->lower_write);
}

/* In nested polling. */
static void read_now(struct conn *conn) {
    struct tls *tls = tls_of(conn);
    struct conn *lower = tls_lower(tls);
    tls_leave_list(tls);
    if (wants_turn(conn) || tls->lower_status || tls->end_status) take_turn(tls);
    if (tls->is_closed || tls->end_status || tls_has_input(&tls->codec)) return;
    lower->transport->read_now(lower);
}

static void shut_down(struct conn *conn) {
    struct tls *tls = tls_of(conn);
    struct conn *lower = tls_lower(tls);
    lower->transport->shut_down(lower);
    tls_fail(tls, tls->end_status && tls->is_failed ? tls->end_status : UV_EPIPE);
}

/* Says goodbye, if that can be sent at once. */
static void say_goodbye(struct tls *tls) {
    if (!tls->is_open || tls->is_failed || tls->unsent.first) return;
    struct tls_worker *worker = tls->codec.worker;
    struct conn *lower = tls_lower(tls);
    tls_say_goodbye(&tls->codec);
    uv_buf_t buffer = uv_buf_init(worker->output, (unsigned)worker->output_len);
    if (worker->output_len > 0) lower->transport->try_write(lower, &buffer, 1);
    worker->output_len = 0;
}

static void close_tls(struct conn *conn) {
    struct tls *tls = tls_of(conn);
    struct conn *lower = tls_lower(tls);
    tls_leave_list(tls);
    tls_end_shaking(tls);
    if (tls->is_begun) say_goodbye(tls);
    tls_forget_buffers(&tls->codec);
    tls->is_closed = true;
    tls->reads = false;
    lower->transport->close(lower);
}

static void closed(struct conn *conn) {
    struct tls *tls = tls_of(conn);
    if (tls->call) tls_connected(tls, UV_ECANCELED);
    tls_free_call(tls);
    tls_drop_output(tls);
    tls_codec_free(&tls->codec);
    conn_closed(conn);
}

static int fd_of(const struct conn *conn) {
    const struct conn *lower = tls_lower(tls_of(conn));
    return lower->transport->fd(lower);
}

static size_t allocated(const struct conn *conn) {
    const struct tls *tls = tls_of(conn);
    return tls->ssl_allocated + tls_codec_allocated(&tls->codec) + tls->unsent.bytes;
}

/* --- Over TCP --- */

#define TLS_FILTER                                                                                 \
    .room = room_for, .received = received, .input_ended = input_ended, .written = tls_written,    \
    .closed = closed
#define TLS_FUNCTIONS                                                                              \
    .state_size = TLS_STATE_SIZE(sizeof(uv_tcp_t)), .write_size = sizeof(struct tls_write),        \
    .accept = accept_tls, .start_reading = start_reading, .stop_reading = stop_reading,            \
    .read_now = read_now, .try_write = tls_try_write, .write = tls_begin_write,                    \
    .unsent = tls_unsent, .shut_down = shut_down, .close = close_tls, .fd = fd_of,                 \
    .wants_turn = wants_turn, .allocated = allocated

static const struct transport TLS_DIRECT;
static const struct filter OVER_TCP = {.lower = &transport_tcp, TLS_FILTER};
static const struct filter OVER_DIRECT = {.lower = &transport_direct_tcp, TLS_FILTER};

const struct transport transport_tls = {.filter = &OVER_TCP,
                                        .counterpart = &TLS_DIRECT,
                                        .adopt = adopt,
                                        .connect = connect_tls,
                                        .failure = tls_failure,
                                        TLS_FUNCTIONS};

static const struct transport TLS_DIRECT = {
    .filter = &OVER_DIRECT, .counterpart = &transport_tls, TLS_FUNCTIONS};

bool tls_is(const struct conn *conn) {
    const struct filter *filter = conn->transport->filter;
    return filter && filter->room == room_for;
}

bool tls_encrypts(const struct conn *conn) {
    return tls_is(conn) || conn->transport->counterpart == &transport_tls;
}

/* --- In an I/O thread, for a while ---
 *
 * The codec goes there and comes back; everything else stays. */

bool tls_is_over_tcp(const struct conn *conn) {
    return tls_is(conn) && tls_lower(tls_of(conn))->transport == &transport_tcp;
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
