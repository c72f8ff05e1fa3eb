/* bit_work: BITCOUNT and BITPOS of large strings, as works (engine/work.h). */
#ifndef PACKLIST_COMMANDS_STRINGS_BIT_WORK_H
#define PACKLIST_COMMANDS_STRINGS_BIT_WORK_H

#include "engine/work.h"

/* Bits that are looked at in 50 ns; and those that BITPOS looks at before it becomes a work, as it
 * finds most bits early. */
enum { BITS_PER_STEP = 8 * 256, BITS_LOOK_FIRST = WORK_MIN * BITS_PER_STEP / 8 };

/* Returns whether the bits [from, to) are so many that they are better looked at in another thread.
 * O(1). */
static inline bool bits_pay(const struct call *call, uint64_t from, uint64_t to) {
    return work_pays(call, (to - from) / BITS_PER_STEP);
}

/* Replies later how many of the bits [from, to) of a string are set; or the position of the first
 * one of this value among them, and `otherwise` if there is none. Returns false, and does nothing,
 * if the string is too small to be captured. */
bool bits_count_later(struct call *call, struct entry *entry, uint64_t from, uint64_t to);
bool bits_find_later(struct call *call, struct entry *entry, bool value, uint64_t from, uint64_t to,
                     int64_t otherwise);

#endif
