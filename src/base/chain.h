/* chain: a doubly linked list, or a queue, whose links are members of its items.
 *
 *      owner   first ──→ item ⇄ item ⇄ item ←── last
 *
 * An item can be in several chains at once, with two links for each. `first` and `last` are the
 * owner's pointers themselves, both NULL while a chain is empty, `prev` and `next` the names of the
 * members. Arguments are evaluated more than once: `item` is a variable of its own, not the
 * owner's pointer. O(1). */
#ifndef PACKLIST_BASE_CHAIN_H
#define PACKLIST_BASE_CHAIN_H

#include <stddef.h>

/* Appends an item that is not in the chain. Its links need not be set. */
#define CHAIN_APPEND(first, last, item, prev, next)                                                \
    do {                                                                                           \
        (item)->prev = (last);                                                                     \
        (item)->next = NULL;                                                                       \
        *((last) ? &(last)->next : &(first)) = (item);                                             \
        (last) = (item);                                                                           \
    } while (0)

/* The same for a queue, which has no links backwards. While it is empty `last` means nothing. */
#define CHAIN_QUEUE(first, last, item, next)                                                       \
    do {                                                                                           \
        (item)->next = NULL;                                                                       \
        *((first) ? &(last)->next : &(first)) = (item);                                            \
        (last) = (item);                                                                           \
    } while (0)

/* Removes the item from the chain. Its links keep their values. */
#define CHAIN_REMOVE(first, last, item, prev, next)                                                \
    do {                                                                                           \
        *((item)->prev ? &(item)->prev->next : &(first)) = (item)->next;                           \
        *((item)->next ? &(item)->next->prev : &(last)) = (item)->prev;                            \
    } while (0)

#endif
