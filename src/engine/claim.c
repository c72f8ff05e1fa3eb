#include "engine/claim.h"

#include "base/chain.h"
#include "engine/call.h"
#include "engine/call_make.h"
#include "engine/engine.h"
#include "engine/work.h"
#include "resp/reply.h"
#include "table/command.h"
#include "table/command_keys.h"
#include "types/value.h"

#include <assert.h>

/* --- The value --- */

static void move(struct keyref *from, struct keyspace *to) {
    struct entry *entry = keyspace_take(from);
    struct keyref ref = keyspace_find(to, entry_key(entry));
    keyspace_add(&ref, entry);
}

/* Moves the value to a keyspace of its own; without its expiry where it will be replaced: an
 * expired value would be deleted, in the command log, too, after the command that replaces it. */
static void take(struct call *call, struct claim *claim) {
    struct keyref ref;
    claim->keyspace = keyspace_new(value_free, value_length);
    claim->has_value = call_find(call, claim->key.name, 0, &ref);
    if (!claim->has_value) return;
    keyspace_before_change(&ref);
    claim->expiry = entry_expiry(ref.entry);
    claim->fields_expire = entry_fields_expire(ref.entry);
    if (!claim->changes && claim->expiry >= 0) keyspace_set_expiry(&ref, -1, value_size(ref.entry));
    move(&ref, claim->keyspace);
    keyspace_hand_over(claim->keyspace);
}

void claim_make(const struct call *call, struct work *work, int database, struct slice key,
                bool changes) {
    struct call other = call_in_database(call, database);
    struct works *works = call->engine->works;
    struct claim *claim = keytable_find_or_add(&works->claims, 0, key, sizeof(*claim));
    assert(!claim->work);
    claim->work = work;
    claim->other = work->claim;
    claim->database = database;
    claim->selected = call->database;
    claim->changes = changes;
    take(&other, claim);
    claim->command = call->command;
    claim->args = args_copy(call->argv, call->argc);
    CHAIN_APPEND(works->first_claim, works->last_claim, claim, prev, next);
    call->engine->restrictions |= RESTRICTED_CLAIMED;
    work->claim = claim;
}

const struct slice *claim_argv(const struct claim *claim) {
    return claim->args->argv;
}

static struct keyspace *database_of(const struct claim *claim) {
    return claim->work->engine->keyspaces[claim->database];
}

struct keyref claim_value(const struct claim *claim) {
    return keyspace_find(claim->keyspace ? claim->keyspace : database_of(claim), claim->key.name);
}

void claim_put_back(struct claim *claim) {
    for (; claim; claim = claim->other) {
        keyspace_hand_over(claim->keyspace);
        struct keyref ref = claim_value(claim);
        if (claim->has_value) move(&ref, database_of(claim));
        keyspace_free(claim->keyspace);
        claim->keyspace = NULL;
    }
}

void claim_prepare(const struct claim *claim, struct call *call) {
    call->has_propagated = !claim->changes;
    call->frees_in_pool = true;
}

void claim_free(struct claim *claim) {
    struct engine *engine = claim->work->engine;
    struct works *works = engine->works;
    claim->work->claim = NULL;
    for (struct claim *other; claim; claim = other) {
        other = claim->other;
        CHAIN_REMOVE(works->first_claim, works->last_claim, claim, prev, next);
        args_free(claim->args);
        keytable_delete(&works->claims, claim);
    }
    if (!works->first_claim) engine->restrictions &= ~(uint32_t)RESTRICTED_CLAIMED;
}

void claim_answer_alone(struct claim *claim) {
    struct work *work = claim->work;
    struct engine *engine = work->engine;
    struct command_log *log = &engine->command_log;
    struct reply unread;
    uint64_t dirty = engine->dirty;
    reply_init(&unread, 0);
    struct call call =
        call_make(engine, ORIGIN_SERVER, NULL, claim->selected, &unread,
                  (struct command_line){claim->command, claim->args->argv, claim->args->argc});
    claim_prepare(claim, &call);
    work->kind->answer(&call, work);
    reply_free(&unread);
    if (call.propagates && engine->dirty != dirty && !call.has_propagated)
        call_log(&call, call.argv, call.argc);
    if (command_log_is_inside_unit(log)) command_log_end_unit(log);
}

/* --- Others --- */

void claims_end_all(struct engine *engine) {
    struct works *works = engine->works;
    while (works->first_claim) work_end_now(works->first_claim->work);
}

static bool has_expired(const struct claim *claim, const struct call *call) {
    return claim->expiry >= 0 && claim->expiry < call->now_ms && !call_sees_expired(call);
}

void claims_visit_taken(const struct call *call, void (*visit)(struct slice key, void *arg),
                        void *arg) {
    const struct claim *claim = call->engine->works->first_claim;
    for (; claim; claim = claim->next)
        if (claim->has_value && claim->database == call->database && !has_expired(claim, call))
            visit(claim->key.name, arg);
}

static bool is_counted(const struct claim *claim, enum keyspace_keys which) {
    if (which == EXPIRING_KEYS) return claim->expiry >= 0;
    return which == ALL_KEYS || claim->fields_expire;
}

size_t claims_count_keys(const struct engine *engine, int database, enum keyspace_keys which) {
    size_t count = keyspace_count_of(engine->keyspaces[database], which);
    const struct claim *claim = engine->works->first_claim;
    for (; claim; claim = claim->next)
        count += claim->has_value && claim->database == database && is_counted(claim, which);
    return count;
}

bool claims_have_taken(const struct engine *engine, int database, struct slice key) {
    const struct claim *claim = engine->works->first_claim;
    while (claim &&
           !(claim->has_value && claim->database == database && slice_equal(claim->key.name, key)))
        claim = claim->next;
    return claim;
}

struct asked {
    struct engine *engine;
    const struct slice *argv;
};

static void end_for_key(void *arg, size_t index, uint32_t use) {
    const struct asked *asked = arg;
    const struct claim *claim = keytable_find(&asked->engine->works->claims, 0, asked->argv[index]);
    (void)use;
    if (claim) work_end_now(claim->work);
}

/* Returns whether the command may use keys that are not among its arguments: SORT with patterns. */
static bool data_names_keys(const struct command *command, const struct slice *argv, size_t argc) {
    if (command->keys.shape != KEYS_OF_SORT) return false;
    for (size_t i = 2; i < argc; i++)
        if (slice_is(argv[i], "by") || slice_is(argv[i], "get")) return true;
    return false;
}

bool claims_end_for(struct engine *engine, const struct command *command, const struct slice *argv,
                    size_t argc) {
    struct key_ranges keys;
    size_t before = engine->works->claims.count;
    bool has_keys = command_has_keys(command) && command_keys(command, argv, argc, &keys) &&
                    key_ranges_count(&keys) > 0;
    bool runs_others = command->flags & (COMMAND_RUNS_QUEUE | COMMAND_RUNS_SCRIPT);
    if (has_keys && !runs_others && !data_names_keys(command, argv, argc))
        key_ranges_each(&keys, end_for_key, &(struct asked){engine, argv});
    else if (!command->sees_claimed &&
             (has_keys || runs_others || command->flags & (COMMAND_WRITE | COMMAND_READONLY)))
        claims_end_all(engine);
    return engine->works->claims.count < before;
}
