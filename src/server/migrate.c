/* MIGRATE host port <key | ""> database timeout [COPY] [REPLACE] [AUTH … | AUTH2 …] [KEYS key …]:
 * sends RESTORE to another server, and deletes the keys that it has accepted here. The event loop
 * waits until that is done. As in Redis, the timeout limits each wait for the other server, not the
 * sum of all waits.
 *
 * It sends, the second part after the first one was accepted:
 *
 *      [AUTH …]  [SELECT database]
 *      RESTORE key ttl payload [REPLACE] …
 *
 * AUTH is sent whenever the command has it, also on a connection that was kept, because the
 * password may have changed. SELECT is sent when another database is selected on the connection. */
#include "base/alloc.h"
#include "base/hash.h"
#include "base/number.h"
#include "engine/engine.h"
#include "engine/engine_clock.h"
#include "persist/dump.h"
#include "resp/reply.h"
#include "server/server_commands.h"
#include "server/targets.h"

#include <errno.h>

enum { SEND_AT_ONCE = 64 * 1024 };

struct migration {
    struct call *call;
    int port; /* 0: the value is not a port */
    int64_t database;
    int timeout_ms;
    bool copy;
    bool replace;
    const struct slice *credentials; /* password, or user and password */
    size_t credential_count;
    const struct slice *keys; /* as the client sent them */
    size_t key_count;

    struct target *target;
    bool is_new;         /* opened by this command, not a kept one */
    bool is_answered;    /* at least one reply was read from it */
    bool is_entered;     /* password and database were accepted */
    struct reply out;    /* bytes to send */
    struct slice *found; /* the keys that exist */
    size_t found_count;
    size_t restored; /* keys with a reply, error or not */
    size_t moved;    /* of those, keys deleted here: the first ones of `found` */
    sds error;       /* the target's first error reply; NULL: none */
};

/* --- Arguments --- */

/* Parses KEYS and the arguments after it. */
static bool parse_keys(struct migration *migration, size_t index) {
    struct call *call = migration->call;
    migration->keys = &call->argv[index + 1];
    migration->key_count = call->argc - index - 1;
    if (call->argv[3].len == 0) return true;
    reply_error(call->reply, "ERR When using MIGRATE KEYS option, the key argument must be set to "
                             "the empty string");
    return false;
}

static bool parse_options(struct migration *migration) {
    struct call *call = migration->call;
    for (size_t i = 6; i < call->argc; i++) {
        struct slice option = call->argv[i];
        size_t behind = call->argc - i - 1;
        bool is_auth2 = slice_is(option, "auth2");
        if (slice_is(option, "keys")) return parse_keys(migration, i);
        if (slice_is(option, "copy")) {
            migration->copy = true;
        } else if (slice_is(option, "replace")) {
            migration->replace = true;
        } else if ((is_auth2 && behind >= 2) || (slice_is(option, "auth") && behind >= 1)) {
            migration->credentials = &call->argv[i + 1];
            migration->credential_count = is_auth2 ? 2 : 1;
            i += migration->credential_count;
        } else {
            call_syntax_error(call);
            return false;
        }
    }
    return true;
}

static bool parse(struct migration *migration) {
    enum { TIMEOUT_DEFAULT_MS = 1000 };
    struct call *call = migration->call;
    int64_t port, timeout_ms;
    migration->keys = &call->argv[3];
    migration->key_count = 1;
    if (!parse_options(migration)) return false;
    if (!call_integer(call, 5, &timeout_ms)) return false;
    if (!call_integer(call, 4, &migration->database)) return false;
    if (timeout_ms <= 0) timeout_ms = TIMEOUT_DEFAULT_MS;
    migration->timeout_ms = timeout_ms < INT32_MAX ? (int)timeout_ms : INT32_MAX;
    if (number_parse_int64(call->argv[2], &port) && port > 0 && port <= UINT16_MAX)
        migration->port = (int)port;
    return true;
}

