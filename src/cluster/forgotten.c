#include "cluster/forgotten.h"

#include "base/memory/alloc.h"
#include "cluster/cluster.h"

#include <string.h>

struct forgotten_node {
    char id[CLUSTER_ID_LEN];
    int64_t until_ms;
};

/* Removes those whose time is over. */
static void remove_old(struct forgotten *forgotten, int64_t steady_ms) {
    size_t kept = 0;
    for (size_t i = 0; i < forgotten->count; i++)
        if (forgotten->nodes[i].until_ms > steady_ms)
            forgotten->nodes[kept++] = forgotten->nodes[i];
    forgotten->count = kept;
}

void forgotten_add(struct forgotten *forgotten, const char *id, int64_t steady_ms,
                   int64_t seconds) {
    enum { MS_PER_S = 1000 };
    bool is_for_ever = seconds > (INT64_MAX - steady_ms) / MS_PER_S;
    remove_old(forgotten, steady_ms);
    MEM_RESERVE(forgotten->nodes, forgotten->capacity, forgotten->count + 1);
    struct forgotten_node *node = &forgotten->nodes[forgotten->count++];
    memcpy(node->id, id, CLUSTER_ID_LEN);
    node->until_ms = is_for_ever ? INT64_MAX : steady_ms + seconds * MS_PER_S;
}

bool forgotten_has(struct forgotten *forgotten, struct slice id, int64_t steady_ms) {
    remove_old(forgotten, steady_ms);
    if (id.len != CLUSTER_ID_LEN) return false;
    for (size_t i = 0; i < forgotten->count; i++)
        if (memcmp(forgotten->nodes[i].id, id.ptr, CLUSTER_ID_LEN) == 0) return true;
    return false;
}

void forgotten_clear(struct forgotten *forgotten) {
    mem_free(forgotten->nodes);
    *forgotten = (struct forgotten){0};
}
