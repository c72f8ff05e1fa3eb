/* MIGRATE host port <key | ""> database timeout [COPY] [REPLACE] [AUTH … | AUTH2 …] [KEYS key …]:
 * sends RESTORE to another server, the target, and deletes the keys that it has accepted here.
 *
 *      connecting ──→ greeting ──→ moving ──→ the reply
 *                     │           └─ RESTORE key ttl payload [REPLACE] …
 *                     └─ [AUTH …] [SELECT database]
 *
 * AUTH is sent whenever the command has it, because the password may have changed; SELECT when
 * another database is selected on the connection. A target that refuses either gets no key. As in
 * Redis, the timeout limits each wait for the target, not the sum of all waits.
 *
 * The client is blocked for that time and others are served. They may change or delete a key whose
 * RESTORE was sent. So keys are watched (engine/watch.h) until the target has accepted them: one
 * that was touched is left as it is, and the client gets an error. No change is lost, and no value
 * is deleted that the target does not have. Replies that come during a pause of writes wait for its
 * end. When the wait ends early, the connection is closed, and keys whose RESTORE is not answered
 * stay, though the target may have accepted them.
 *
 * In a transaction and in a script no other command may come in between: there the command waits
 * itself, while a loop of its own serves a connection that is not kept. */
#define _GNU_SOURCE /* for memmem */
#include "server/migrate/migrate.h"

#include "base/checked.h"
#include "base/hash/hash.h"
#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "base/text/secret.h"
#include "engine/blocking.h"
#include "engine/engine.h"
#include "engine/watch.h"
#include "execute/blocking_serve.h"
#include "net/connections/dial.h"
#include "net/net.h"
#include "net/tls/tls.h"
#include "persist/dump.h"
#include "resp/reply.h"
#include "session/pause.h"
#include "table/command.h"

enum {
    LINE_MAX_LEN = 4096, /* bytes of a reply's line that are read without its end */
    WINDOW = 256 * 1024, /* bytes sent without an answer before a key must wait */
    TICKS = 8,           /* of the timer in one timeout */
    KEPT_MS = 10000
};

/* The session of a connection to a target. */
struct target {
    sds host;
    int port;
    uint64_t generation;       /* of migrate_kept when it began to connect */
    uint64_t identity;         /* a number for the credentials with which it was opened; 0: none */
    int64_t database;          /* selected there; -1: unknown */
    int64_t used_ms;           /* when it was last kept */
    struct migration *user;    /* its owner; NULL while it is kept */
    struct migrate_kept *kept; /* where it is kept, or NULL */
};

/* A key that is moved. */
struct moving {
    size_t index;           /* in argv */
    int64_t expiry_ms;      /* when its RESTORE was made; -1: never */
    size_t bytes;           /* of its RESTORE */
    struct watcher watcher; /* since then */
};

/* Owned by the wait of its client, or else by the command. */
struct migration {
    struct engine *engine;
    struct session *session; /* that waits; NULL: `call` waits itself */
    struct call *call;
    struct net *net; /* the server's, or that of `call` */
    struct net_timer *timer;
    unsigned idle_ticks; /* since the target has taken or sent bytes */

    struct target wanted; /* to which it connects, with its host until it has; port 0: none */
    int64_t database;
    int timeout_ms;
    bool copy;
    bool replace;
    size_t credentials; /* index in argv: password, or user and password */
    size_t credential_count;

    struct dial *dial;     /* while it connects */
    struct target *target; /* once it is connected */
    struct slice *input;   /* what the target has sent, while that is read */
    struct reply out;      /* bytes to send */
    bool may_be_stale;     /* it was a kept one, and no reply was read from it yet */
    bool is_greeted;
    bool is_entered;    /* password and database were accepted so far */
    bool is_writing;    /* it had not taken all bytes yet when that was last asked */
    bool is_held;       /* nothing may be sent or deleted now; bytes that come are kept */
    unsigned greetings; /* that it has not answered */

    struct moving *keys; /* those that exist; of these … */
    size_t key_count;
    size_t next;     /* … so many were looked at; of these … */
    size_t sent;     /* … so many still existed and were sent: they are the first ones … */
    size_t answered; /* … and so many have a reply, error or not */
    size_t unanswered_bytes;
    bool is_changed;    /* a key had changed before the target accepted it */
    sds error;          /* the target's first error reply; NULL: none */
    const char *failed; /* what failed; NULL: nothing */
};