static void find_keys(struct migration *migration) {
    migration->found = mem_alloc(migration->key_count * sizeof(*migration->found));
    for (size_t i = 0; i < migration->key_count; i++) {
        struct slice key = migration->keys[i];
        if (call_find_read(migration->call, key, NULL))
            migration->found[migration->found_count++] = key;
    }
}

/* --- Sending --- */

static bool flush(struct migration *migration) {
    struct reply *out = &migration->out;
    size_t len = out->len;
    out->len = 0;
    return outbound_write(migration->target->connection, out->data, len, migration->timeout_ms);
}

/* Returns the key's remaining time to live, as RESTORE wants it. */
static int64_t time_to_live(const struct call *call, const struct entry *entry) {
    int64_t expiry_ms = entry_expiry(entry);
    if (expiry_ms < 0) return 0;
    return expiry_ms > call->now_ms ? expiry_ms - call->now_ms : 1;
}

static void write_restore(struct migration *migration, struct slice key) {
    struct reply *out = &migration->out;
    const struct entry *entry = call_find(migration->call, key, 0, NULL);
    sds payload = dump_new(entry, call_compresses_values(migration->call));
    reply_array(out, migration->replace ? 5 : 4);
    reply_bulk_cstr(out, "RESTORE");
    reply_bulk(out, key);
    reply_bulk_integer(out, time_to_live(migration->call, entry));
    reply_bulk(out, sds_slice(payload));
    if (migration->replace) reply_bulk_cstr(out, "REPLACE");
    sds_free(payload);
}

static bool must_authenticate(const struct migration *migration) {
    return migration->credential_count > 0;
}

static bool must_select(const struct migration *migration) {
    return migration->target->database != migration->database;
}

static bool send_greeting(struct migration *migration) {
    struct reply *out = &migration->out;
    out->len = 0;
    if (must_authenticate(migration)) {
        reply_array(out, 1 + migration->credential_count);
        reply_bulk_cstr(out, "AUTH");
        for (size_t i = 0; i < migration->credential_count; i++)
            reply_bulk(out, migration->credentials[i]);
    }
    if (must_select(migration)) {
        reply_array(out, 2);
        reply_bulk_cstr(out, "SELECT");
        reply_bulk_integer(out, migration->database);
    }
    return flush(migration);
}

static bool send_keys(struct migration *migration) {
    struct reply *out = &migration->out;
    for (size_t i = 0; i < migration->found_count; i++) {
        write_restore(migration, migration->found[i]);
        if (out->len >= SEND_AT_ONCE && !flush(migration)) return false;
    }
    return flush(migration);
}

/* --- Replies of the target --- */

/* Reads a reply; *accepted is set unless it is an error. Returns false, with errno set, when none
 * comes. */
static bool read_reply(struct migration *migration, bool *accepted) {
    struct slice line;
    if (!outbound_read_line(migration->target->connection, &line, migration->timeout_ms))
        return false;
    migration->is_answered = true;
    *accepted = line.len > 0 && line.ptr[0] == '+';
    if (*accepted) return true;
    if (line.len == 0 || line.ptr[0] != '-') {
        errno = EPROTO;
        return false;
    }
    if (!migration->error) migration->error = sds_new(slice_make(line.ptr + 1, line.len - 1));
    return true;
}

/* The target has the key now, so it is deleted here. A key that was named twice is gone already. */
static void take_away(struct migration *migration, struct slice key) {
    struct keyref ref;
    call_find(migration->call, key, 0, &ref);
    if (!ref.entry) return;
    call_delete(migration->call, &ref, key, "del");
    migration->found[migration->moved++] = key;
}

static bool read_greeting(struct migration *migration) {
    bool accepted;
    migration->is_entered = true;
    size_t greetings = (size_t)must_authenticate(migration) + must_select(migration);
    for (size_t i = 0; i < greetings; i++) {
        if (!read_reply(migration, &accepted)) return false;
        migration->is_entered &= accepted;
    }
    return true;
}

