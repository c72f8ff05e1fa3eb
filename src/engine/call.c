/* call: see call.h. */
#include "engine/call.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "config/notify.h"
#include "engine/blocking.h"
#include "engine/call_make.h"
#include "engine/changes.h"
#include "engine/checks.h"
#include "engine/engine.h"
#include "engine/lazyfree.h"
#include "engine/own_expiry.h"
#include "engine/slow.h"
#include "resp/reply.h"
#include "table/command.h"
#include "types/value.h"
#include "users/access.h"

#include <assert.h>

struct call call_of_server(struct engine *engine, int database) {
    return call_make(engine, ORIGIN_SERVER, NULL, database, NULL, (struct command_line){0});
}

/* --- Keys --- */

static __attribute__((noinline)) void count_use(struct engine *engine, struct entry *entry) {
    const struct eviction_rules *rules = &engine->eviction;
    uint64_t random = random_next(&engine->random);
    uint32_t clock = access_as_lfu(entry_clock(entry), &rules->lfu);
    entry_set_clock(entry, access_lfu_use(clock, rules->lfu_minute, &rules->lfu, random));
}

/* CLIENT NO-TOUCH; TOUCH marks keys even for such clients. */
static bool leaves_no_marks(const struct call *call) {
    return call->requester && call->requester->leaves_no_marks &&
           !(call->command->flags & COMMAND_TOUCHES);
}

static inline __attribute__((always_inline)) void mark_used(const struct call *call,
                                                            struct entry *entry) {
    struct engine *engine = call->engine;
    if (leaves_no_marks(call)) return;
    if (eviction_is_lfu(engine->eviction.policy))
        count_use(engine, entry);
    else if (!eviction_is_lrm(engine->eviction.policy))
        entry_set_clock(entry, engine->eviction.lru_clock & ACCESS_MASK);
}

/* Under an LRM policy the access bits say when the key was last modified, by whomever. */
static inline void mark_modified(const struct engine *engine, struct entry *entry) {
    if (eviction_is_lrm(engine->eviction.policy))
        entry_set_clock(entry, engine->eviction.lru_clock & ACCESS_MASK);
}

int64_t call_idle_seconds(const struct call *call, const struct entry *entry) {
    const struct eviction_rules *rules = &call->engine->eviction;
    if (eviction_is_lfu(rules->policy)) return -1;
    return eviction_idle_seconds(rules, entry_clock(entry));
}

int64_t call_frequency(const struct call *call, const struct entry *entry) {
    const struct eviction_rules *rules = &call->engine->eviction;
    if (!eviction_is_lfu(rules->policy)) return -1;
    return eviction_frequency(rules, entry_clock(entry));
}

void call_set_usage(const struct call *call, struct entry *entry, int64_t idle_s,
                    int64_t frequency) {
    entry_set_clock(entry, eviction_bits(&call->engine->eviction, idle_s, frequency));
}

bool call_is_in_import_mode(const struct call *call) {
    return engine_is_importing(call->engine);
}

bool call_is_in_cluster(const struct call *call) {
    return call->engine->cluster;
}

bool call_has_one_database(const struct call *call) {
    return call->engine->databases == 1;
}

/* On a replica, keys are deleted when the primary says so; but a client that may write to it must
 * not find an expired key. So it is in import-mode, with the client that imports in place of the
 * primary. A pause forbids changes. */
bool call_may_expire(const struct call *call) {
    const struct engine *engine = call->engine;
    if (call_sees_expired(call)) return false;
    if (call->command && call->command->flags & COMMAND_WRITE) return true;
    bool is_paused = engine->restrictions & RESTRICTED_PAUSED;
    if (engine->is_replica || engine->config.import_mode) return false;
    return !(is_paused && call->command);
}

static void delete_expired(struct call *call, struct keyref *ref, struct slice key) {
    struct engine *engine = call->engine;
    uint64_t begin = slow_begin(engine);
    engine->stats.expired_keys++;
    call_remove(call, ref, key, REMOVAL_EXPIRED);
    slow_end(engine, LATENCY_EXPIRE_DELETE, begin);
}

