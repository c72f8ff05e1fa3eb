#include "reclaim/expire_search.h"

#include "base/text/sds.h"
#include "engine/call.h"
#include "engine/engine.h"
#include "engine/own_expiry.h"
#include "types/hash.h"

enum {
    /* Far more than a bucket ever holds; the rest would wait until the search comes round again. */
    EXPIRED_PER_STEP = 128
};

struct step {
    struct call call;
    enum expire_kind kind;
    uint64_t visited;
    size_t expired_count;
    const struct entry *expired[EXPIRED_PER_STEP];
};

static enum keyspace_keys table_of(const struct expire_search *search) {
    return search->kind == EXPIRE_KEYS ? EXPIRING_KEYS : EXPIRING_FIELDS;
}

static bool is_expired(const struct step *step, const struct entry *entry) {
    if (step->kind == EXPIRE_KEYS) return call_is_expired(&step->call, entry);
    return hash_first_expiry(entry) < step->call.now_ms;
}

static void visit(struct entry *entry, void *arg) {
    struct step *step = arg;
    step->visited++;
    if (is_expired(step, entry) && step->expired_count < EXPIRED_PER_STEP)
        step->expired[step->expired_count++] = entry;
}

static void delete_keys(struct step *step) {
    for (size_t i = 0; i < step->expired_count; i++)
        call_find(&step->call, entry_key(step->expired[i]), 0, NULL); /* deletes it */
}

/* Deletes fields of the hash that have expired, and returns how many. */
static size_t delete_fields_of(struct call *call, const struct entry *entry) {
    sds key = sds_new(entry_key(entry));
    struct keyref ref;
    call_find(call, sds_slice(key), 0, &ref);
    size_t deleted = ref.entry ? call_expire_fields(call, &ref, sds_slice(key)) : 0;
    sds_free(key);
    return deleted;
}

/* Deletes fields of the hashes that have expired: so many that a step stays short. Returns false
 * when some may be left: then only the hashes that it has reached are counted as visited. */
static bool delete_fields(struct step *step) {
    size_t deleted = 0, i = 0;
    while (i < step->expired_count && deleted < CALL_EXPIRED_FIELDS)
        deleted += delete_fields_of(&step->call, step->expired[i++]);
    if (deleted < CALL_EXPIRED_FIELDS) return true;
    step->visited = step->expired_count = i;
    return false;
}

static struct expire_tally table_step(struct engine *engine, struct expire_search *search) {
    struct step step; /* not its array */
    step.call = call_of_server(engine, search->database);
    step.kind = search->kind;
    step.visited = step.expired_count = 0;
    uint64_t next =
        keyspace_scan(step.call.keyspace, table_of(search), search->cursor, visit, &step);
    bool finished = true;
    if (search->kind == EXPIRE_KEYS)
        delete_keys(&step);
    else
        finished = delete_fields(&step);
    if (finished) search->cursor = next; /* else the bucket is scanned again */
    return (struct expire_tally){.visited = step.visited, .expired = step.expired_count};
}

static struct expire_tally search_step(struct engine *engine, struct expire_search *search) {
    if (search->kind != EXPIRE_OWN_KEYS) return table_step(engine, search);
    struct own_expiry_step step = own_expiry_step(engine, call_expire_own);
    return (struct expire_tally){.visited = step.examined, .expired = step.gone};
}

struct expire_tally expire_search_step(struct engine *engine, struct expire_search *search) {
    struct stats *stats = &engine->stats;
    uint64_t keys = stats->expired_keys, fields = stats->expired_fields;
    struct expire_tally tally = search_step(engine, search);
    stats->expired_keys_active += stats->expired_keys - keys;
    stats->expired_fields_active += stats->expired_fields - fields;
    return tally;
}

size_t expire_search_count(struct engine *engine, const struct expire_search *search) {
    if (search->kind == EXPIRE_OWN_KEYS) return own_expiry_count(engine);
    return keyspace_count_of(engine->keyspaces[search->database], table_of(search));
}
