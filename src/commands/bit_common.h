/* bit_common: functions that the bit commands share. */
#ifndef PACKLIST_COMMANDS_BIT_COMMON_H
#define PACKLIST_COMMANDS_BIT_COMMON_H

#include "commands/string_common.h"
#include "types/bits.h"

/* Reads the position of a bit at argv[index]; its byte is within the longest allowed string. If
 * `width` is not 0, "#5" means 5 × width. Otherwise replies "ERR bit offset is not an integer or
 * out of range" and returns false. */
bool bit_parse_offset(struct call *call, size_t index, unsigned width, uint64_t *offset);

#endif