/* Where the key may not be deleted, it only counts as missing. */
static __attribute__((noinline)) void expire(struct call *call, struct keyref *ref,
                                             struct slice key) {
    if (call_may_expire(call)) {
        delete_expired(call, ref, key);
        return;
    }
    ref->slot = NULL;
    ref->entry = NULL;
}

bool call_expire_own(struct engine *engine, int database, struct slice key) {
    struct call call = call_of_server(engine, database);
    struct keyref ref;
    if (!keyspace_look_up(call.keyspace, key, &ref) || entry_expiry(ref.entry) < 0) return false;
    if (!call_is_expired(&call, ref.entry)) return true;
    delete_expired(&call, &ref, key);
    return false;
}

/* Inlined, as are those below: each request comes by here. */
static inline __attribute__((always_inline)) struct entry *find(struct call *call, struct slice key,
                                                                struct keyref *ref) {
    struct keyref own;
    if (!ref) ref = &own;
    if (CHECKS_ARE_ON) checks_key(call, key);
    struct entry *entry = keyspace_look_up(call->keyspace, key, ref);
    if (!entry || !call_is_expired(call, entry)) return entry;
    expire(call, ref, key);
    return NULL;
}

static inline __attribute__((always_inline)) struct entry *
find_and_mark(struct call *call, struct slice key, unsigned marks, struct keyref *ref) {
    struct entry *entry = find(call, key, ref);
    if (marks & FIND_COUNT) {
        if (entry)
            call->engine->stats.keyspace_hits++;
        else
            call->engine->stats.keyspace_misses++;
    }
    if (!entry && marks & FIND_NOTIFY) call_notify(call, EVENT_KEY_MISS, "keymiss", key);
    if (entry && marks & FIND_USE) mark_used(call, entry);
    return entry;
}

struct entry *call_find(struct call *call, struct slice key, unsigned marks, struct keyref *ref) {
    return find_and_mark(call, key, marks, ref);
}

struct entry *call_find_read(struct call *call, struct slice key, struct keyref *ref) {
    return find_and_mark(call, key, FIND_READ, ref);
}

void call_prefetch_keys(const struct call *call, size_t i, size_t end, size_t stride) {
    const struct entry *entries[KEYSPACE_KEYS_AT_ONCE];
    bool is_due = i <= stride || i / stride % KEYSPACE_KEYS_AT_ONCE == 0;
    size_t count = (end - i + stride - 1) / stride;
    if (!is_due || count < 2 || keyspace_is_cached(call->keyspace)) return;
    if (count > KEYSPACE_KEYS_AT_ONCE) count = KEYSPACE_KEYS_AT_ONCE;
    keyspace_prefetch_entries(call->keyspace, &call->argv[i], stride, count, entries);
}

struct entry *call_find_write(struct call *call, struct slice key, struct keyref *ref) {
    struct keyref own;
    if (!ref) ref = &own;
    struct entry *entry = find(call, key, ref);
    if (!entry) return NULL;
    keyspace_before_change(ref);
    mark_used(call, entry);
    return entry;
}

struct call call_in_database(const struct call *call, int number) {
    struct call other = *call;
    other.database = number;
    other.keyspace = call->engine->keyspaces[number];
    return other;
}

bool call_check_type(struct call *call, const struct entry *entry, enum value_type type) {
    return entry_type(entry) == type ||
           reply_error(call->reply,
                       "WRONGTYPE Operation against a key holding the wrong kind of value");
}

/* --- Reporting changes --- */

void call_notify(struct call *call, enum event_class class, const char *event, struct slice key) {
    struct engine *engine = call->engine;
    if (engine->config.notify_keyspace_events & class)
        engine->upward->publish_event(engine, call->database, event, key);
}

/* Inlined into SET, which is frequent. */
inline void call_notify_overwritten(struct call *call, struct slice key, enum value_type old,
                                    enum value_type type) {
    call_notify(call, EVENT_OVERWRITTEN, "overwritten", key);
    if (old != type) call_notify(call, EVENT_TYPE_CHANGED, "type_changed", key);
}

