/* command_keys: which arguments of a call are keys, and how the command uses them. */
#ifndef PACKLIST_TABLE_COMMAND_KEYS_H
#define PACKLIST_TABLE_COMMAND_KEYS_H

#include "table/command.h"

/* Finds the argv indexes of a command's keys and stores up to `max` of them. Returns the number of
 * keys, or -1 when the arguments are invalid (a bad numkeys). O(argc). */
long command_keys(const struct command *command, const struct slice *argv, size_t argc,
                  size_t *indexes, size_t max);

/* Returns how the command uses the key with index `number` (0, 1, …) in the result of command_keys,
 * as enum key_flag. O(argc). */
uint32_t command_key_flags(const struct command *command, const struct slice *argv, size_t argc,
                           size_t number);

/* For `actual_flags` in rows of the table. SET reads the old value only with the option GET. */
uint16_t command_set_key_flags(const struct slice *argv, size_t argc);

/* A BITFIELD with only GET operations changes nothing. */
uint16_t command_bitfield_key_flags(const struct slice *argv, size_t argc);

#endif
