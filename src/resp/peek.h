/* peek: a glance at requests that stand behind the one being run, for what helps to be known early.
 * A hint only: what resp_parse makes of the bytes is what counts. */
#ifndef PACKLIST_RESP_PEEK_H
#define PACKLIST_RESP_PEEK_H

#include "base/slice.h"

/* If a whole request of a few short arguments begins at bytes[0], returns its length and points
 * *second to its second argument, which nearly always is its key (empty when it has only one).
 * Else returns 0: the bytes end first, or the request is of another kind, or malformed. Reads
 * nothing but the `len` bytes. O(arguments). */
size_t resp_peek(const char *bytes, size_t len, struct slice *second);

#endif