/* A key was just created; its entry has no access bits yet. */
static void note_new(struct call *call, struct entry *entry, struct slice key) {
    entry_set_clock(entry, eviction_fresh_bits(&call->engine->eviction));
    call_notify(call, EVENT_NEW, "new", key);
}

bool call_publishes_fields(const struct call *call) {
    int64_t flags = call->engine->config.notify_keyspace_events;
    return flags & EVENT_HASH && flags & NOTIFY_FIELDS;
}

static void publish(struct call *call, struct slice key, const struct change *change) {
    struct engine *engine = call->engine;
    engine->upward->publish_event(engine, call->database, change->event, key);
    if (change->fields && call_publishes_fields(call))
        engine->upward->publish_fields(engine, call->database, change->event, key, *change->fields);
}

void call_changed(struct call *call, struct keyref *ref, struct slice key,
                  const struct change *change) {
    struct engine *engine = call->engine;
    engine->dirty += change->count;
    CHECKED_ASSERT(keyref_was_visited(ref));
    if (CHECKS_ARE_ON) checks_value(&engine->checks, ref->entry);
    if (entry_clock(ref->entry) == 0) note_new(call, ref->entry, key);
    mark_modified(engine, ref->entry);
    if (engine->config.notify_keyspace_events & change->class) publish(call, key, change);
    if (value_is_empty(ref->entry)) {
        call_remove(call, ref, key, call->refills ? REMOVAL_REFILLED : REMOVAL_CHANGED_EMPTY);
        return;
    }
    if (!(change->flags & CHANGE_UNWATCHED)) changes_tell(call, key, false);
    if (!(change->flags & CHANGE_WAKES_NOBODY)) changes_wake(call, ref->entry, key);
}

bool call_may_keep_result(const struct call *call) {
    const unsigned no_changes = RESTRICTED_UNSAVED | RESTRICTED_UNWRITTEN | RESTRICTED_PAUSED |
                                RESTRICTED_FEW_REPLICAS | RESTRICTED_READONLY;
    const struct engine *engine = call->engine;
    if (call_is_repeated(call)) return true;
    return !engine->is_replica && !(engine->restrictions & no_changes);
}

/* --- Removing keys --- */

/* A unit that is open already while a script is busy is the script's. */
static bool is_only_reading(const struct call *call) {
    return call->origin == ORIGIN_CLIENT && !(call->command->flags & COMMAND_WRITE) &&
           !(call->engine->restrictions & RESTRICTED_BUSY);
}

void call_propagate_removal(const struct call *call, const struct slice *argv, size_t argc) {
    struct command_log *log = &call->engine->command_log;
    enum command_log_audience audience = log->audience;
    command_log_address(log, COMMAND_LOG_ALL);
    command_log_append(log, call->database, argv, argc);
    command_log_address(log, audience);
    if (call->origin == ORIGIN_SERVER || is_only_reading(call)) command_log_end_unit(log);
}

/* What is propagated of a removal. */
enum propagation {
    THE_COMMAND,  /* as always */
    IN_ITS_PLACE, /* DEL or UNLINK */
    BY_ITSELF     /* the same: call_propagate_removal */
};

