/* selection: the members of several sets that are in a result, for a reply of any size. The
 * sets are frozen, and of each there is a bit for each of its members, in the order in which it is
 * read: a result takes an eighth of a byte for each member that was looked at. */
#ifndef PACKLIST_COMMANDS_SETS_SELECTION_H
#define PACKLIST_COMMANDS_SETS_SELECTION_H

#include "types/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call;
struct set_operands; /* commands/sets/set_operations.h */
struct work;

struct selected {
    struct frozen set; /* owned; no entry: an empty set */
    uint64_t *bits;    /* owned; NULL: nothing was selected */
    uint64_t looked;   /* members of the set for which there are bits */
    uint64_t members;  /* of them, those in the result */
};

struct set_selection {
    struct selected *sets; /* owned; each once */
    size_t count;
};

/* Makes a selection of the operands, in their order, and freezes them: the operands, too, are the
 * frozen ones then. For a work that is about to be made. O(sets), and what work_freeze takes. */
void selection_freeze(const struct call *call, struct set_operands *operands,
                      struct set_selection *selection);

/* The result is a set of its own: gives that, all of it, to the selection in place of what it had,
 * and sets *set to NULL. In the loop's thread. */
void selection_take_set(const struct call *call, const struct work *work,
                        struct set_selection *selection, struct entry **set);

/* Makes room for the bits of the set, before its first member is looked at. In any thread.
 * O(members / 64). */
void selection_begin(struct selected *selected);

/* All members of the set are in the result. In any thread. O(members / 64). */
void selection_take_all(struct selected *selected);

/* The next member of the set is in the result, or is not. In any thread. O(1). */
static inline void selection_add(struct selected *selected, bool is_in) {
    selected->bits[selected->looked / 64] |= (uint64_t)is_in << selected->looked % 64;
    selected->looked++;
    selected->members += is_in;
}

/* Replies the members that were selected, as a set, and leaves the selection empty: what the reply
 * needs goes over to it. O(sets). */
void selection_reply(struct call *call, struct work *work, struct set_selection *selection);

/* Frees what a selection has. In the loop's thread. O(sets). */
void selection_free(const struct work *work, struct set_selection *selection);

#endif
