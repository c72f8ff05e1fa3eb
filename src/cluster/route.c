#include "cluster/route.h"

#include "cluster/endpoint.h"
#include "engine/claim.h"
#include "engine/client.h"
#include "engine/engine.h"
#include "engine/transaction.h"
#include "net/tls/tls.h"
#include "session/session.h"
#include "store/keyspace.h"
#include "table/command.h"
#include "table/command_keys.h"

#include <string.h>

/* --- The keys of one or several commands --- */

/* What was found of the keys so far. */
struct search {
    const struct requester *requester;
    const struct slice *argv; /* of the command that is being looked at */
    struct slice first;       /* key */
    int slot;                 /* -1: no key yet */
    bool crosses;             /* keys are in several slots */
    bool has_several;         /* different keys */
    bool has_channels;
    size_t missing; /* keys; counted only in a slot that is moving */
    size_t existing;
};

static bool slot_moves(const struct cluster *cluster, int slot) {
    return cluster->migrating_to[slot] || cluster->importing_from[slot];
}

/* Returns whether the key is here. Nothing notices that it was looked up. */
static bool exists(const struct requester *requester, struct slice key) {
    struct engine *engine = requester->engine;
    struct keyref ref = keyspace_find(engine->keyspaces[requester->database], key);
    if (!ref.entry) return claims_have_taken(engine, requester->database, key);
    int64_t expiry = entry_expiry(ref.entry);
    return expiry < 0 || expiry > engine->now_ms;
}

static void note_key(void *arg, size_t index, uint32_t use) {
    struct search *search = arg;
    struct slice key = search->argv[index];
    int slot = (int)key_slot(key);
    if (search->slot < 0) {
        search->slot = slot;
        search->first = key;
    } else {
        search->crosses |= slot != search->slot;
        search->has_several |= !slice_equal(key, search->first);
    }
    if (use & (KEY_NOT_KEY | KEY_CHANNEL)) {
        search->has_channels |= (use & KEY_CHANNEL) != 0;
    } else if (slot_moves(search->requester->engine->cluster, slot)) {
        bool is_here = exists(search->requester, key);
        search->existing += is_here;
        search->missing += !is_here;
    }
}

/* Returns whether the names that the command uses decide where it runs: those of keys and of shard
 * channels do. */
static bool has_routed_names(const struct command *command) {
    return !(command->keys.use & KEY_CHANNEL) || command->keys.use & KEY_NOT_KEY;
}

static void note_command(struct search *search, const struct command *command,
                         const struct slice *argv, size_t argc) {
    struct key_ranges keys;
    if (!has_routed_names(command) || !command_keys(command, argv, argc, &keys)) return;
    search->argv = argv;
    key_ranges_each(&keys, note_key, search);
}

static void note_queue(struct search *search, const struct transaction *transaction) {
    for (size_t i = 0; i < transaction->count; i++) {
        const struct queued_command *queued = &transaction->queue[i];
        note_command(search, queued->command, queued->args->argv, queued->args->argc);
    }
}

/* --- The decision --- */

static bool says(const struct search *search, enum session_mark mark) {
    return search->requester->session->marks & mark;
}

static enum route_kind refused_while_down(const struct search *search, uint32_t flags) {
    const struct config *config = &search->requester->engine->config;
    if (search->has_channels)
        return config->cluster_allow_pubsubshard_when_down ? ROUTE_HERE : ROUTE_DOWN;
    if (!config->cluster_allow_reads_when_down) return ROUTE_DOWN;
    return flags & COMMAND_WRITE ? ROUTE_DOWN_FOR_WRITES : ROUTE_HERE;
}

/* Of a replica that a client may read, whose primary serves the slot. */
static bool may_read_here(const struct search *search, const struct cluster_node *owner,
                          uint32_t flags) {
    const struct cluster_node *myself = search->requester->engine->cluster->myself;
    return myself->primary == owner && !(flags & COMMAND_WRITE) &&
           (says(search, SESSION_READONLY) || search->has_channels);
}

static enum route_kind kind_of(const struct search *search, const struct cluster_node *owner,
                               const struct command *command, uint32_t flags) {
    const struct cluster *cluster = search->requester->engine->cluster;
    bool is_mine = owner == cluster->myself;
    bool migrates = is_mine && cluster->migrating_to[search->slot];
    bool is_imported = !is_mine && cluster->importing_from[search->slot];
    if ((migrates || is_imported) && strcmp(command->name, "migrate") == 0) return ROUTE_HERE;
    if (migrates && search->missing) return search->existing ? ROUTE_TRY_AGAIN : ROUTE_ASK;
    if (is_imported &&
        (says(search, SESSION_ASKING) || strcmp(command->name, "restore-asking") == 0))
        return search->has_several && search->missing ? ROUTE_TRY_AGAIN : ROUTE_HERE;
    return is_mine || may_read_here(search, owner, flags) ? ROUTE_HERE : ROUTE_MOVED;
}