static const struct removal_rule {
    enum event_class class;
    const char *event;
    bool is_told; /* to those who watch, track or wait for the key */
    uint8_t changes;
    uint8_t propagation; /* enum propagation */
    uint8_t freeing;     /* enum freeing */
} removal_rules[REMOVALS] = {
    [REMOVAL_DELETED] = {EVENT_GENERIC, "del", true, 1, THE_COMMAND, FREE_AS_USER_DEL},
    [REMOVAL_UNLINKED] = {EVENT_GENERIC, "del", true, 1, THE_COMMAND, FREE_IN_POOL},
    [REMOVAL_POPPED] = {EVENT_GENERIC, "del", true, 1, IN_ITS_PLACE, FREE_IN_POOL},
    [REMOVAL_PAST] = {EVENT_GENERIC, "del", true, 1, IN_ITS_PLACE, FREE_AS_EXPIRE},
    [REMOVAL_REPLACED_PAST] = {EVENT_GENERIC, "del", true, 1, IN_ITS_PLACE, FREE_AS_SERVER_DEL},
    [REMOVAL_RESULT_EMPTY] = {EVENT_GENERIC, "del", true, 1, THE_COMMAND, FREE_AS_SERVER_DEL},
    [REMOVAL_CHANGED_EMPTY] = {EVENT_GENERIC, "del", true, 0, THE_COMMAND, FREE_NOW},
    [REMOVAL_REFILLED] = {EVENT_NONE, NULL, true, 0, THE_COMMAND, FREE_NOW},
    [REMOVAL_OVERWRITTEN] = {EVENT_NONE, NULL, false, 0, THE_COMMAND, FREE_AS_SERVER_DEL},
    [REMOVAL_RENAMED] = {EVENT_GENERIC, "rename_from", true, 0, THE_COMMAND, FREE_BY_CALLER},
    [REMOVAL_MOVED] = {EVENT_GENERIC, "move_from", true, 0, THE_COMMAND, FREE_BY_CALLER},
    [REMOVAL_EXPIRED] = {EVENT_EXPIRED, "expired", true, 0, BY_ITSELF, FREE_AS_EXPIRE},
    [REMOVAL_EVICTED] = {EVENT_EVICTED, "evicted", true, 0, BY_ITSELF, FREE_AS_EVICTION},
};

static bool is_freed_in_pool(const struct config *config, enum freeing freeing) {
    switch (freeing) {
    case FREE_IN_POOL: return true;
    case FREE_AS_USER_DEL: return config->lazyfree_user_del;
    case FREE_AS_SERVER_DEL: return config->lazyfree_server_del;
    case FREE_AS_EXPIRE: return config->lazyfree_expire;
    case FREE_AS_EVICTION: return config->lazyfree_eviction;
    default: return false;
    }
}

static void propagate_removal(struct call *call, struct slice key, enum removal reason) {
    const struct removal_rule *rule = &removal_rules[reason];
    enum freeing freeing = reason == REMOVAL_POPPED ? FREE_AS_SERVER_DEL : rule->freeing;
    bool in_pool = is_freed_in_pool(&call->engine->config, freeing);
    const struct slice argv[] = {in_pool ? SLICE("UNLINK") : SLICE("DEL"), key};
    if (rule->propagation == IN_ITS_PLACE)
        call_propagate_as(call, argv, 2);
    else
        call_propagate_removal(call, argv, 2);
}

struct entry *call_remove(struct call *call, struct keyref *ref, struct slice key,
                          enum removal reason) {
    const struct removal_rule *rule = &removal_rules[reason];
    if (!ref->entry) return NULL;
    call->engine->dirty += rule->changes;
    if (call->propagates && rule->propagation != THE_COMMAND) propagate_removal(call, key, reason);
    struct entry *entry = keyspace_take(ref);
    if (rule->is_told) changes_note_deletion(call, key, reason == REMOVAL_EXPIRED);
    call_notify(call, rule->class, rule->event, key);
    if (rule->freeing == FREE_BY_CALLER) return entry;
    call_free(call, entry, rule->freeing);
    return NULL;
}

void call_free(struct call *call, struct entry *entry, enum freeing freeing) {
    struct engine *engine = call->engine;
    bool in_pool = call->frees_in_pool || is_freed_in_pool(&engine->config, freeing);
    lazyfree_entry(engine->lazyfree, entry, in_pool);
}

void call_put(struct call *call, struct keyref *ref, struct entry *entry) {
    if (ref->entry) {
        call_notify_overwritten(call, entry_key(entry), entry_type(ref->entry), entry_type(entry));
        entry_set_clock(entry, entry_clock(ref->entry));
        call_remove(call, ref, entry_key(entry), REMOVAL_OVERWRITTEN);
    }
    keyspace_add(ref, entry);
}

void call_put_result(struct call *call, struct slice key, struct entry *result,
                     const struct change *change) {
    struct keyref ref;
    uint64_t length = result ? value_length(result) : 0;
    call_find_write(call, key, &ref);
    reply_integer(call->reply, (int64_t)length);
    if (length == 0) {
        if (result) value_free(result);
        call_remove(call, &ref, key, REMOVAL_RESULT_EMPTY);
        return;
    }
    call_put(call, &ref, result);
    call_changed(call, &ref, key, change);
}

