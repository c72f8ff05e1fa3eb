/* glob: the pattern matching of KEYS, SCAN, CONFIG GET, PSUBSCRIBE: * ? [a-z] [^a], \ escapes. */
#ifndef PACKLIST_BASE_GLOB_H
#define PACKLIST_BASE_GLOB_H

#include "base/slice.h"

/* Does the whole of `text` match `pattern`? Binary-safe; `nocase` folds ASCII letters. O(pattern ×
 * text) at worst: no pattern is exponential, nothing recurses. An unclosed [ extends to the
 * pattern's end, a reversed range is turned round, a trailing \ stands for itself, and an empty
 * text matches the empty pattern only, not "*": all as in Redis, whose KEYS and SCAN ask
 * glob_is_match_all first. */
bool glob_match(struct slice pattern, struct slice text, bool nocase);

/* True when the pattern is a plain "*". */
bool glob_is_match_all(struct slice pattern);

#endif
