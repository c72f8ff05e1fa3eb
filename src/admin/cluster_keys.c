/* cluster_keys: CLUSTER COUNTKEYSINSLOT GETKEYSINSLOT FLUSHSLOT: the keys of a slot. */
#include "admin/admin_commands.h"
#include "admin/cluster_common.h"
#include "engine/changes.h"
#include "engine/claim.h"
#include "engine/lazyfree.h"
#include "execute/flush.h"
#include "resp/reply.h"

size_t cluster_count_keys(struct engine *engine, unsigned slot) {
    size_t count = 0;
    claims_end_all(engine);
    for (int i = 0; i < engine->databases; i++)
        count += keyspace_slot_count(engine->keyspaces[i], slot);
    return count;
}

void cluster_countkeysinslot_command(struct call *call) {
    int64_t slot;
    if (!cluster_of(call) ||
        !call_integer_within(call, 2, 0, KEY_SLOTS - 1, &slot, "ERR Invalid slot"))
        return;
    claims_end_all(call->engine);
    reply_integer(call->reply, (int64_t)keyspace_slot_count(call->keyspace, (unsigned)slot));
}

/* --- GETKEYSINSLOT slot count --- */

struct key_list {
    struct reply *reply;
    uint64_t left;
    size_t count;
};

static void answer_key(struct entry *entry, void *arg) {
    struct key_list *list = arg;
    if (list->left == 0) return;
    reply_bulk(list->reply, entry_key(entry));
    list->left--;
    list->count++;
}

void cluster_getkeysinslot_command(struct call *call) {
    int64_t slot, most;
    if (!cluster_of(call) || !call_integer(call, 2, &slot) || !call_integer(call, 3, &most)) return;
    if (slot < 0 || slot >= KEY_SLOTS || most < 0) {
        reply_error(call->reply, "ERR Invalid slot or number of keys");
        return;
    }
    claims_end_all(call->engine);
    struct key_list list = {.reply = call->reply, .left = (uint64_t)most};
    size_t mark = reply_begin(call->reply);
    uint64_t cursor = 0;
    do {
        cursor = keyspace_scan_slot(call->keyspace, (unsigned)slot, cursor, answer_key, &list);
    } while (cursor && list.left > 0);
    reply_array_end(call->reply, mark, list.count);
}

/* --- FLUSHSLOT slot [ASYNC | SYNC] --- */

/* Keys go to the command log as those of one UNLINK, or several. */
struct deletions {
    struct call *call; /* with the database of the keys */
    size_t count;
    struct slice words[1 + 128]; /* UNLINK key … */
};

static void propagate_deletions(struct deletions *deletions) {
    if (deletions->count > 0)
        call_propagate_as(deletions->call, deletions->words, 1 + deletions->count);
    deletions->count = 0;
}

static void report_deletion(struct deletions *deletions, struct slice key) {
    enum { MOST = sizeof(deletions->words) / sizeof(deletions->words[0]) - 1 };
    struct call *call = deletions->call;
    changes_note_deletion(call, key, false);
    call_notify(call, EVENT_GENERIC, "del", key);
    if (!call->propagates) return;
    deletions->words[++deletions->count] = key;
    if (deletions->count == MOST) propagate_deletions(deletions);
}

/* Deletes the keys of the slot in the database of the call. A client waits until they are free if
 * they have a number and true is returned. */
static bool delete_keys(struct call *call, unsigned slot, bool in_pool, uint64_t number) {
    struct engine *engine = call->engine;
    struct deletions deletions = {.call = call, .words = {SLICE("UNLINK")}};
    if (keyspace_slot_count(call->keyspace, slot) == 0) return false;
    struct keyspace *taken = keyspace_take_slot(call->keyspace, slot);
    struct keyspace_iter iter;
    const struct entry *entry;
    engine->dirty += keyspace_count(taken);
    keyspace_iter_start(&iter, taken);
    while ((entry = keyspace_iter_next(&iter))) report_deletion(&deletions, entry_key(entry));
    propagate_deletions(&deletions);
    if (!in_pool && lazyfree_is_little(taken)) {
        keyspace_free(taken);
        return false;
    }
    lazyfree_keyspace(engine->lazyfree, taken, number);
    return number > 0;
}

void cluster_flushslot_command(struct call *call) {
    unsigned slot;
    bool in_pool = call->engine->config.lazyfree_user_flush;
    if (!cluster_of(call) || !call_has_at_most(call, 4) || !cluster_slot_argument(call, 2, &slot))
        return;
    if (call->argc == 4) in_pool = slice_is(call->argv[3], "async");
    if (call->argc == 4 && !in_pool && !slice_is(call->argv[3], "sync")) {
        call_syntax_error(call);
        return;
    }
    uint64_t number = in_pool || !call_may_block(call) ? 0 : flush_number(call->engine);
    size_t awaited = 0;
    claims_end_all(call->engine);
    call_propagate_nothing(call); /* but the deletions */
    for (int i = 0; i < call->engine->databases; i++) {
        struct call other = call_in_database(call, i);
        awaited += delete_keys(&other, slot, in_pool, number);
    }
    if (awaited > 0)
        flush_wait(call, number, awaited);
    else
        reply_ok(call->reply);
}
