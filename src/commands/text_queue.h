/* text_queue: texts that a command finds and keeps until they are replied, in their order. They are
 * copied one after another into chunks. */
#ifndef PACKLIST_COMMANDS_TEXT_QUEUE_H
#define PACKLIST_COMMANDS_TEXT_QUEUE_H

#include "base/slice.h"

#include <stddef.h>
#include <stdint.h>

/* Empty when zeroed. */
struct text_queue {
    struct text_chunk *first; /* is being read */
    struct text_chunk *last;  /* is being filled */
    uint64_t count;           /* texts that were added and not read */
    size_t bytes;             /* of all that were added */
    size_t allocated;
};

/* Copies the text to the end. O(bytes). */
void text_queue_add(struct text_queue *queue, struct slice text);

/* Reads up to `most` (> 0) texts, and returns how many: 0 only if there are no more. They are valid
 * until the next call, which frees the chunks that were read before. O(texts). */
size_t text_queue_read(struct text_queue *queue, struct slice *texts, size_t most);

/* Frees all texts. O(bytes / 64 KB). */
void text_queue_free(struct text_queue *queue);

#endif
