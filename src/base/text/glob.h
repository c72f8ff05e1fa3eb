/* glob: the pattern matching of KEYS, SCAN, CONFIG GET, PSUBSCRIBE: * ? [a-z] [^a], \ escapes. */
#ifndef PACKLIST_BASE_TEXT_GLOB_H
#define PACKLIST_BASE_TEXT_GLOB_H

#include "base/slice.h"

/* Returns whether the whole of `text` matches `pattern`. Binary-safe; `nocase` folds ASCII letters.
 * O(pattern × text) at worst: no pattern is exponential, nothing recurses. As in Redis an unclosed
 * [ extends to the pattern's end, a reversed range is reordered, a trailing \ matches itself, and
 * an empty text matches the empty pattern only, not "*"; KEYS and SCAN therefore first call
 * glob_is_match_all. */
bool glob_match(struct slice pattern, struct slice text, bool nocase);

/* Returns whether the pattern is a plain "*". */
bool glob_is_match_all(struct slice pattern);

#endif
