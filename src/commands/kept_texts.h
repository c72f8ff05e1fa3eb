/* kept_texts: copies of texts that a command needs until it ends, for iterators do not keep them
 * valid. They are copied one after another into chunks, and freed together. */
#ifndef PACKLIST_COMMANDS_KEPT_TEXTS_H
#define PACKLIST_COMMANDS_KEPT_TEXTS_H

#include "base/slice.h"

/* Empty when zeroed. */
struct kept_texts {
    struct kept_chunk *chunks;
};

/* Copies the text. The copy is valid until kept_texts_free. O(bytes). */
struct slice kept_text(struct kept_texts *texts, struct slice text);

/* Frees all copies. O(bytes / 16 KB). */
void kept_texts_free(struct kept_texts *texts);

#endif
