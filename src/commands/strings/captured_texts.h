/* captured_texts: the texts of several strings as they are when a work (engine/work.h) begins.
 * Those that lie in their entry are copied. */
#ifndef PACKLIST_COMMANDS_STRINGS_CAPTURED_TEXTS_H
#define PACKLIST_COMMANDS_STRINGS_CAPTURED_TEXTS_H

#include "commands/kept_texts.h"
#include "engine/work.h"

struct captured_texts {
    struct slice *texts;       /* of a captured one only the length counts */
    struct capture **captures; /* NULL: the text is a copy, or stays as it is */
    size_t count;
    struct kept_texts copies;
};

/* Makes room for up to `capacity` texts. */
void captured_texts_begin(struct captured_texts *texts, size_t capacity);

/* Adds the text of an entry, which is empty where that is NULL. O(1). */
void captured_texts_add(const struct call *call, struct captured_texts *texts, struct entry *entry,
                        struct slice text);

/* Adds a text that stays as it is until the work has ended. O(1). */
void captured_texts_add_own(struct captured_texts *texts, struct slice text);

/* Frees them. In the loop's thread. O(texts). */
void captured_texts_end(const struct work *work, struct captured_texts *texts);

#endif
