#include "base/threads/ring.h"

#include "base/checked.h"
#include "base/memory/alloc.h"

#include <string.h>

enum { LATE_FIRST = 64 };

void ring_init(struct ring *ring, size_t slots) {
    CHECKED_ASSERT(slots > 0 && (slots & (slots - 1)) == 0);
    *ring = (struct ring){.slots = mem_alloc(slots * sizeof(struct ring_item)), .mask = slots - 1};
}

void ring_free(struct ring *ring) {
    mem_free(ring->slots);
    mem_free(ring->late);
}

/* --- The producer --- */

/* Returns whether a slot is free. */
static inline bool has_slot(struct ring *ring) {
    if (ring->put - ring->taken_seen <= ring->mask) return true;
    ring->taken_seen = __atomic_load_n(&ring->taken, __ATOMIC_ACQUIRE);
    return ring->put - ring->taken_seen <= ring->mask;
}

static __attribute__((noinline)) void put_late(struct ring *ring, const struct ring_item *item) {
    if (ring->late_end == ring->late_capacity) {
        size_t count = ring->late_end - ring->late_first;
        if (ring->late_first > count) {
            memmove(ring->late, ring->late + ring->late_first, count * sizeof(*item));
            ring->late_first = 0;
            ring->late_end = count;
        } else {
            ring->late_capacity = ring->late_capacity ? ring->late_capacity * 2 : LATE_FIRST;
            ring->late = mem_realloc(ring->late, ring->late_capacity * sizeof(*item));
        }
    }
    ring->late[ring->late_end++] = *item;
}

void ring_put(struct ring *ring, const struct ring_item *item) {
    OWNER_ASSERT(ring->producer);
    if (__builtin_expect(ring->late_end > 0 || !has_slot(ring), 0))
        put_late(ring, item);
    else
        ring->slots[ring->put++ & ring->mask] = *item;
}

static void move_late(struct ring *ring) {
    while (ring->late_first < ring->late_end && has_slot(ring))
        ring->slots[ring->put++ & ring->mask] = ring->late[ring->late_first++];
    if (ring->late_first < ring->late_end) return;
    mem_free(ring->late);
    ring->late = NULL;
    ring->late_first = ring->late_end = ring->late_capacity = 0;
}

/* Either this exchange comes first, so that the consumer's next one sees that the ring is full; or
 * the consumer's, and then the slots that it gave back before are seen here. */
static __attribute__((noinline)) void publish_late(struct ring *ring) {
    move_late(ring);
    if (ring->late_end == 0) return;
    __atomic_exchange_n(&ring->is_full, 1, __ATOMIC_SEQ_CST);
    move_late(ring);
}

bool ring_publish(struct ring *ring) {
    OWNER_ASSERT(ring->producer);
    if (__builtin_expect(ring->late_end > 0, 0)) publish_late(ring);
    if (ring->put == ring->published_seen) return false;
    ring->published_seen = ring->put;
    __atomic_store_n(&ring->published, ring->put, __ATOMIC_RELEASE);
    return true;
}

bool ring_has_late(const struct ring *ring) {
    OWNER_ASSERT(ring->producer);
    return ring->late_end > 0;
}

/* --- The consumer --- */

bool ring_is_ready(struct ring *ring) {
    OWNER_ASSERT(ring->consumer);
    if (ring->read != ring->ready_seen) return true;
    ring->ready_seen = __atomic_load_n(&ring->published, __ATOMIC_ACQUIRE);
    return ring->read != ring->ready_seen;
}

bool ring_get(struct ring *ring, struct ring_item *item) {
    if (!ring_is_ready(ring)) return false;
    *item = ring->slots[ring->read++ & ring->mask];
    return true;
}

const struct ring_item *ring_ahead(const struct ring *ring, size_t ahead) {
    OWNER_ASSERT(ring->consumer);
    if (ring->ready_seen - ring->read <= ahead) return NULL;
    return &ring->slots[(ring->read + ahead) & ring->mask];
}

bool ring_give_back(struct ring *ring) {
    OWNER_ASSERT(ring->consumer);
    if (__atomic_load_n(&ring->taken, __ATOMIC_RELAXED) == ring->read) return false;
    __atomic_store_n(&ring->taken, ring->read, __ATOMIC_RELEASE);
    return __atomic_exchange_n(&ring->is_full, 0, __ATOMIC_SEQ_CST) != 0;
}
