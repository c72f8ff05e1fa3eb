/* call: one running command, and the functions with which it works on keys and replies.
 *
 * A command is `void name_command(struct call *call)`: it reads call->argv, finds its keys with
 * call_find_*, changes values through types/, reports each change with CALL_CHANGED, removes keys
 * with call_remove, and writes exactly one reply to call->reply. Its arity was checked before.
 * Arguments are slices into the read buffer and die when the command returns.
 *
 * Commands in commands/ include this header and not engine.h: to them the engine, the requester and
 * the session are opaque. */
#ifndef PACKLIST_ENGINE_CALL_H
#define PACKLIST_ENGINE_CALL_H

#include "engine/call_arguments.h"
#include "engine/call_struct.h"
#include "resp/reply.h"
#include "store/event.h"
#include "store/keyspace.h"
#include "types/value_limits.h"

struct made_commands; /* resp/made_commands.h */

/* Defines a command that is one form of a function: calls that with the call and these arguments.
 *      COMMAND_FORM(lpushx_command, push, LIST_HEAD, true) */
#define COMMAND_FORM(command, function, ...)                                                       \
    void command(struct call *call) {                                                              \
        function(call, __VA_ARGS__);                                                               \
    }

/* Returns whether import-mode has an effect. */
bool call_is_in_import_mode(const struct call *call);

/* Returns whether the server is a node of a cluster; and whether that has one database only. */
bool call_is_in_cluster(const struct call *call);
bool call_has_one_database(const struct call *call);

/* Returns whether no key is expired for the command: it is repeated, or comes from a client that
 * imports data in import-mode. */
static inline bool call_sees_expired(const struct call *call) {
    if (call_is_repeated(call)) return true;
    return call->requester && call->requester->imports && call_is_in_import_mode(call);
}

/* Returns a call without client, reply and arguments, for changes that the server makes by
 * itself. */
struct call call_of_server(struct engine *engine, int database);

/* --- Keys. A function that looks up an expired key deletes it and finds nothing. Looking up
 * another key of the same database may therefore invalidate a keyref, but not the entries
 * themselves. During a pause, in import-mode and on a replica, only commands that write delete
 * expired keys. Other commands treat them as missing and must not add a key of that name (none
 * does). --- */

/* Returns whether the call may delete what has expired: see above. */
bool call_may_expire(const struct call *call);

/* What looking a key up leaves behind; 0 is nothing: to delete the key, and for DEBUG. */
enum find_mark {
    FIND_COUNT = 1 << 0,  /* a hit or a miss, for INFO */
    FIND_NOTIFY = 1 << 1, /* the event "keymiss", unless the key exists */
    FIND_USE = 1 << 2,    /* the entry is marked as used, which eviction looks at */
    FIND_READ = FIND_COUNT | FIND_NOTIFY | FIND_USE
};

/* Finds a key and leaves the marks (enum find_mark). Returns the entry, or NULL when the key does
 * not exist, and tells *ref, unless `ref` is NULL, where it is or would be. O(1), as the next
 * two. */
struct entry *call_find(struct call *call, struct slice key, unsigned marks, struct keyref *ref);

/* call_find with FIND_READ. */
struct entry *call_find_read(struct call *call, struct slice key, struct keyref *ref);

/* For a command with many keys, argv[i], argv[i + stride] … below argv[end]: call with the index of
 * each before it is looked up. Starts loading the entries of several keys at once, now and then:
 * one after the other would wait for memory two or three times each. Only a hint. */
void call_prefetch_keys(const struct call *call, size_t i, size_t end, size_t stride);

/* Finds a key to change it: marks the entry as used, but counts neither a hit nor a miss. */
struct entry *call_find_write(struct call *call, struct slice key, struct keyref *ref);

/* Returns whether the entry is of type `type`; if not, replies WRONGTYPE. */
bool call_check_type(struct call *call, const struct entry *entry, enum value_type type);

/* As call_find_read and call_find_write. Return whether the value is of type `type`, or the key
 * does not exist: then ref->entry is NULL. Otherwise reply WRONGTYPE. */
static inline bool call_find_typed_read(struct call *call, struct slice key, enum value_type type,
                                        struct keyref *ref) {
    const struct entry *entry = call_find_read(call, key, ref);
    return entry == NULL || call_check_type(call, entry, type);
}

static inline bool call_find_typed_write(struct call *call, struct slice key, enum value_type type,
                                         struct keyref *ref) {
    const struct entry *entry = call_find_write(call, key, ref);
    return entry == NULL || call_check_type(call, entry, type);
}