static const char no_connection[] = "connecting to the client";
static const char no_writing[] = "writing to target instance";
static const char no_reading[] = "reading to target instance";

static struct conn *conn_of(const struct migration *migration) {
    return conn_of_session(migration->target);
}

/* --- Kept connections --- */

static void take(struct target *target) {
    struct migrate_kept *kept = target->kept;
    size_t index = 0;
    while (kept->targets[index] != target) index++;
    kept->count--;
    memmove(&kept->targets[index], &kept->targets[index + 1],
            (kept->count - index) * sizeof(kept->targets[0]));
    target->kept = NULL;
}

/* Takes and returns a kept connection to the target, or NULL. Only one of the same identity, so
 * that a client cannot use another one's password. */
static struct target *take_kept(struct migrate_kept *kept, const struct target *wanted) {
    for (size_t i = 0; i < kept->count; i++) {
        struct target *target = kept->targets[i];
        if (target->port != wanted->port || target->identity != wanted->identity ||
            !slice_equal(sds_slice(target->host), sds_slice(wanted->host)))
            continue;
        take(target);
        return target;
    }
    return NULL;
}

/* Closes the connection, kept or not. */
static void close_target(struct target *target) {
    if (target->kept) take(target);
    sds_free(target->host);
    conn_close(conn_of_session(target));
}

/* Keeps the connection, or closes it when it was opened as was configured before. */
static void keep(struct engine *engine, struct target *target) {
    struct migrate_kept *kept = engine->migrate_kept;
    if (target->generation != kept->generation) {
        close_target(target);
        return;
    }
    if (kept->count == MIGRATE_KEPT_MAX) close_target(kept->targets[0]);
    target->user = NULL;
    target->used_ms = engine->steady_ms;
    target->kept = kept;
    kept->targets[kept->count++] = target;
}

void migrate_tick(struct engine *engine) {
    struct migrate_kept *kept = engine->migrate_kept;
    while (kept->count > 0 && engine->steady_ms - kept->targets[0]->used_ms > KEPT_MS)
        close_target(kept->targets[0]);
}

void migrate_close_kept(struct engine *engine) {
    struct migrate_kept *kept = engine->migrate_kept;
    kept->generation++;
    while (kept->count > 0) close_target(kept->targets[0]);
}

/* --- Arguments --- */

static bool parse_options(struct migration *migration, struct call *call, size_t *keys) {
    for (size_t i = 6; i < call->argc; i++) {
        struct slice option = call->argv[i];
        size_t after = call->argc - i - 1;
        bool is_auth2 = slice_is(option, "auth2");
        if (slice_is(option, "keys")) {
            *keys = i + 1;
            if (call->argv[3].len == 0) return true;
            reply_error(call->reply, "ERR When using MIGRATE KEYS option, the key argument must be "
                                     "set to the empty string");
            return false;
        }
        if (slice_is(option, "copy")) {
            migration->copy = true;
        } else if (slice_is(option, "replace")) {
            migration->replace = true;
        } else if ((is_auth2 && after >= 2) || (slice_is(option, "auth") && after >= 1)) {
            migration->credentials = i + 1;
            migration->credential_count = is_auth2 ? 2 : 1;
            i += migration->credential_count;
        } else {
            call_syntax_error(call);
            return false;
        }
    }
    return true;
}

/* Returns the password; empty when there is none. */
static struct slice password_of(const struct migration *migration, const struct call *call) {
    if (migration->credential_count == 0) return SLICE("");
    return call->argv[migration->credentials + migration->credential_count - 1];
}

/* Returns a number for user and password; 0 without any. */
static uint64_t identity_of(const struct migration *migration, const struct call *call) {
    uint64_t identity = 0;
    for (size_t i = 0; i < migration->credential_count; i++)
        identity = identity * 31 + hash_bytes(call->argv[migration->credentials + i]);
    return migration->credential_count > 0 && identity == 0 ? 1 : identity;
}

/* Notes the keys that exist. One that was named before is left out: the watcher does not count it
 * again. */
static void find_keys(struct migration *migration, struct call *call, size_t first, size_t count) {
    struct watches *watches = call->engine->watches;
    struct watcher named = {0};
    migration->keys = mem_alloc_zeroed(count * sizeof(*migration->keys));
    for (size_t i = first; i < first + count; i++) {
        size_t before = named.count;
        if (!call_find_read(call, call->argv[i], NULL)) continue;
        watch_add(watches, &named, call->database, call->argv[i], false);
        if (named.count > before) migration->keys[migration->key_count++].index = i;
    }
    watch_clear(watches, &named);
}

