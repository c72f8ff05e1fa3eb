/* peek: looks ahead at the requests after the one that runs. Only a hint: resp_parse decides what
 * the bytes mean. */
#ifndef PACKLIST_RESP_PEEK_H
#define PACKLIST_RESP_PEEK_H

#include "base/slice.h"

/* If a whole request of a few short arguments begins at bytes[0], returns its length and points
 * *second to its second argument, which nearly always is its key (empty when it has only one).
 * Otherwise returns 0: the bytes end first, or the request is of another kind, or malformed. Reads
 * only the `len` bytes. O(arguments). */
size_t resp_peek(const char *bytes, size_t len, struct slice *second);

/* Like resp_peek, but points *argument to the one at `index`, counted from 0. */
size_t resp_peek_at(const char *bytes, size_t len, size_t index, struct slice *argument);

/* The first arguments of the same request, up to `max` of them: views. Returns how many the request
 * has, or 0. */
size_t resp_peek_arguments(const char *bytes, size_t len, struct slice *argv, size_t max);

#endif
