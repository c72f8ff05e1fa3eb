/* cluster_slots: CLUSTER ADDSLOTS ADDSLOTSRANGE DELSLOTS DELSLOTSRANGE FLUSHSLOTS SETSLOT: which
 * node serves a slot. */
#include "admin/admin_commands.h"
#include "admin/cluster_common.h"
#include "resp/reply.h"

/* --- ADDSLOTS DELSLOTS --- */

/* The slots that a command names. */
struct slot_set {
    bool has[KEY_SLOTS];
    bool adds; /* else they are given up */
};

/* Puts slots first to last into the set, unless one of them is there already, or is what it should
 * become. */
static bool note_slots(struct call *call, struct slot_set *set, unsigned first, unsigned last) {
    const struct cluster *cluster = call->engine->cluster;
    for (unsigned slot = first; slot <= last; slot++) {
        bool is_served = cluster->owners[slot];
        if (is_served == set->adds)
            return reply_error_format(call->reply, "ERR Slot %u is already %s", slot,
                                      set->adds ? "busy" : "unassigned");
        if (set->has[slot])
            return reply_error_format(call->reply, "ERR Slot %u specified multiple times", slot);
        set->has[slot] = true;
    }
    return true;
}

/* slot … */
static bool parse_slots(struct call *call, struct slot_set *set) {
    unsigned slot;
    for (size_t i = 2; i < call->argc; i++)
        if (!cluster_slot_argument(call, i, &slot)) return false;
    for (size_t i = 2; i < call->argc; i++)
        if (!cluster_slot_argument(call, i, &slot) || !note_slots(call, set, slot, slot))
            return false;
    return true;
}

/* first last … */
static bool parse_ranges(struct call *call, struct slot_set *set) {
    unsigned first, last;
    if (call->argc % 2) return call_wrong_arity(call);
    for (size_t i = 2; i < call->argc; i += 2) {
        if (!cluster_slot_argument(call, i, &first) || !cluster_slot_argument(call, i + 1, &last))
            return false;
        if (first > last)
            return reply_error_format(call->reply,
                                      "ERR start slot number %u is greater than end slot number %u",
                                      first, last);
        if (!note_slots(call, set, first, last)) return false;
    }
    return true;
}

static void change_slots(struct call *call, bool adds,
                         bool (*parse)(struct call *call, struct slot_set *set)) {
    struct cluster *cluster = cluster_of(call);
    struct slot_set set = {.adds = adds};
    if (!cluster || !parse(call, &set)) return;
    for (unsigned slot = 0; slot < KEY_SLOTS; slot++) {
        if (!set.has[slot]) continue;
        cluster_set_owner(cluster, slot, adds ? cluster->myself : NULL);
        cluster_set_importing(cluster, slot, NULL);
    }
    cluster_confirm_slots(call);
}

COMMAND_FORM(cluster_addslots_command, change_slots, true, parse_slots)
COMMAND_FORM(cluster_addslotsrange_command, change_slots, true, parse_ranges)
COMMAND_FORM(cluster_delslots_command, change_slots, false, parse_slots)
COMMAND_FORM(cluster_delslotsrange_command, change_slots, false, parse_ranges)

void cluster_flushslots_command(struct call *call) {
    struct cluster *cluster = cluster_of(call);
    if (!cluster) return;
    if (!cluster_has_no_keys(call->engine)) {
        reply_error(call->reply, "ERR DB must be empty to perform CLUSTER FLUSHSLOTS.");
        return;
    }
    for (unsigned slot = 0; slot < KEY_SLOTS; slot++)
        if (cluster->owners[slot] == cluster->myself) cluster_set_owner(cluster, slot, NULL);
    cluster_confirm_slots(call);
}

/* --- SETSLOT slot MIGRATING | IMPORTING | NODE id, or STABLE, [TIMEOUT ms] --- */

enum slot_action { SLOT_MIGRATES, SLOT_IS_IMPORTED, SLOT_STABLE, SLOT_OF_NODE, SLOT_ACTIONS };

struct slot_change {
    unsigned slot;
    enum slot_action action;
    struct cluster_node *node;
};

