/* text_batch: texts that are read from a value together, to be replied or looked up together. Lives
 * on the caller's stack. A text is a view of the value or of the batch, until the value changes or
 * the batch is filled again. */
#ifndef PACKLIST_BASE_TEXT_TEXT_BATCH_H
#define PACKLIST_BASE_TEXT_TEXT_BATCH_H

#include "base/slice.h"
#include "base/text/number.h"

#ifdef TINY_LIMITS
enum { TEXT_BATCH = 8 };
#else
enum { TEXT_BATCH = 128 };
#endif

struct text_batch {
    size_t count;
    struct slice texts[TEXT_BATCH];
    char digits[TEXT_BATCH][INT64_TEXT_MAX]; /* of integers that the value does not hold as texts */
};

/* Adds a text of at most INT64_TEXT_MAX bytes, which is copied, to a batch that is not full. */
static inline void text_batch_add_digits(struct text_batch *batch, struct slice text) {
    char *digits = batch->digits[batch->count];
    slice_copy(digits, text);
    batch->texts[batch->count++] = slice_make(digits, text.len);
}

#endif