static void fail_io(struct call *call, const char *failed) {
    reply_error_format(call->reply, "IOERR error or timeout %s", failed);
}

/* Returns whether there is something to be moved to somewhere; otherwise it has replied. */
static bool prepare(struct migration *migration, struct call *call) {
    enum { TIMEOUT_DEFAULT_MS = 1000 };
    int64_t port, timeout_ms;
    size_t keys = 0;
    if (!parse_options(migration, call, &keys)) return false;
    if (!call_integer(call, 5, &timeout_ms)) return false;
    if (!call_integer(call, 4, &migration->database)) return false;
    if (timeout_ms <= 0) timeout_ms = TIMEOUT_DEFAULT_MS;
    migration->timeout_ms = timeout_ms < INT32_MAX ? (int)timeout_ms : INT32_MAX;
    if (number_parse_int64(call->argv[2], &port) && port > 0 && port <= UINT16_MAX)
        migration->wanted.port = (int)port;
    migration->wanted.host = sds_new(call->argv[1]);
    migration->wanted.identity = identity_of(migration, call);
    find_keys(migration, call, keys > 0 ? keys : 3, keys > 0 ? call->argc - keys : 1);
    if (migration->key_count == 0)
        reply_status(call->reply, SLICE("NOKEY"));
    else if (migration->wanted.port == 0)
        fail_io(call, no_writing);
    return migration->key_count > 0 && migration->wanted.port > 0;
}

/* --- Sending --- */

static void flush(struct migration *migration) {
    struct reply *out = &migration->out;
    if (out->len > 0) {
        conn_queue_owned(conn_of(migration), out->data, 0, out->len);
        reply_init(out, 0);
    }
    migration->is_writing = conn_pending_output(conn_of(migration)) > 0;
}

static void log_in(struct migration *migration, const struct call *call) {
    struct slice argv[3] = {SLICE("AUTH")};
    for (size_t i = 0; i < migration->credential_count; i++)
        argv[1 + i] = call->argv[migration->credentials + i];
    reply_free(&migration->out);
    reply_init_request(&migration->out, argv, 1 + migration->credential_count);
    conn_clear_output(conn_of(migration), true);
    flush(migration);
    conn_clear_output(conn_of(migration), false);
    migration->greetings++;
}

static void greet(struct migration *migration, const struct call *call) {
    struct reply *out = &migration->out;
    migration->is_greeted = migration->is_entered = true;
    if (migration->credential_count > 0) log_in(migration, call);
    if (migration->target->database != migration->database) {
        reply_array(out, 2);
        reply_bulk_cstr(out, "SELECT");
        reply_bulk_integer(out, migration->database);
        migration->greetings++;
    }
    flush(migration);
}

/* Returns the remaining time to live, as RESTORE wants it. */
static int64_t time_to_live(const struct call *call, int64_t expiry_ms) {
    if (expiry_ms < 0) return 0;
    return expiry_ms > call->now_ms ? expiry_ms - call->now_ms : 1;
}

static void write_restore(struct migration *migration, const struct call *call, struct slice key,
                          const struct entry *entry) {
    struct reply *out = &migration->out;
    sds payload = dump_new(entry, call_compresses_values(call));
    reply_array(out, migration->replace ? 5 : 4);
    reply_bulk_cstr(out, "RESTORE");
    reply_bulk(out, key);
    reply_bulk_integer(out, time_to_live(call, entry_expiry(entry)));
    reply_bulk(out, sds_slice(payload));
    if (migration->replace) reply_bulk_cstr(out, "REPLACE");
    sds_free(payload);
}

/* Sends the next key, unless it is gone by now. */
static void send_next(struct migration *migration, struct call *call) {
    struct moving *keys = migration->keys, *key = &keys[migration->sent];
    size_t index = keys[migration->next].index, before = migration->out.len;
    struct slice name = call->argv[index];
    const struct entry *entry = call_find(call, name, 0, NULL);
    keys[migration->next++].index = key->index;
    key->index = index;
    if (!entry) return;
    migration->sent++;
    key->expiry_ms = entry_expiry(entry);
    write_restore(migration, call, name, entry);
    key->bytes = migration->out.len - before;
    migration->unanswered_bytes += key->bytes;
    if (!migration->copy)
        watch_add(call->engine->watches, &key->watcher, call->database, name, false);
}