/* Return how the key has been used, as the eviction policy in force counts it: the seconds since
 * its last use (-1 under an LFU policy), and its frequency, 0 … 255 (-1 under any other policy). */
int64_t call_idle_seconds(const struct call *call, const struct entry *entry);
int64_t call_frequency(const struct call *call, const struct entry *entry);

/* Sets the idle seconds and the frequency; -1 where one is not known. Call it after call_changed.
 * Only the value that the policy in force counts has an effect. An idle time beyond what the access
 * bits can hold becomes the longest that they can hold. */
void call_set_usage(const struct call *call, struct entry *entry, int64_t idle_s,
                    int64_t frequency);

/* Returns the same call with database `number` selected, for commands that name a database (COPY,
 * MOVE). All of these functions then work on that database. `number` is within range. */
struct call call_in_database(const struct call *call, int number);

/* --- Reporting a write --- */

/* What a command has changed of a value. */
struct change {
    enum event_class class;            /* of the event; EVENT_NONE: none is published */
    unsigned flags;                    /* enum change_flag */
    const char *event;                 /* "lpush" */
    uint64_t count;                    /* added to the count that decides when to save */
    const struct event_fields *fields; /* of a hash, or NULL: published if clients ask for them */
};

enum change_flag {
    CHANGE_UNWATCHED = 1 << 0,    /* clients read of the value what they read before */
    CHANGE_WAKES_NOBODY = 1 << 1, /* it has nothing new for clients that wait for the key */
    CHANGE_UNSEEN = CHANGE_UNWATCHED | CHANGE_WAKES_NOBODY
};

/* Reports a change of the value under `ref`, which was found under `key` with call_find_write or
 * made: touches the key's watchers, publishes the event (before it "new" when the key was just
 * created) and queues the key for clients that wait for it. The flags say what of this is not due.
 * A value that is now empty is removed (REMOVAL_CHANGED_EMPTY); `ref` then names nothing. O(1),
 * O(watchers of the key) and O(fields). */
void call_changed(struct call *call, struct keyref *ref, struct slice key,
                  const struct change *change);

/* The same, with the members of the change. Flags and fields may follow:
 *      CALL_CHANGED(call, &ref, key, EVENT_LIST, "lset", 1);
 *      CALL_CHANGED(call, &ref, key, EVENT_STREAM, "xtrim", 9, .flags = CHANGE_WAKES_NOBODY); */
#define CALL_CHANGED(call, ref, key, event_class, event_name, ...)                                 \
    call_changed(                                                                                  \
        call, ref, key,                                                                            \
        &(struct change){.class = event_class, .event = event_name, .count = __VA_ARGS__})

/* Returns whether call_changed would publish a change's fields, so that they must be known. */
bool call_publishes_fields(const struct call *call);

/* Returns whether a command that only reads may store in the value what it has computed, and
 * propagate that: no client may have that done on a replica, which is to be as its primary is, nor
 * while commands that write are refused or held back. */
bool call_may_keep_result(const struct call *call);

/* Where a value is freed: at once, or in another thread if it is large. */
enum freeing {
    FREE_NOW,
    FREE_IN_POOL,
    FREE_AS_USER_DEL, /* as lazyfree-lazy-user-del says, and so on */
    FREE_AS_SERVER_DEL,
    FREE_AS_EXPIRE,
    FREE_AS_EVICTION,
    FREE_BY_CALLER
};

/* Why a key is removed, and what follows from that:
 *
 *      reason         it is removed because            event        changes  propagated  freed
 *      DELETED        a command names it for that      del          1        command     user-del
 *      UNLINKED       the same, or all of it is taken  del          1        command     in pool
 *      POPPED         SPOP has replied all of it       del          1        DEL (a)     in pool
 *      PAST           it gets an expiry in the past    del          1        DEL         expire
 *      REPLACED_PAST  what replaces it has such a one  del          1        DEL         server-del
 *      RESULT_EMPTY   a result without elements is     del          1        command     server-del
 *                     stored there
 *      CHANGED_EMPTY  call_changed found it empty      del          –        command     now
 *      REFILLED       the same, of call->refills       –            –        command     now
 *      OVERWRITTEN    another entry follows            – (b)        –        command     server-del
 *      RENAMED        it gets another name             rename_from  –        command     by caller
 *      MOVED          it gets another database         move_from    –        command     by caller
 *      EXPIRED        its time has come                expired      –        removal     expire
 *      EVICTED        memory is short                  evicted      –        removal     eviction
 *
 * Propagated is the command as always; DEL in place of it; or DEL as call_propagate_removal does.
 * Where the directive has large values freed in the pool that is UNLINK, so that a replica does the
 * same. Those who watch or track the key, or wait for it, hear of it in all cases but (b). (a) As
 * server-del says. (b) What follows tells them. The rows are removal_rules in call.c. */
