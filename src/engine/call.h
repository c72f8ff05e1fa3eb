/* call: one command being run: all that a command function sees of the server.
 *
 * A command is `void name_command(struct call *call)`: it reads call->argv, finds its keys with
 * call_find_*, changes values through types/, tells what it changed with call_touched, and writes
 * exactly one reply to call->reply. Its arity was checked before. Arguments are slices into the
 * read buffer and die when the command returns.
 *
 * Nothing in this header names a socket, a session or the server's own struct. */
#ifndef PACKLIST_ENGINE_CALL_H
#define PACKLIST_ENGINE_CALL_H

#include "base/sds.h"
#include "base/slice.h"
#include "engine/requester.h"
#include "resp/reply.h"
#include "store/event.h"
#include "store/keyspace.h"
#include "types/value_limits.h"

#include <stdbool.h>
#include <stdint.h>

struct command;
struct engine;
struct engine;
struct session;

/* Who asks for the command. */
enum call_origin {
    ORIGIN_CLIENT,
    ORIGIN_TRANSACTION, /* EXEC runs what a client has queued */
    ORIGIN_BLOCKED,     /* a client that waited: the command goes on */
    ORIGIN_FILE,        /* the append-only file is being loaded */
    ORIGIN_SERVER       /* the server itself: keys expire or are evicted */
};

struct call {
    struct engine *engine;    /* for server/ and admin/ only */
    const struct slice *argv; /* argv[0] is the command's name as sent */
    size_t argc;
    struct reply *reply;
    struct keyspace *keyspace; /* the selected database */
    int database;              /* its number */
    const struct command *command;
    const struct value_limits *limits;
    int64_t now_ms;              /* wall clock; stands still in EXEC and scripts */
    struct requester *requester; /* NULL: the server itself */
    uint8_t origin;              /* enum call_origin */
    bool propagates;             /* changes go to the command log: call_propagate_as */
    bool has_propagated;         /* call_propagate_as was called */
};

/* The client that asks, for server/ and admin/ only; NULL where none does. */
static inline struct session *call_session(const struct call *call) {
    return call->requester ? call->requester->session : NULL;
}

/* Blocking commands answer at once where they must not wait. */
static inline bool call_may_block(const struct call *call) {
    return call->origin == ORIGIN_CLIENT;
}

/* While data is being loaded no key expires. */
static inline bool call_is_loading(const struct call *call) {
    return call->origin == ORIGIN_FILE;
}

/* A call without client, reply and arguments, for what the server does to keys by itself. */
struct call call_of_server(struct engine *engine, int database);

/* --- Keys: one whose time has come is not found, and whoever looks for it deletes it. So looking
 * for another key of the same database may end a keyref; the entries themselves stay. During a
 * CLIENT PAUSE only commands that write delete it: for others it stands there unseen, and they must
 * not add one (none does). --- */

/* Finds a key to read: counts a hit or a miss and marks the entry as used. The result's entry is
 * NULL when the key does not exist. */
struct keyref call_find_read(struct call *call, struct slice key);

/* Finds a key to tell something of it (EXISTS, TYPE, OBJECT): counts a hit or a miss, but does not
 * mark the entry as used. */
struct keyref call_find_unmarked(struct call *call, struct slice key);

/* As call_find_unmarked, but nobody is notified of a miss: OBJECT. */
struct keyref call_find_unnoticed(struct call *call, struct slice key);

/* Finds a key to change it: marks the entry as used, but counts neither a hit nor a miss. */
struct keyref call_find_write(struct call *call, struct slice key);

/* Finds a key without leaving any trace: for deleting it, and for DEBUG. */
struct keyref call_find_quiet(struct call *call, struct slice key);

/* Is the entry of type `type`? If not, answers WRONGTYPE and returns false. */
bool call_check_type(struct call *call, const struct entry *entry, enum value_type type);

/* As call_find_read and call_find_write. True when the value is of type `type`, or when there is no
 * such key: then ref->entry is NULL. Else answers WRONGTYPE and returns false. */
static inline bool call_find_typed_read(struct call *call, struct slice key, enum value_type type,
                                        struct keyref *ref) {
    *ref = call_find_read(call, key);
    return ref->entry == NULL || call_check_type(call, ref->entry, type);
}

static inline bool call_find_typed_write(struct call *call, struct slice key, enum value_type type,
                                         struct keyref *ref) {
    *ref = call_find_write(call, key);
    return ref->entry == NULL || call_check_type(call, ref->entry, type);
}

/* How the key has been used, as the eviction policy in force counts it: for how many seconds it has
 * not been (-1 under an LFU policy); how often, 0 … 255 (-1 under any other). */