bool call_replaces_in_pool(const struct call *call, const struct entry *entry) {
    bool in_pool = call->frees_in_pool || call->engine->config.lazyfree_server_del;
    return in_pool && lazyfree_is_much(entry);
}

/* On a replica: the entry gets this expiry, or none. */
static __attribute__((noinline, cold)) void
note_expiry(const struct call *call, const struct entry *entry, int64_t expiry_ms) {
    bool is_own = call_session(call) != NULL;
    if (expiry_ms >= 0) own_expiry_note(call->engine, call->database, entry_key(entry), is_own);
}

/* Inlined into SET and EXPIRE, which are frequent. */
inline void call_set_expiry(struct call *call, struct keyref *ref, int64_t expiry_ms) {
    if (call->engine->is_replica) note_expiry(call, ref->entry, expiry_ms);
    keyspace_set_expiry(ref, expiry_ms, value_size(ref->entry));
}

void call_add(struct call *call, struct keyref *ref, struct entry *entry) {
    if (call->engine->is_replica) note_expiry(call, entry, entry_expiry(entry));
    keyspace_add(ref, entry);
}

/* --- The command log --- */

/* A command that was renamed. */
static void log_with_own_name(const struct call *call, const struct slice *argv, size_t argc) {
    struct slice *words = mem_alloc(argc * sizeof(*words));
    memcpy(words, argv, argc * sizeof(*words));
    words[0] = command_own_name(call->command);
    command_log_append(&call->engine->command_log, call->database, words, argc);
    mem_free(words);
}

void call_log(const struct call *call, const struct slice *argv, size_t argc) {
    if (command_has_renames() && argv[0].ptr == call->argv[0].ptr)
        log_with_own_name(call, argv, argc);
    else
        command_log_append(&call->engine->command_log, call->database, argv, argc);
}

void call_propagate_as(struct call *call, const struct slice *argv, size_t argc) {
    call_log(call, argv, argc);
    call->has_propagated = true;
}

void call_propagate_made(struct call *call, const struct made_commands *made) {
    command_log_append_made(&call->engine->command_log, call->database, made);
    call->has_propagated = true;
}

void call_propagate_with(struct call *call, const struct slice *words, size_t count,
                         const struct slice *more, size_t more_count) {
    if (!call->propagates) return;
    struct slice *argv = mem_alloc((count + more_count) * sizeof(*argv));
    memcpy(argv, words, count * sizeof(*argv));
    memcpy(argv + count, more, more_count * sizeof(*argv));
    call_propagate_as(call, argv, count + more_count);
    mem_free(argv);
}

/* --- Waiting for keys --- */

void call_block(struct call *call, const struct block_request *request) {
    if (call_may_block(call))
        blocking_add(call->engine->blocking, call, request);
    else
        blocking_answer_unserved(call, request->kind, request->state);
}

/* --- The server --- */

void call_set_plain_hyperloglogs(struct call *call, bool plain) {
    call->engine->value_limits->hyperloglog.plain = plain;
}

struct random *call_random(const struct call *call) {
    return &call->engine->random;
}

size_t call_output_max(const struct call *call) {
    const struct session *session = call_session(call);
    return session ? call->engine->upward->output_max(session) : SIZE_MAX;
}

bool call_may_read_all_keys(const struct call *call) {
    const struct access access = {call->command, call->argv, call->argc, call->database};
    return !call->requester || user_may_with_all_keys(call->requester->user, &access, KEYS_READ);
}

bool call_hides_key(const struct call *call, struct slice key) {
    return call->engine->config.acl_filter_keys && call->requester &&
           !user_may_read_key(call->requester->user, key, call->database);
}

bool call_compresses_values(const struct call *call) {
    return call->engine->config.rdbcompression;
}

bool call_skips_checksums(const struct call *call) {
    return call->engine->skip_checksums;
}
