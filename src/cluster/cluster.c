#include "cluster/cluster.h"

#include "base/hash/random.h"
#include "base/memory/alloc.h"

#include <assert.h>
#include <string.h>

struct cluster *cluster_new(void) {
    return mem_alloc_zeroed(sizeof(struct cluster));
}

static void free_node(struct cluster_node *node) {
    sds_free(node->ip);
    sds_free(node->hostname);
    sds_free(node->human_name);
    mem_free(node);
}

void cluster_free(struct cluster *cluster) {
    if (!cluster) return;
    for (size_t i = 0; i < cluster->count; i++) free_node(cluster->nodes[i]);
    mem_free(cluster->nodes);
    sds_free(cluster->path);
    forgotten_clear(&cluster->forgotten);
    mem_free(cluster);
}

/* --- Nodes --- */

bool cluster_is_id(struct slice text) {
    if (text.len != CLUSTER_ID_LEN) return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
    }
    return true;
}

size_t cluster_place_of(const struct cluster *cluster, const char *id) {
    size_t low = 0, high = cluster->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (memcmp(cluster->nodes[middle]->id, id, CLUSTER_ID_LEN) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void put_in(struct cluster *cluster, struct cluster_node *node) {
    size_t at = cluster_place_of(cluster, node->id);
    if (cluster->count == cluster->capacity) {
        cluster->capacity = cluster->capacity ? 2 * cluster->capacity : 4;
        cluster->nodes =
            mem_realloc(cluster->nodes, cluster->capacity * sizeof(struct cluster_node *));
    }
    memmove(&cluster->nodes[at + 1], &cluster->nodes[at],
            (cluster->count - at) * sizeof(struct cluster_node *));
    cluster->nodes[at] = node;
    cluster->count++;
}

static void take_out(struct cluster *cluster, const struct cluster_node *node) {
    size_t at = cluster_place_of(cluster, node->id);
    assert(at < cluster->count && cluster->nodes[at] == node);
    cluster->count--;
    memmove(&cluster->nodes[at], &cluster->nodes[at + 1],
            (cluster->count - at) * sizeof(struct cluster_node *));
}

struct cluster_node *cluster_add(struct cluster *cluster, const char *id) {
    struct cluster_node *node = mem_alloc_zeroed(sizeof(*node));
    memcpy(node->id, id, CLUSTER_ID_LEN);
    random_hex(node->shard_id, CLUSTER_ID_LEN);
    node->flags = CLUSTER_PRIMARY;
    node->ip = sds_new(SLICE(""));
    node->hostname = sds_new(SLICE(""));
    node->human_name = sds_new(SLICE(""));
    put_in(cluster, node);
    return node;
}

void cluster_add_myself(struct cluster *cluster) {
    char id[CLUSTER_ID_LEN + 1];
    random_hex(id, CLUSTER_ID_LEN);
    cluster->myself = cluster_add(cluster, id);
    cluster->myself->flags |= CLUSTER_MYSELF;
}

struct cluster_node *cluster_find(const struct cluster *cluster, struct slice id) {
    if (id.len != CLUSTER_ID_LEN) return NULL;
    size_t at = cluster_place_of(cluster, id.ptr);
    if (at == cluster->count) return NULL;
    struct cluster_node *node = cluster->nodes[at];
    return memcmp(node->id, id.ptr, CLUSTER_ID_LEN) == 0 ? node : NULL;
}

void cluster_remove(struct cluster *cluster, struct cluster_node *node) {
    assert(node != cluster->myself);
    for (unsigned slot = 0; slot < KEY_SLOTS; slot++) {
        if (cluster->owners[slot] == node) cluster_set_owner(cluster, slot, NULL);
        if (cluster->migrating_to[slot] == node) cluster_set_migrating(cluster, slot, NULL);
        if (cluster->importing_from[slot] == node) cluster_set_importing(cluster, slot, NULL);
    }
    for (size_t i = 0; i < cluster->count; i++)
        if (cluster->nodes[i]->primary == node) cluster->nodes[i]->primary = NULL;
    take_out(cluster, node);
    free_node(node);
}

void cluster_reset(struct cluster *cluster, bool is_hard) {
    struct cluster_node *myself = cluster->myself;
    for (unsigned slot = 0; slot < KEY_SLOTS; slot++) {
        cluster_set_owner(cluster, slot, NULL);
        cluster_set_migrating(cluster, slot, NULL);
        cluster_set_importing(cluster, slot, NULL);
    }
    for (size_t i = 0; i < cluster->count; i++)
        if (cluster->nodes[i] != myself) free_node(cluster->nodes[i]);
    cluster->nodes[0] = myself;
    cluster->count = 1;
    forgotten_clear(&cluster->forgotten);
    if (is_hard || myself->flags & CLUSTER_REPLICA) random_hex(myself->shard_id, CLUSTER_ID_LEN);
    myself->primary = NULL;
    myself->flags = (myself->flags & ~(unsigned)CLUSTER_REPLICA) | CLUSTER_PRIMARY;
    if (!is_hard) return;
    random_hex(myself->id, CLUSTER_ID_LEN);
    myself->config_epoch = cluster->current_epoch = cluster->last_vote_epoch = 0;
}

void cluster_rename(struct cluster *cluster, struct cluster_node *node, const char *id) {
    take_out(cluster, node);
    memcpy(node->id, id, CLUSTER_ID_LEN);
    put_in(cluster, node);
}

/* --- Slots --- */

void cluster_set_owner(struct cluster *cluster, unsigned slot, struct cluster_node *owner) {
    struct cluster_node *before = cluster->owners[slot];
    if (before) before->slots--, cluster->owned--;
    if (owner) owner->slots++, cluster->owned++;
    cluster->owners[slot] = owner;
}

static void set_open(struct cluster *cluster, struct cluster_node **place,
                     struct cluster_node *node) {
    if (*place) cluster->open_slots--;
    if (node) cluster->open_slots++;
    *place = node;
}

void cluster_set_migrating(struct cluster *cluster, unsigned slot, struct cluster_node *to) {
    set_open(cluster, &cluster->migrating_to[slot], to);
}

void cluster_set_importing(struct cluster *cluster, unsigned slot, struct cluster_node *from) {
    set_open(cluster, &cluster->importing_from[slot], from);
}

unsigned cluster_range_end(const struct cluster *cluster, unsigned slot) {
    const struct cluster_node *owner = cluster->owners[slot];
    while (slot < KEY_SLOTS && cluster->owners[slot] == owner) slot++;
    return slot;
}

/* --- Epochs, state --- */

uint64_t cluster_greatest_epoch(const struct cluster *cluster) {
    uint64_t greatest = cluster->current_epoch;
    for (size_t i = 0; i < cluster->count; i++)
        if (cluster->nodes[i]->config_epoch > greatest) greatest = cluster->nodes[i]->config_epoch;
    return greatest;
}

bool cluster_take_epoch(struct cluster *cluster) {
    uint64_t greatest = cluster_greatest_epoch(cluster);
    struct cluster_node *myself = cluster->myself;
    if (myself->config_epoch == greatest && greatest > 0) return false;
    cluster->current_epoch = myself->config_epoch = greatest + 1;
    return true;
}

static bool serves_slots(const struct cluster_node *node) {
    return node->flags & CLUSTER_PRIMARY && node->slots > 0;
}

unsigned cluster_size(const struct cluster *cluster) {
    unsigned size = 0;
    for (size_t i = 0; i < cluster->count; i++) size += serves_slots(cluster->nodes[i]);
    return size;
}

static bool slots_are_served(const struct cluster *cluster) {
    for (unsigned slot = 0; slot < KEY_SLOTS; slot++)
        if (!cluster->owners[slot] || cluster->owners[slot]->flags & CLUSTER_FAILED) return false;
    return true;
}

static bool most_are_there(const struct cluster *cluster) {
    unsigned size = 0, there = 0;
    for (size_t i = 0; i < cluster->count; i++) {
        const struct cluster_node *node = cluster->nodes[i];
        if (!serves_slots(node)) continue;
        size++;
        there += !(node->flags & (CLUSTER_MAY_FAIL | CLUSTER_FAILED));
    }
    return there >= size / 2 + 1;
}

void cluster_update_state(struct cluster *cluster, bool needs_all_slots) {
    bool has_slots = !needs_all_slots || slots_are_served(cluster);
    cluster->is_ok = has_slots && most_are_there(cluster);
}

/* --- Checks --- */

static bool check_node(const struct cluster *cluster, const struct cluster_node *node) {
    const unsigned role = CLUSTER_PRIMARY | CLUSTER_REPLICA;
    unsigned slots = 0;
    for (unsigned slot = 0; slot < KEY_SLOTS; slot++) slots += cluster->owners[slot] == node;
    return slots == node->slots && (node->flags & role) != role &&
           cluster_is_id(slice_make(node->id, CLUSTER_ID_LEN)) &&
           (node == cluster->myself) == !!(node->flags & CLUSTER_MYSELF) &&
           (!node->primary || (node->flags & CLUSTER_REPLICA && node->primary != node &&
                               cluster_find(cluster, slice_make(node->primary->id,
                                                                CLUSTER_ID_LEN)) == node->primary));
}

bool cluster_check(const struct cluster *cluster) {
    unsigned owned = 0, open = 0;
    for (unsigned slot = 0; slot < KEY_SLOTS; slot++) {
        owned += !!cluster->owners[slot];
        open += !!cluster->migrating_to[slot] + !!cluster->importing_from[slot];
    }
    bool good = owned == cluster->owned && open == cluster->open_slots;
    for (size_t i = 0; i < cluster->count && good; i++) {
        const struct cluster_node *node = cluster->nodes[i];
        good = check_node(cluster, node) &&
               (i == 0 || memcmp(cluster->nodes[i - 1]->id, node->id, CLUSTER_ID_LEN) < 0);
    }
    return good;
}