/* Finds which action the arguments are, by its word and their number. */
static bool parse_action(struct call *call, struct slot_change *change) {
    static const char *const words[SLOT_ACTIONS] = {"migrating", "importing", "stable", "node"};
    for (int i = 0; i < SLOT_ACTIONS; i++) {
        size_t argc = i == SLOT_STABLE ? 4 : 5;
        bool has_timeout = call->argc == argc + 2 && slice_is(call->argv[argc], "timeout");
        if (!slice_is(call->argv[3], words[i]) || (call->argc != argc && !has_timeout)) continue;
        change->action = (enum slot_action)i;
        return true;
    }
    return reply_error(
        call->reply, "ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP");
}

/* Returns why the slot may not be opened for the node; NULL: it may. */
static const char *refusal_to_open(const struct cluster *cluster, const struct cluster_node *node) {
    if (node == cluster->myself) return "ERR Target node is myself";
    return node->flags & CLUSTER_REPLICA ? "ERR Target node is not a master" : NULL;
}

static bool check_opening(struct call *call, struct slot_change *change) {
    const struct cluster *cluster = call->engine->cluster;
    struct slice id = call->argv[4];
    bool is_mine = cluster->owners[change->slot] == cluster->myself;
    if (is_mine && change->action == SLOT_IS_IMPORTED)
        return reply_error_format(call->reply, "ERR I'm already the owner of hash slot %u",
                                  change->slot);
    if (!is_mine && change->action == SLOT_MIGRATES)
        return reply_error_format(call->reply, "ERR I'm not the owner of hash slot %u",
                                  change->slot);
    change->node = cluster_find(cluster, id);
    if (!change->node)
        return reply_error_format(call->reply, "ERR I don't know about node %.*s",
                                  slice_precision(id), id.ptr);
    const char *refusal = refusal_to_open(cluster, change->node);
    return !refusal || reply_error(call->reply, refusal);
}

static bool check_owner(struct call *call, struct slot_change *change) {
    const struct cluster *cluster = call->engine->cluster;
    change->node = cluster_node_argument(call, 4);
    if (!change->node) return false;
    if (change->node->flags & CLUSTER_REPLICA)
        return reply_error(call->reply, "ERR Target node is not a master");
    bool is_lost =
        cluster->owners[change->slot] == cluster->myself && change->node != cluster->myself;
    if (is_lost && cluster_count_keys(call->engine, change->slot) > 0)
        return reply_error_format(call->reply,
                                  "ERR Can't assign hashslot %u to a different node while I still "
                                  "hold keys for this hash slot.",
                                  change->slot);
    return true;
}

static bool check_change(struct call *call, struct slot_change *change) {
    int64_t deadline_ms;
    if (call->engine->cluster->myself->flags & CLUSTER_REPLICA)
        return reply_error(call->reply, "ERR Please use SETSLOT only with masters.");
    if (!cluster_slot_argument(call, 2, &change->slot) || !parse_action(call, change)) return false;
    if (change->action == SLOT_OF_NODE && !check_owner(call, change)) return false;
    bool opens = change->action == SLOT_MIGRATES || change->action == SLOT_IS_IMPORTED;
    if (opens && !check_opening(call, change)) return false;
    return call->argc < 6 || call_timeout_ms(call, call->argc - 1, &deadline_ms);
}

/* A slot that this node has imported now is its own, under an epoch greater than that of the node
 * that gives it up. */
static void give_slot(struct engine *engine, const struct slot_change *change) {
    struct cluster *cluster = engine->cluster;
    if (cluster_count_keys(engine, change->slot) == 0)
        cluster_set_migrating(cluster, change->slot, NULL);
    cluster_set_owner(cluster, change->slot, change->node);
    if (change->node != cluster->myself || !cluster->importing_from[change->slot]) return;
    cluster_set_importing(cluster, change->slot, NULL);
    cluster_take_epoch(cluster);
}

void cluster_setslot_command(struct call *call) {
    struct cluster *cluster = cluster_of(call);
    struct slot_change change = {0};
    if (!cluster || !check_change(call, &change)) return;
    switch (change.action) {
    case SLOT_MIGRATES: cluster_set_migrating(cluster, change.slot, change.node); break;
    case SLOT_IS_IMPORTED: cluster_set_importing(cluster, change.slot, change.node); break;
    case SLOT_STABLE:
        cluster_set_migrating(cluster, change.slot, NULL);
        cluster_set_importing(cluster, change.slot, NULL);
        break;
    default: give_slot(call->engine, &change);
    }
    cluster_confirm_slots(call);
}
