/* range: positions as clients give them: negative ones count from the end. */
#ifndef PACKLIST_COMMANDS_RANGE_H
#define PACKLIST_COMMANDS_RANGE_H

#include <stdint.h>

/* A range with both ends included → the items [*from, *from + *count) that it covers, of `length`;
 * the count may be 0. */
void range_clamp(int64_t start, int64_t stop, uint64_t length, uint64_t *from, uint64_t *count);

#endif