int64_t call_idle_seconds(const struct call *call, const struct entry *entry);
int64_t call_frequency(const struct call *call, const struct entry *entry);

/* Sets the same, after call_touched; -1 where it is not known. Of the two only what the policy in
 * force counts means something, and a use longer ago than can be noted is noted as far back as can
 * be. */
void call_set_usage(const struct call *call, struct entry *entry, int64_t idle_s,
                    int64_t frequency);

/* The same call, with another database selected: for commands that name one (COPY, MOVE). All of
 * the functions here then work on that database. `number` is within range. */
struct call call_in_database(const struct call *call, int number);

/* How many databases there are. */
int call_database_count(const struct call *call);

/* --- What every write must tell: one epilogue --- */

/* The value under `ref` (found under `key`) was changed; `changes` (0 or more) is what it counts
 * for saving. Does all that must follow a write: dirty count, watchers, notification `event`
 * ("lpush"; before it "new" when the key was just made), clients blocked on the key; and when the
 * value is now empty, deletes the key and notifies "del". After it `ref` may name nothing. */
void call_touched(struct call *call, struct keyref *ref, struct slice key, enum event_class class,
                  const char *event, uint64_t changes);

/* Deletes the key that `ref` names, with all that must follow: dirty count, watchers, and the
 * notification `event` of class EVENT_GENERIC ("del"). A large value is freed in another thread if
 * lazyfree-lazy-user-del says so. */
void call_delete(struct call *call, struct keyref *ref, struct slice key, const char *event);

/* The same with "del", and a large value is freed in another thread in any case. */
void call_unlink(struct call *call, struct keyref *ref, struct slice key);

/* The same for what the server does by itself: an event of any class, and no dirty count. `key` may
 * lie in the entry. How the value is freed is said by lazyfree-lazy-expire, -eviction or
 * -server-del, according to the class. */
void call_remove(struct call *call, struct keyref *ref, struct slice key, enum event_class class,
                 const char *event);

/* Takes the entry out for the caller, who puts it elsewhere and tells of that with call_touched: no
 * dirty count, but watchers and `event` as above ("rename_from", "move_from"). */
struct entry *call_take(struct call *call, struct keyref *ref, struct slice key, const char *event);

/* Frees an entry that made way for another (keyspace_take), in silence, as lazyfree-lazy-server-del
 * says. */
void call_discard(struct call *call, struct entry *entry);

/* Takes the entry that `ref` names out of the way and frees it as call_discard does: `ref` then
 * names nothing and is good for keyspace_add. */
void call_replace(struct call *call, struct keyref *ref);

/* Takes over the argument argv[index] where that needs no copy: the bytes become the caller's, who
 * must keep them as they are until the command ends, as argv still names them. NULL, with nothing
 * changed, for most arguments: only one that was CALL_LARGE_ARGUMENT bytes long when the client
 * sent it can be taken. O(1). */
enum { CALL_LARGE_ARGUMENT = 64 * 1024 };
sds call_take_argument(struct call *call, size_t index);

/* Would call_replace leave the entry's value to another thread? O(1). */
bool call_replaces_in_pool(struct engine *engine, const struct entry *entry);

/* Publishes one more event of a key; changes nothing. Of the call only the database is looked
 * at. */
void call_notify(struct call *call, enum event_class class, const char *event, struct slice key);

/* --- What goes to the command log (log/command_log.h) --- */

/* A command that writes, and has changed something, is propagated as it came. Where that would not
 * have the same effect at another time (relative expiries, waiting for a key, fractions), or would
 * do more than was done, the command says what to propagate instead; more than once: all of that,
 * in this order. The arguments are copied. */
void call_propagate_as(struct call *call, const struct slice *argv, size_t argc);

/* The same with the arguments one by one; they are evaluated only when the log has readers:
 *      CALL_PROPAGATE(call, SLICE("DEL"), key);                                             */
#define CALL_PROPAGATE(call, ...)                                                                  \
    do {                                                                                           \
        if (!(call)->propagates) break;                                                            \
        const struct slice words[] = {__VA_ARGS__};                                                \
        call_propagate_as(call, words, sizeof(words) / sizeof(words[0]));                          \
    } while (0)

/* --- Expiry --- */

/* Lets the key that `ref` names expire at `expiry_ms` (wall clock; -1: never). May move the
 * entry. No event, no dirty count: the command tells what it did with call_touched. */
void call_set_expiry(struct call *call, struct keyref *ref, int64_t expiry_ms);

/* Has the entry's time come? For walks over a keyspace, which must not show it; the functions that
 * find keys ask by themselves. */
