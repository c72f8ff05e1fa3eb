/* ring: items from one thread, the producer, to another one, the consumer, in order.
 *
 *      taken            read                published           put
 *      | being used     | ready             | not shown yet     | free … |
 *      ^consumer's      ^consumer's         ^producer's         ^producer's
 *
 * The indexes only grow. Each side keeps what it alone uses, and a copy of the other's index, in a
 * line of its own, and looks at the other's index only when the copy says that the ring is full, or
 * empty. What is put into a full ring waits on the producer's side: neither side ever waits.
 *
 * The consumer sees an item, and all that the producer had written before, once it is published;
 * the producer reuses a slot, and what its item referred to, once the consumer has given it back.
 * Nobody is woken: see bell.h. O(1), amortized. */
#ifndef PACKLIST_BASE_THREADS_RING_H
#define PACKLIST_BASE_THREADS_RING_H

#include "base/threads/owner.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What it means is up to the two sides. */
struct ring_item {
    void *about;
    void *bytes;
    uint64_t number;
    uint32_t kind;
    uint32_t count;
};

/* Processors load lines of 64 bytes in pairs. */
enum { RING_LINE = 128 };

struct ring {
    /* Not changed after ring_init. */
    struct ring_item *slots;
    uint64_t mask;

    /* The producer's. `late` are items that found the ring full: [late_first, late_end). */
    _Alignas(RING_LINE) uint64_t put;
    struct owner producer;
    uint64_t taken_seen;
    uint64_t published_seen; /* what `published` is */
    struct ring_item *late;
    size_t late_first;
    size_t late_end;
    size_t late_capacity;

    _Alignas(RING_LINE) uint64_t published; /* atomic; set by the producer */
    _Alignas(RING_LINE) uint64_t taken;     /* atomic; set by the consumer */
    uint32_t is_full; /* atomic: the producer has late items and is to be told of free slots */

    /* The consumer's. */
    _Alignas(RING_LINE) uint64_t read;
    uint64_t ready_seen;
    struct owner consumer;
};

/* `slots` is a power of two. The struct is aligned to RING_LINE. */
void ring_init(struct ring *ring, size_t slots);
void ring_free(struct ring *ring);

/* --- The producer's functions --- */

void ring_put(struct ring *ring, const struct ring_item *item);

/* Shows the consumer what was put, as far as there are slots. Returns whether it is anything new:
 * then the consumer may have to be woken. To be called again later while ring_has_late. */
bool ring_publish(struct ring *ring);
bool ring_has_late(const struct ring *ring);

/* --- The consumer's functions --- */

/* Copies the next item. Returns false when there is none. */
bool ring_get(struct ring *ring, struct ring_item *item);

/* Returns the item that ring_get will return after `ahead` others, if it is known without a look at
 * the producer's index; otherwise NULL. */
const struct ring_item *ring_ahead(const struct ring *ring, size_t ahead);

/* Returns whether ring_get would return an item. */
bool ring_is_ready(struct ring *ring);

/* Gives back the slots of all items that were got. Returns whether the producer has late items, so
 * that it must be woken to publish them. */
bool ring_give_back(struct ring *ring);

#endif
