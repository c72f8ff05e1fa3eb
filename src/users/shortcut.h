/* shortcut: most calls of most users, allowed without a look at their selectors.
 *
 * It knows of each command whether the first selector allows it, whatever its arguments, or with an
 * only key that begins like one of the selector's patterns ("app:*"). It never denies: what it does
 * not allow is asked of all selectors (users/access.h). */
#ifndef PACKLIST_USERS_SHORTCUT_H
#define PACKLIST_USERS_SHORTCUT_H

#include "users/selector.h"

#include <string.h>

/* How calls of a command are allowed. */
enum shortcut_answer {
    SHORTCUT_UNKNOWN,
    SHORTCUT_ALL,     /* all are */
    SHORTCUT_BY_NAME, /* those are whose argv[1], their only key, has the beginning */
};

/* All zero knows nothing. The first eight bytes of names are compared as one number. */
struct shortcut {
    uint8_t answers[COMMANDS_MAX]; /* enum shortcut_answer, by command_index */
    struct slice beginning;        /* of a pattern of the selector */
    uint64_t number;               /* its bytes, and zeros */
    uint64_t mask;                 /* of the bytes that count */
    size_t least;                  /* a name with so many bytes needs no other comparison */
};

/* Makes the shortcut to the selector, to which it refers until the selector changes or ends.
 * O(commands + patterns). */
void shortcut_make(struct shortcut *shortcut, const struct selector *selector);

static inline bool shortcut_allows_name(const struct shortcut *shortcut, struct slice name) {
    uint64_t first;
    if (name.len < shortcut->least) return slice_begins(name, shortcut->beginning);
    memcpy(&first, name.ptr, sizeof(first));
    return (first & shortcut->mask) == shortcut->number;
}

/* Returns true if the selector allows a call with arguments that its command accepts; false if the
 * selectors must be asked. A few nanoseconds. */
static inline bool shortcut_allows(const struct shortcut *shortcut, const struct command *command,
                                   const struct slice *argv) {
    uint8_t answer = shortcut->answers[command_index(command)];
    if (answer == SHORTCUT_BY_NAME) return shortcut_allows_name(shortcut, argv[1]);
    return answer == SHORTCUT_ALL;
}

#endif