enum removal {
    REMOVAL_DELETED,
    REMOVAL_UNLINKED,
    REMOVAL_POPPED,
    REMOVAL_PAST,
    REMOVAL_REPLACED_PAST,
    REMOVAL_RESULT_EMPTY,
    REMOVAL_CHANGED_EMPTY,
    REMOVAL_REFILLED,
    REMOVAL_OVERWRITTEN,
    REMOVAL_RENAMED,
    REMOVAL_MOVED,
    REMOVAL_EXPIRED,
    REMOVAL_EVICTED,
    REMOVALS
};

/* Removes the key that `ref` names, if it names one; then it names nothing and can be given to
 * keyspace_add. Touches the key's watchers. Returns the entry where the caller frees it: that owns
 * it then, puts it elsewhere and reports that with call_changed. Returns NULL otherwise. `key` may
 * lie in the entry. O(watchers of the key), and O(value) where it is not freed in the pool. */
struct entry *call_remove(struct call *call, struct keyref *ref, struct slice key,
                          enum removal reason);

/* Puts an entry under the key that `ref` was looked up for. What stands there is removed
 * (REMOVAL_OVERWRITTEN), and its access bits stay with the key; publishes what
 * call_notify_overwritten does. call_changed follows. */
void call_put(struct call *call, struct keyref *ref, struct entry *entry);

/* Replies how many elements the result of a command has, and puts it under the key in place of what
 * stands there; an empty one, which may also be NULL, deletes that. Takes ownership of it. */
void call_put_result(struct call *call, struct slice key, struct entry *result,
                     const struct change *change);

/* Publishes the events "overwritten" and, if the types differ, "type_changed": of a key whose whole
 * value, of type `old`, gives way to one of type `type`. */
void call_notify_overwritten(struct call *call, struct slice key, enum value_type old,
                             enum value_type type);

/* Frees an entry that no key names: one that was replaced, or a part that was cut off a value. */
void call_free(struct call *call, struct entry *entry, enum freeing freeing);

/* Returns whether the entry's value would be freed in another thread if the key were overwritten.
 * O(1). */
bool call_replaces_in_pool(const struct call *call, const struct entry *entry);

/* Publishes one event of a key, if notify-keyspace-events asks for its class. Uses only the
 * database of the call. */
void call_notify(struct call *call, enum event_class class, const char *event, struct slice key);

/* --- What goes to the command log (journal/command_log.h) --- */

/* Appends a command to the command log: for the executor. Where argv[0] is the name as the client
 * sent it, the log gets the command's own name: it may have been renamed. */
void call_log(const struct call *call, const struct slice *argv, size_t argc);

/* A command that writes and has changed something is propagated as the client sent it. This
 * function propagates another command instead, for commands that would have another effect when
 * they run later (relative expiries, waits for a key, fractions) or would do more than was done. It
 * may be called more than once: all of these commands are propagated, in this order. The arguments
 * are copied. */
void call_propagate_as(struct call *call, const struct slice *argv, size_t argc);

/* The same with commands that another thread has made. O(bytes), but they are only copied. */
void call_propagate_made(struct call *call, const struct made_commands *made);

/* Propagates nothing in place of the command, unless call_propagate_as is called, too: for changes
 * that replicas need not repeat. */
static inline void call_propagate_nothing(struct call *call) {
    call->has_propagated = true;
}

/* As call_propagate_as, with the arguments one by one. They are evaluated only when the log has
 * readers:
 *      CALL_PROPAGATE(call, SLICE("DEL"), key); */
#define CALL_PROPAGATE(call, ...)                                                                  \
    do {                                                                                           \
        if (!(call)->propagates) break;                                                            \
        const struct slice words[] = {__VA_ARGS__};                                                \
        call_propagate_as(call, words, sizeof(words) / sizeof(words[0]));                          \
    } while (0)

/* The same for `count` words that `more_count` others follow, perhaps a part of call->argv. */
void call_propagate_with(struct call *call, const struct slice *words, size_t count,
                         const struct slice *more, size_t more_count);

/* Propagates a deletion that the server makes by itself, because a key has expired or memory is
 * short. It belongs to the unit of the command that may write and in which it is made. Made in one
 * that only reads, or in none, it is a unit of its own: a SCAN may meet thousands of expired
 * keys. */