static void send_keys(struct migration *migration, struct call *call) {
    while (migration->next < migration->key_count && migration->unanswered_bytes < WINDOW)
        send_next(migration, call);
    flush(migration);
}

/* --- Replies of the target --- */

/* Returns whether the target has answered all that it will be asked. */
static bool is_done(const struct migration *migration) {
    if (!migration->is_greeted || migration->greetings > 0) return false;
    return !migration->is_entered ||
           (migration->next == migration->key_count && migration->answered == migration->sent);
}

/* Takes a line from the input, without its end. Returns false when none is whole. */
static bool take_line(struct migration *migration, struct slice *line) {
    struct slice *input = migration->input;
    const char *end = input->len > 0 ? memmem(input->ptr, input->len, "\r\n", 2) : NULL;
    if (!end) {
        if (input->len >= LINE_MAX_LEN) migration->failed = no_reading;
        return false;
    }
    *line = slice_make(input->ptr, (size_t)(end - input->ptr));
    *input = slice_make(end + 2, input->len - line->len - 2);
    return true;
}

/* The target has the key now: deletes it here, unless it has changed. Returns whether it did. */
static bool take_away(struct migration *migration, struct call *call, struct moving *key) {
    struct slice name = call->argv[key->index];
    bool is_changed = key->watcher.is_touched;
    struct keyref ref;
    watch_clear(call->engine->watches, &key->watcher);
    const struct entry *entry = call_find(call, name, 0, &ref);
    if (is_changed) {
        bool has_expired = !entry && key->expiry_ms >= 0 && key->expiry_ms < call->now_ms;
        migration->is_changed |= !has_expired; /* it expires at the target, too */
    }
    if (is_changed || !entry) return false;
    call_remove(call, &ref, name, REMOVAL_DELETED);
    return true;
}

/* Reads one reply. Returns whether it has made a key, which *name then is, leave this server. */
static bool take_reply(struct migration *migration, struct call *call, struct slice line,
                       struct slice *name) {
    bool is_accepted = line.len > 0 && line.ptr[0] == '+';
    bool is_refused = line.len > 0 && line.ptr[0] == '-';
    bool is_greeting = migration->greetings > 0;
    migration->may_be_stale = false;
    if ((!is_accepted && !is_refused) || (!is_greeting && migration->answered == migration->sent)) {
        migration->failed = no_reading;
        return false;
    }
    if (is_refused && !migration->error)
        migration->error =
            secret_append_without(sds_new(SLICE("")), slice_make(line.ptr + 1, line.len - 1),
                                  password_of(migration, call));
    if (is_greeting) {
        migration->greetings--;
        migration->is_entered &= is_accepted;
        return false;
    }
    struct moving *key = &migration->keys[migration->answered++];
    migration->unanswered_bytes -= key->bytes;
    *name = call->argv[key->index];
    return is_accepted && !migration->copy && take_away(migration, call, key);
}

/* Reads the replies that are there. Propagates the deletions only: readers of the log do not talk
 * to the target. */
static void read_replies(struct migration *migration, struct call *call) {
    struct slice line;
    struct slice *deletion =
        mem_alloc((1 + migration->sent - migration->answered) * sizeof(*deletion));
    size_t argc = 1;
    deletion[0] = SLICE("DEL");
    while (!migration->failed && !is_done(migration) && take_line(migration, &line))
        argc += take_reply(migration, call, line, &deletion[argc]);
    if (argc > 1 && call->propagates) call_propagate_as(call, deletion, argc);
    mem_free(deletion);
}

/* --- The course --- */

static const struct conn_events target_events;

static void on_failed(void *owner, bool is_refused, const char *reason);

static bool must_hold(const struct migration *migration);

/* Asks and sends what the target can take now; nothing while the data is not to be touched. */
static void talk(struct migration *migration, struct call *call) {
    migration->is_held = must_hold(migration);
    if (migration->is_held) return;
    if (!migration->is_greeted) greet(migration, call);
    read_replies(migration, call);
    bool may_send = migration->greetings == 0 && migration->is_entered;
    if (may_send && !migration->failed) send_keys(migration, call);
}