static inline bool call_is_expired(const struct call *call, const struct entry *entry) {
    int64_t expiry_ms = entry_expiry(entry);
    return expiry_ms >= 0 && call->now_ms > expiry_ms && !call_is_loading(call);
}

/* Is the expiry `expiry_ms`, which a command was given, so early that the key must be deleted at
 * once instead of getting it? */
static inline bool call_is_past(const struct call *call, int64_t expiry_ms) {
    return expiry_ms <= call->now_ms && !call_is_loading(call);
}

/* --- Arguments --- */

/* Each of these answers the error and returns false when argv[index] is not what it must be. */

/* A 64-bit integer: "ERR value is not an integer or out of range". */
bool call_integer(struct call *call, size_t index, int64_t *value);

/* An integer within [min, max]. The error is `error`, or, when that is NULL, call_integer's
 * where it is no integer and "ERR value is out of range, …" where it is outside. */
bool call_integer_in(struct call *call, size_t index, int64_t min, int64_t max, int64_t *value,
                     const char *error);

/* Are values to be packed where they leave the memory (rdbcompression)? */
bool call_packs_values(const struct call *call);

/* Are payloads with a wrong checksum accepted (DEBUG SET-SKIP-CHECKSUM-VALIDATION)? */
bool call_skips_checksums(const struct call *call);

/* May a string of `length` bytes get `more`? Else answers "ERR string exceeds maximum allowed size
 * (proto-max-bulk-len)". For strings that grow by other means than being sent whole. */
bool call_check_growth(struct call *call, size_t length, size_t more);

/* The longest string that may be (proto-max-bulk-len), in bytes. */
size_t call_string_max(const struct call *call);

/* LEFT or RIGHT, else a syntax error. */
bool call_list_end(struct call *call, size_t index, enum list_end *end);

/* A timeout in whole milliseconds; *deadline_ms gets the wall clock time, 0 for none. Errors: "ERR
 * timeout is not an integer or out of range", "ERR timeout is negative", "ERR timeout is out of
 * range". */
bool call_timeout_ms(struct call *call, size_t index, int64_t *deadline_ms);

/* A timeout in seconds with fractions; *deadline_ms gets the wall clock time, 0 for none. Errors:
 * "ERR timeout is not a float or out of range", "ERR timeout is negative", "ERR timeout is out of
 * range". */
bool call_timeout(struct call *call, size_t index, int64_t *deadline_ms);

/* --- Errors and texts for people --- */

/* Answers a whole error line ("ERR syntax error") and notes of which kind it is. */
void call_fail(struct call *call, enum call_error error, const char *text);

/* "ERR DB index is out of range" */
void call_bad_database(struct call *call);

void call_syntax_error(struct call *call); /* ERR syntax error */
#define CALL_WRONG_ARITY "ERR wrong number of arguments for '%s' command"
void call_wrong_arity(struct call *call);
void call_bad_expiry(struct call *call);         /* ERR invalid expire time in '…' command */
void call_unknown_subcommand(struct call *call); /* ERR unknown subcommand '…'. Try X HELP. */

/* "ERR unknown subcommand or wrong number of arguments for '…'. Try X HELP.": what commands
 * answer that look at their subcommand or at its arity themselves. */
void call_bad_subcommand(struct call *call);

/* Answers the lines of a HELP subcommand: "<COMMAND> <subcommand> …" header and trailer are added
 * as Redis does. `lines` ends with NULL. */
void call_help(struct call *call, const char *const *lines);

/* Answers a text for people as a verbatim string, and frees it. */
void call_answer_text(struct call *call, sds text);

/* --- Blocking --- */

/* Asks to put the client to sleep until one of `keys` can serve it. The command returns right
 * after, without a reply. When a key becomes ready, `serve` is called with a call whose argv is a
 * copy of the original one, and that key: it either answers (and returns true) or writes nothing
 * and returns false to go on waiting. Waiters of a key are served first come first served. At
 * `deadline_ms` (0 = never) the client gets a null array, or what `expire` writes, which is called
 * with a call like that. Where call_may_block is false it gets that at once. `keys` are arguments
 * of this call; the same key may stand twice; without any the client sleeps until the deadline, or,
 * with `awaits_sync`, until blocking_wake_synced finds it done. */
struct block_request {
    const struct slice *keys; /* a part of the call's argv */
    size_t key_count;
    int64_t deadline_ms;
    bool (*serve)(struct call *call, struct slice key);
    void (*expire)(struct call *call); /* answers at the deadline; NULL: a null array */
    bool for_work;    /* for work of another thread, not for keys: blocking_finish ends the wait */
    bool awaits_sync; /* WAITAOF: waits for the append-only file, not for keys */
};
void call_block(struct call *call, const struct block_request *request);

#endif