void call_propagate_removal(const struct call *call, const struct slice *argv, size_t argc);

/* --- Expiry --- */

/* Sets the expiry of the key that `ref` names to `expiry_ms` (wall clock; -1: never). May move the
 * entry. Publishes and counts nothing: the command reports its change with call_changed. O(1). */
void call_set_expiry(struct call *call, struct keyref *ref, int64_t expiry_ms);

/* Adds an entry that has an expiry already, or none: as keyspace_add. Every key that gets an expiry
 * gets it here or from call_set_expiry. O(1). */
void call_add(struct call *call, struct keyref *ref, struct entry *entry);

/* Deletes the key if it has expired, even where the primary says what has: for keys that it does
 * not know to expire (engine/own_expiry.h). Returns whether the key will expire later. `key` must
 * not lie in the entry. O(1). */
bool call_expire_own(struct engine *engine, int database, struct slice key);

/* Returns whether the entry has expired. For iterations over a keyspace, which must skip such
 * entries; the functions that find keys test it themselves. */
static inline bool call_is_expired(const struct call *call, const struct entry *entry) {
    return entry_has_expired(entry, call->now_ms) && !call_sees_expired(call);
}

/* Deletes fields that have expired from the hash that `ref` names (found under `key`, which must
 * not lie in the entry), up to CALL_EXPIRED_FIELDS: propagates HDEL, publishes "hexpired", and
 * deletes the key when no field is left; then `ref` names nothing. Other fields that have expired
 * are invisible until they are deleted. Does nothing while data is being loaded, nor where
 * call_find_read would leave an expired key alone. Returns how many fields it deleted. */
enum { CALL_EXPIRED_FIELDS = 64 };
size_t call_expire_fields(struct call *call, struct keyref *ref, struct slice key);

/* As call_expire_fields, but deletes those of `count` fields, `stride` slices apart, that are there
 * and have expired; each CALL_EXPIRED_FIELDS of them are propagated and published together. For
 * commands whose effect depends on fields that call_expire_fields may have left: where the command
 * is repeated, from the append-only file or on a replica, no field expires by itself. As
 * hash_delete for each field. */
void call_expire_named(struct call *call, struct keyref *ref, struct slice key,
                       const struct slice *fields, size_t count, size_t stride);

/* Returns whether an expiry that a command gives is set although it has passed: it is repeated, or
 * the server is in import-mode. */
static inline bool call_sets_past(const struct call *call) {
    return call_is_repeated(call) || call_is_in_import_mode(call);
}

/* Returns whether `expiry_ms`, an argument of a command, has passed already, so that the key must
 * be deleted instead. */
static inline bool call_is_past(const struct call *call, int64_t expiry_ms) {
    return expiry_ms <= call->now_ms && !call_sets_past(call);
}

/* --- Waiting for keys --- */

/* Makes the client wait until one of `keys` can serve it. The command returns right after, without
 * a reply.
 *
 * The waiters of a key are served in order of arrival. At `deadline_ms` (0 = never) the client gets
 * what the kind's `unserved` writes. Where call_may_block is false, it gets that at once.
 *
 * `keys` are arguments of this call; the same key may stand twice. Without keys the client waits
 * until the deadline, or until its kind says that it is done. The state is copied. */
void call_block(struct call *call, const struct block_request *request);

/* --- The server --- */

/* Lets HyperLogLogs be counted and merged without special instructions of the processor, or with
 * them again. */
void call_set_plain_hyperloglogs(struct call *call, bool plain);

/* Returns the server's generator, for choices that need no secrecy. */
struct random *call_random(const struct call *call);

/* Returns how many bytes of output close the client; SIZE_MAX: any number is allowed, or there is
 * no client. O(1). */
size_t call_output_max(const struct call *call);

/* Returns whether the client's user may run this very call and read all keys of the database with
 * it, for keys that only data names. O(1), as the call was admitted. */
bool call_may_read_all_keys(const struct call *call);

/* Returns whether a command that lists keys must not tell the client's user of this one
 * (acl-filter-keys). O(patterns of the user). */
bool call_hides_key(const struct call *call, struct slice key);

/* Returns whether payloads and snapshots hold compressed values (rdbcompression). */
bool call_compresses_values(const struct call *call);

/* Returns whether payloads with a wrong checksum are accepted (DEBUG
 * SET-SKIP-CHECKSUM-VALIDATION). */
bool call_skips_checksums(const struct call *call);

#endif