static bool read_restored(struct migration *migration) {
    bool accepted;
    for (; migration->restored < migration->found_count; migration->restored++) {
        if (!read_reply(migration, &accepted)) return false;
        if (accepted && !migration->copy)
            take_away(migration, migration->found[migration->restored]);
    }
    return true;
}

/* --- The whole command --- */

static const char no_connection[] = "connecting to the client";
static const char no_writing[] = "writing to target instance";
static const char no_reading[] = "reading to target instance";

/* Returns a number for user and password; 0 without any. */
static uint64_t identity_of(const struct migration *migration) {
    uint64_t identity = 0;
    for (size_t i = 0; i < migration->credential_count; i++)
        identity = identity * 31 + hash_bytes(migration->credentials[i]);
    return migration->credential_count > 0 && identity == 0 ? 1 : identity;
}

/* Takes a kept connection or opens a new one. Returns NULL, or what failed. */
static const char *connect_target(struct migration *migration) {
    struct slice host = migration->call->argv[1];
    uint64_t identity = identity_of(migration);
    if (!migration->port) return no_writing;
    migration->target = target_take(host, migration->port, identity);
    migration->is_new = !migration->target;
    if (migration->target) return NULL;
    migration->target = target_open(host, migration->port, identity, migration->timeout_ms);
    if (migration->target) return NULL;
    return errno == ETIMEDOUT || errno == EHOSTUNREACH ? no_connection : no_writing;
}

/* Keeps the connection, unless its state is not known to be good. */
static void part(struct engine *engine, struct migration *migration) {
    migration->target->database = migration->database;
    if (migration->is_entered)
        target_keep(engine, migration->target);
    else
        target_close(migration->target);
}

/* Returns NULL, or what failed. */
static const char *talk(struct migration *migration) {
    if (!send_greeting(migration)) return no_writing;
    if (!read_greeting(migration)) return no_reading;
    if (!migration->is_entered) return NULL;
    if (!send_keys(migration)) return no_writing;
    return read_restored(migration) ? NULL : no_reading;
}

/* Returns NULL, or what failed. The target may have closed a kept connection: then a new one is
 * tried, unless a reply was read. */
static const char *move_all(struct engine *engine, struct migration *migration) {
    for (;;) {
        const char *failed = connect_target(migration);
        if (failed) return failed;
        failed = talk(migration);
        if (!failed) {
            part(engine, migration);
            return NULL;
        }
        bool retry = !migration->is_new && errno != ETIMEDOUT && !migration->is_answered;
        target_close(migration->target);
        if (!retry) return failed;
    }
}

static void answer(const struct migration *migration, const char *failed) {
    struct reply *reply = migration->call->reply;
    if (failed)
        reply_error_format(reply, "IOERR error or timeout %s", failed);
    else if (migration->error)
        reply_error_format(reply, "ERR Target instance replied with error: %s", migration->error);
    else
        reply_ok(reply);
}

/* Propagates the deletions only: readers of the log do not talk to the target. */
static void propagate_moved(const struct migration *migration) {
    struct slice *argv = mem_alloc((1 + migration->moved) * sizeof(*argv));
    argv[0] = SLICE("DEL");
    memcpy(argv + 1, migration->found, migration->moved * sizeof(*argv));
    call_propagate_as(migration->call, argv, 1 + migration->moved);
    mem_free(argv);
}

void migrate_command(struct call *call) {
    struct engine *engine = call->engine;
    struct migration migration = {.call = call};
    if (!parse(&migration)) return;
    find_keys(&migration);
    if (migration.found_count == 0) {
        reply_status(call->reply, SLICE("NOKEY"));
    } else {
        reply_init(&migration.out, SEND_AT_ONCE);
        answer(&migration, move_all(engine, &migration));
        if (call->propagates && migration.moved > 0) propagate_moved(&migration);
        reply_free(&migration.out);
        sds_free(migration.error);
        if (call_may_block(call))
            engine_update_clock(engine); /* the clock does not advance in EXEC */
    }
    mem_free(migration.found);
}