/* Takes a kept connection, or begins to open a new one. */
static void connect_target(struct migration *migration, struct call *call) {
    if (migration->session)
        migration->target = take_kept(migration->engine->migrate_kept, &migration->wanted);
    migration->may_be_stale = migration->target;
    migration->idle_ticks = 0;
    if (migration->target) {
        migration->target->user = migration;
        talk(migration, call);
    } else {
        const struct config *config = &migration->engine->config;
        migration->wanted.generation = migration->engine->migrate_kept->generation;
        migration->dial = dial_start(
            migration->net,
            &(struct dial_order){.host = migration->wanted.host,
                                 .port = migration->wanted.port,
                                 .transport = config->tls_cluster ? &transport_tls : &transport_tcp,
                                 .expected_name = config->tls_expected_peer_name,
                                 .events = &target_events,
                                 .owner = migration,
                                 .failed = on_failed});
    }
}

static void disconnect(struct migration *migration) {
    if (migration->dial) dial_cancel(migration->dial);
    if (migration->target) close_target(migration->target);
    migration->dial = NULL;
    migration->target = NULL;
    migration->is_held = false;
}

/* Keeps the connection, unless its state is not known to be good. */
static void part(struct migration *migration) {
    struct target *target = migration->target;
    bool is_good = !migration->failed && migration->is_entered && migration->input->len == 0;
    net_timer_stop(migration->timer);
    if (is_good && migration->session) {
        target->database = migration->database;
        keep(migration->engine, target);
        migration->target = NULL;
    }
    disconnect(migration);
}

static void forget_sent(struct migration *migration) {
    struct watches *watches = migration->engine->watches;
    for (size_t i = 0; i < migration->sent; i++) watch_clear(watches, &migration->keys[i].watcher);
}

/* The target has closed a connection that was kept: another one is tried. */
static void try_again(struct migration *migration, struct call *call) {
    disconnect(migration);
    forget_sent(migration);
    migration->next = migration->sent = migration->unanswered_bytes = 0;
    migration->greetings = 0;
    migration->is_greeted = false;
    migration->failed = NULL;
    connect_target(migration, call);
}

static void answer(const struct migration *migration, struct call *call) {
    if (migration->failed)
        fail_io(call, migration->failed);
    else if (migration->error)
        reply_error_format(call->reply, "ERR Target instance replied with error: %s",
                           migration->error);
    else if (migration->is_changed)
        reply_error(call->reply, "ERR A key has changed while it was moved. It stays as it is "
                                 "here; the target instance has its older value");
    else if (migration->sent == 0)
        reply_status(call->reply, SLICE("NOKEY"));
    else
        reply_ok(call->reply);
}

/* Goes on as far as it can. Returns whether it has ended, with a reply. */
static bool advance(struct migration *migration, struct call *call) {
    if (!migration->failed)
        talk(migration, call);
    else if (migration->may_be_stale)
        try_again(migration, call);
    if (!migration->failed && !is_done(migration)) return false;
    part(migration);
    answer(migration, call);
    return true;
}

/* Something has happened; the target has sent `input`, of which what is read is removed. The
 * migration may be freed when this returns. */
static void run(struct migration *migration, struct slice *input) {
    migration->input = input;
    if (migration->session)
        blocking_advance(migration->engine->blocking, migration->session);
    else if (advance(migration, migration->call))
        net_stop(migration->net);
}

static void fail(struct migration *migration, const char *failed) {
    migration->failed = failed;
    run(migration, &(struct slice){0});
}

/* --- Events --- */

static void on_opened(struct conn *conn, void *owner) {
    struct migration *migration = owner;
    struct target *target = conn_session(conn);
    *target = migration->wanted;
    migration->wanted.host = NULL;
    migration->dial = NULL;
    migration->target = target;
    migration->idle_ticks = 0;
    run(migration, &(struct slice){0});
}

static void on_failed(void *owner, bool is_refused, const char *reason) {
    struct migration *migration = owner;
    migration->dial = NULL;
    log_notice("MIGRATE cannot connect: %s", reason);
    fail(migration, is_refused ? no_writing : no_connection);
}

/* Returns whether nothing may be deleted now: the server ends or pauses, or loads data, during
 * which it polls the connections, too. */
static bool must_hold(const struct migration *migration) {
    const uint32_t loading = RESTRICTED_LOADING | RESTRICTED_LOADING_BESIDE;
    struct engine *engine = migration->engine;
    if (!migration->session) return false; /* it runs in a command that was not held back */
    engine_update_clock(engine);
    return engine->shutting_down || engine->restrictions & loading ||
           pause_holds(engine, COMMAND_WRITE);
}