static struct route decide(const struct search *search, const struct command *command,
                           uint32_t flags) {
    const struct cluster *cluster = search->requester->engine->cluster;
    struct route route = {.slot = search->slot};
    if (search->slot < 0) return route;
    struct cluster_node *owner = cluster->owners[search->slot];
    route.kind = !owner            ? ROUTE_UNSERVED
                 : search->crosses ? ROUTE_CROSS_SLOT
                 : !cluster->is_ok ? refused_while_down(search, flags)
                                   : ROUTE_HERE;
    if (route.kind != ROUTE_HERE) return route;
    route.kind = kind_of(search, owner, command, flags);
    route.node = route.kind == ROUTE_ASK ? cluster->migrating_to[search->slot] : owner;
    return route;
}

struct route route_find(const struct requester *requester, const struct command *command,
                        const struct slice *argv, size_t argc) {
    struct search search = {.requester = requester, .slot = -1};
    const struct session *session = requester->session;
    uint32_t flags = command->flags;
    if (!(flags & COMMAND_RUNS_QUEUE)) {
        note_command(&search, command, argv, argc);
    } else if (session->transaction) {
        note_queue(&search, session->transaction);
        flags = transaction_flags(session, flags);
    }
    return decide(&search, command, flags);
}

/* --- The fast way --- */

static void note_slot(void *arg, size_t index, uint32_t use) {
    struct search *search = arg;
    int slot = (int)key_slot(search->argv[index]);
    (void)use;
    if (search->slot < 0) search->slot = slot;
    search->crosses |= slot != search->slot;
}

/* Finds the slots of the call's keys, whether they are here or not. */
static struct search slots_of(const struct call *call) {
    struct search search = {.argv = call->argv, .slot = -1};
    struct key_ranges keys;
    if (has_routed_names(call->command) &&
        command_keys(call->command, call->argv, call->argc, &keys))
        key_ranges_each(&keys, note_slot, &search);
    return search;
}

bool route_is_here(const struct call *call, int slot) {
    const struct cluster *cluster = call->engine->cluster;
    if (!cluster->is_ok || cluster->open_slots || call->command->flags & COMMAND_RUNS_QUEUE)
        return false;
    struct search search = slots_of(call);
    if (search.slot < 0) return true;
    return !search.crosses && (slot < 0 || slot == search.slot) &&
           cluster->owners[search.slot] == cluster->myself;
}

int route_first_slot(const struct call *call) {
    return slots_of(call).slot;
}

/* --- What is said --- */

sds route_error(struct session *session, const struct route *route) {
    const struct cluster_node *node = route->node;
    const char *endpoint;
    switch (route->kind) {
    case ROUTE_HERE: break;
    case ROUTE_CROSS_SLOT:
        return sds_new(SLICE("CROSSSLOT Keys in request don't hash to the same slot"));
    case ROUTE_UNSERVED: return sds_new(SLICE("CLUSTERDOWN Hash slot not served"));
    case ROUTE_DOWN: return sds_new(SLICE("CLUSTERDOWN The cluster is down"));
    case ROUTE_DOWN_FOR_WRITES:
        return sds_new(SLICE("CLUSTERDOWN The cluster is down and only accepts read commands"));
    case ROUTE_TRY_AGAIN:
        return sds_new(SLICE("TRYAGAIN Multiple keys request during rehashing of slot"));
    case ROUTE_ASK:
    case ROUTE_MOVED:
        endpoint = endpoint_of(session->requester.engine, node);
        return sds_format("%s %d %s:%d", route->kind == ROUTE_ASK ? "ASK" : "MOVED", route->slot,
                          endpoint ? endpoint : "",
                          endpoint_port(node, tls_encrypts(conn_of_session(session))));
    }
    return sds_new(SLICE(""));
}

static sds error_of_script(const char *text) {
    return sds_format("ERR Script attempted to %s", text);
}

sds route_script_error(const struct route *route, const struct command *command) {
    switch (route->kind) {
    case ROUTE_CROSS_SLOT:
        return sds_format("ERR Command '%s' in script attempted to access keys that don't hash to "
                          "the same slot",
                          command->name);
    case ROUTE_UNSERVED: return error_of_script("access a slot not served");
    case ROUTE_DOWN: return error_of_script("execute a command while the cluster is down");
    case ROUTE_DOWN_FOR_WRITES:
        return error_of_script("execute a write command while the cluster is down and readonly");
    default: return error_of_script("access a non local key in a cluster node");
    }
}
