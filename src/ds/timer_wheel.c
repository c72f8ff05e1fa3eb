/* A node is filed under the highest digit, in base 64, in which its time differs from now: level =
 * that digit's position, slot = the digit.
 *
 *      now       … 0 0 7 12 40
 *      deadline  … 0 0 7 12 55     level 0, slot 55: fires when now's last digit reaches 55
 *      deadline  … 0 0 9 31 02     level 2, slot 9: at … 0 0 9 00 00 it is filed again,
 *                                  under level 1, slot 31
 *
 * Invariants: all digits above a node's level are those of now; its own is greater than now's,
 * except for nodes at level 0 that are due now. */
#include "ds/timer_wheel.h"

#include "base/checked.h"

#include <assert.h>
#include <string.h>

/* The most nodes of a slot for which timer_wheel_next is exact. */
enum { NODES_LOOKED_AT = 16 };

static unsigned digit_of(int64_t time_ms, unsigned level) {
    return (unsigned)(time_ms >> (level * TIMER_WHEEL_SLOT_BITS)) & (TIMER_WHEEL_SLOTS - 1);
}

/* The place of a time that is not before now. */
static unsigned place_of(const struct timer_wheel *wheel, int64_t time_ms) {
    uint64_t differing = (uint64_t)(time_ms ^ wheel->now_ms) | 1;
    unsigned level = (63u - (unsigned)__builtin_clzll(differing)) / TIMER_WHEEL_SLOT_BITS;
    return level * TIMER_WHEEL_SLOTS + digit_of(time_ms, level);
}

/* Appends a node to its slot's ring. */
static void node_file(struct timer_wheel *wheel, struct timer_node *node) {
    unsigned place = place_of(wheel, node->deadline_ms);
    struct timer_node *first = wheel->slots[place];
    node->place = place;
    if (first == NULL) {
        node->next = node->prev = node;
        wheel->slots[place] = node;
        wheel->occupied[place / TIMER_WHEEL_SLOTS] |= (uint64_t)1 << place % TIMER_WHEEL_SLOTS;
        return;
    }
    node->next = first;
    node->prev = first->prev;
    first->prev->next = node;
    first->prev = node;
}

static void node_unfile(struct timer_wheel *wheel, struct timer_node *node) {
    unsigned place = node->place;
    if (node->next == node) {
        wheel->slots[place] = NULL;
        wheel->occupied[place / TIMER_WHEEL_SLOTS] &= ~((uint64_t)1 << place % TIMER_WHEEL_SLOTS);
        return;
    }
    if (wheel->slots[place] == node) wheel->slots[place] = node->next;
    node->prev->next = node->next;
    node->next->prev = node->prev;
}

void timer_wheel_init(struct timer_wheel *wheel, int64_t now_ms) {
    assert(now_ms >= 0);
    memset(wheel, 0, sizeof(*wheel));
    wheel->now_ms = wheel->earliest_ms = now_ms;
}

void timer_wheel_add(struct timer_wheel *wheel, struct timer_node *node, int64_t deadline_ms) {
    assert(node->wheel == NULL);
    node->wheel = wheel;
    node->deadline_ms = deadline_ms > wheel->earliest_ms ? deadline_ms : wheel->earliest_ms;
    node_file(wheel, node);
    wheel->count++;
}

void timer_wheel_remove(struct timer_node *node) {
    if (node->wheel == NULL) return;
    CHECKED_ASSERT(node->wheel->count > 0);
    node_unfile(node->wheel, node);
    node->wheel->count--;
    node->wheel = NULL;
}

size_t timer_wheel_count(const struct timer_wheel *wheel) {
    return wheel->count;
}

/* The first slot that has nodes; the wheel must not be empty. */
static unsigned first_place(const struct timer_wheel *wheel) {
    unsigned level = 0;
    while (wheel->occupied[level] == 0) level++;
    return level * TIMER_WHEEL_SLOTS + (unsigned)__builtin_ctzll(wheel->occupied[level]);
}