static size_t on_data(struct conn *conn, char *bytes, size_t len) {
    struct target *target = conn_session(conn);
    struct migration *migration = target->user;
    struct slice input = slice_make(bytes, len);
    if (!migration) { /* nothing was asked */
        close_target(target);
        return len;
    }
    migration->idle_ticks = 0;
    migration->is_held = must_hold(migration);
    if (migration->is_held) {
        conn_pause_input(conn); /* keeps no more bytes, and does not end before these are read */
        return 0;
    }
    run(migration, &input);
    return len - input.len;
}

/* Returns what it waits for, as a part of the error. */
static const char *awaited(const struct migration *migration) {
    if (!migration->target) return no_connection;
    return migration->is_writing ? no_writing : no_reading;
}

static void on_ended(struct conn *conn, const char *reason) {
    struct target *target = conn_session(conn);
    (void)reason;
    if (target->user)
        fail(target->user, awaited(target->user));
    else
        close_target(target);
}

static const struct conn_events target_events = {
    .session_size = sizeof(struct target),
    .opened = on_opened,
    .data = on_data,
    .ended = on_ended,
};

/* With the bytes that came meanwhile, or with what was not sent. */
static void go_on_after_hold(struct migration *migration) {
    struct conn *conn = conn_of(migration);
    migration->is_held = false;
    conn_resume_input(conn);
    if (conn_pending_input(conn) > 0)
        conn_replay(conn);
    else
        run(migration, &(struct slice){0});
}

/* Counts ticks, not time: a callback of the loop that lasts long is not the target's fault. */
static void on_tick(void *arg) {
    struct migration *migration = arg;
    if (migration->is_held) {
        if (!must_hold(migration)) go_on_after_hold(migration);
        return;
    }
    if (migration->target) {
        if (conn_output_moved(conn_of(migration))) migration->idle_ticks = 0;
        migration->is_writing = conn_pending_output(conn_of(migration)) > 0;
    }
    if (migration->idle_ticks++ < TICKS) return;
    migration->may_be_stale = false; /* or else it would have closed */
    fail(migration, awaited(migration));
}

/* --- The command --- */

static void start(struct migration *migration, struct call *call) {
    unsigned tick_ms = (unsigned)migration->timeout_ms / TICKS + 1;
    migration->timer = net_timer_new(migration->net, on_tick, migration);
    net_timer_start(migration->timer, tick_ms, tick_ms);
    migration->input = &(struct slice){0};
    connect_target(migration, call);
}

static void migration_free(struct migration *migration) {
    disconnect(migration);
    forget_sent(migration);
    if (migration->timer) net_timer_free(migration->timer);
    reply_free(&migration->out);
    sds_free(migration->wanted.host);
    sds_free(migration->error);
    mem_free(migration->keys);
    mem_free(migration);
}

static bool go_on(struct call *call, struct slice key, void *state) {
    struct migration *const *migration = state;
    (void)key;
    return advance(*migration, call);
}

/* CLIENT UNBLOCK */
static void answer_given_up(struct call *call, const void *state) {
    struct migration *const *migration = state;
    fail_io(call, awaited(*migration));
}

static void leave(const void *state) {
    struct migration *const *migration = state;
    migration_free(*migration);
}

static void block_client(struct migration *migration, struct call *call) {
    static const struct waiter_kind kind = {
        .serve = go_on, .unserved = answer_given_up, .left = leave};
    migration->session = call_session(call);
    migration->net = call->engine->net;
    call_block(call, &(struct block_request){
                         .kind = &kind, .state = &migration, .state_size = sizeof(migration)});
    start(migration, call);
}

static void wait_here(struct migration *migration, struct call *call) {
    const char *error;
    struct net *net = net_new(&error);
    migration->call = call;
    migration->net = net;
    if (net) {
        tls_use_client_of(net, call->engine->net);
        start(migration, call);
        net_run(net);
    } else {
        fail_io(call, no_connection);
    }
    migration_free(migration);
    if (net) net_free(net);
}

void migrate_command(struct call *call) {
    struct migration *migration = mem_alloc_zeroed(sizeof(*migration));
    migration->engine = call->engine;
    migration->wanted = (struct target){.database = -1, .user = migration};
    reply_init(&migration->out, 0);
    if (!prepare(migration, call))
        migration_free(migration);
    else if (call_may_block(call))
        block_client(migration, call);
    else
        wait_here(migration, call);
}
