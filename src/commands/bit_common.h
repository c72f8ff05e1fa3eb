/* bit_common: what the bit commands share. */
#ifndef PACKLIST_COMMANDS_BIT_COMMON_H
#define PACKLIST_COMMANDS_BIT_COMMON_H

#include "commands/string_common.h"
#include "types/bits.h"

/* Reads the position of a bit at argv[index], or answers "ERR bit offset is not an integer or out
 * of range" and returns false. Its byte lies below the longest string that may be. Where `width` is
 * not 0 "#5" stands for 5 × width. */
bool bit_parse_offset(struct call *call, size_t index, unsigned width, uint64_t *offset);

#endif