/* The first time of a slot: now's higher digits, the slot's digit, and zeros. */
static int64_t place_time(const struct timer_wheel *wheel, unsigned place) {
    unsigned shift = place / TIMER_WHEEL_SLOTS * TIMER_WHEEL_SLOT_BITS;
    unsigned above = shift + TIMER_WHEEL_SLOT_BITS;
    int64_t time_ms = above < 63 ? wheel->now_ms >> above << above : 0;
    return time_ms | (int64_t)(place % TIMER_WHEEL_SLOTS) << shift;
}

/* The earliest deadline of a slot with few nodes, else the time of the slot. */
int64_t timer_wheel_next(const struct timer_wheel *wheel) {
    if (wheel->count == 0) return INT64_MAX;
    unsigned place = first_place(wheel);
    const struct timer_node *first = wheel->slots[place], *node = first;
    int64_t earliest_ms = INT64_MAX;
    for (int i = 0; i < NODES_LOOKED_AT; i++) {
        if (node->deadline_ms < earliest_ms) earliest_ms = node->deadline_ms;
        node = node->next;
        if (node == first) return earliest_ms;
    }
    return place_time(wheel, place);
}

/* Files a slot's nodes again, on finer levels, in their order. All of them are filed before any
 * fires, so that nodes added then come after older ones of the same millisecond. */
static void slot_cascade(struct timer_wheel *wheel, unsigned place) {
    struct timer_node *node;
    while ((node = wheel->slots[place]) != NULL) {
        node_unfile(wheel, node);
        node_file(wheel, node);
    }
}

size_t timer_wheel_advance(struct timer_wheel *wheel, int64_t now_ms,
                           void (*fire)(struct timer_node *node, void *arg), void *arg) {
    size_t fired = 0;
    if (now_ms < wheel->now_ms) return 0;
    assert(now_ms < INT64_MAX);
    CHECKED_ASSERT(wheel->earliest_ms == wheel->now_ms); /* no node is firing */
    wheel->earliest_ms = now_ms + 1;
    while (wheel->count > 0) {
        unsigned place = first_place(wheel);
        int64_t time_ms = place_time(wheel, place);
        if (time_ms > now_ms) break;
        wheel->now_ms = time_ms;
        if (place >= TIMER_WHEEL_SLOTS) {
            slot_cascade(wheel, place);
            continue;
        }
        for (struct timer_node *node; (node = wheel->slots[place]) != NULL; fired++) {
            timer_wheel_remove(node);
            fire(node, arg);
        }
    }
    wheel->now_ms = wheel->earliest_ms = now_ms;
    return fired;
}

static bool check_slot(const struct timer_wheel *wheel, unsigned place, size_t *count) {
    unsigned level = place / TIMER_WHEEL_SLOTS, slot = place % TIMER_WHEEL_SLOTS;
    const struct timer_node *first = wheel->slots[place], *node = first;
    if ((first != NULL) != (wheel->occupied[level] >> slot & 1)) return false;
    if (first == NULL) return true;
    if (slot < digit_of(wheel->now_ms, level) + (level > 0)) return false;
    int64_t start_ms = place_time(wheel, place);
    unsigned shift = level * TIMER_WHEEL_SLOT_BITS;
    do {
        if (node->wheel != wheel || node->place != place || node->next->prev != node) return false;
        if (node->deadline_ms < wheel->now_ms) return false;
        if (node->deadline_ms >> shift != start_ms >> shift) return false;
        node = node->next;
        ++*count;
    } while (node != first);
    return true;
}

bool timer_wheel_check(const struct timer_wheel *wheel) {
    size_t count = 0;
    for (unsigned place = 0; place < TIMER_WHEEL_LEVELS * TIMER_WHEEL_SLOTS; place++) {
        if (!check_slot(wheel, place, &count)) return false;
    }
    return count == wheel->count && wheel->earliest_ms >= wheel->now_ms;
}
