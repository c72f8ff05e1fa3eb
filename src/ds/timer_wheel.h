/* timer_wheel: many timeouts, most of them cancelled: a hierarchical timing wheel of 1 ms ticks.
 *
 * Nodes live in their owners; the wheel allocates nothing. It knows no clock: times are
 * milliseconds of any clock that does not go back, from 0 on; a deadline may be anything up to
 * INT64_MAX. Adding, removing and firing are O(1), and time in which nothing is due costs
 * nothing. */
#ifndef PACKLIST_DS_TIMER_WHEEL_H
#define PACKLIST_DS_TIMER_WHEEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TIMER_WHEEL_SLOT_BITS = 6,
    TIMER_WHEEL_SLOTS = 1 << TIMER_WHEEL_SLOT_BITS,
    TIMER_WHEEL_LEVELS = 11, /* 11 × 6 bits cover every int64 */
};

struct timer_wheel;

/* A member of the struct that times out. An all-zero node is in no wheel. The owner may read
 * deadline_ms. */
struct timer_node {
    struct timer_node *next, *prev; /* a ring through the slot's nodes */
    struct timer_wheel *wheel;      /* NULL: in no wheel */
    int64_t deadline_ms;            /* as given, or the next time it can fire if that is later */
    unsigned place;                 /* level * SLOTS + slot */
};

/* The fields are private to this module. */
struct timer_wheel {
    int64_t now_ms;
    int64_t earliest_ms; /* no node is put before this: later than now_ms only while nodes fire */
    size_t count;
    uint64_t occupied[TIMER_WHEEL_LEVELS]; /* a bit for each slot that has nodes */
    struct timer_node *slots[TIMER_WHEEL_LEVELS * TIMER_WHEEL_SLOTS]; /* the slot's first node */
};

/* An empty wheel whose time is `now_ms`. It needs no freeing. */
void timer_wheel_init(struct timer_wheel *wheel, int64_t now_ms);

/* Arms a node that is in no wheel. A deadline that is not in the future is due at the next advance.
 * The wheel points to the node until it fires or is removed: it must not move. */
void timer_wheel_add(struct timer_wheel *wheel, struct timer_node *node, int64_t deadline_ms);

/* Disarms; does nothing to a node that is in no wheel. O(1). */
void timer_wheel_remove(struct timer_node *node);

/* Nodes in the wheel. */
size_t timer_wheel_count(const struct timer_wheel *wheel);

/* Moves the time to `now_ms` (less than INT64_MAX; going back does nothing) and fires every node
 * that is due, in the order of their deadlines; within a millisecond in the order in which they
 * were added. A node is disarmed before its call of `fire`, which may add and remove any node and
 * free its own. Nodes added there fire at a later advance, even if they are due. Must not be called
 * from `fire`. Returns the number of nodes that fired. */
size_t timer_wheel_advance(struct timer_wheel *wheel, int64_t now_ms,
                           void (*fire)(struct timer_node *node, void *arg), void *arg);

/* The time at which to wake up: never later than the earliest deadline, and equal to it unless more
 * than 16 nodes are filed with it; then at most ten wake-ups find nothing due. INT64_MAX when the
 * wheel is empty. O(1). */
int64_t timer_wheel_next(const struct timer_wheel *wheel);

/* Checks the invariant. O(nodes + slots). */
bool timer_wheel_check(const struct timer_wheel *wheel);

#endif
