/* command_keys: which arguments of a call are keys, and what the command does with them. */
#ifndef PACKLIST_TABLE_COMMAND_KEYS_H
#define PACKLIST_TABLE_COMMAND_KEYS_H

#include "table/command.h"

/* Finds the argv indexes of a command's keys: up to `max` go to `indexes`. Returns how many keys
 * there are, or -1 when the arguments make no sense (a bad numkeys). O(argc). */
long command_keys(const struct command *command, const struct slice *argv, size_t argc,
                  size_t *indexes, size_t max);

/* What the command does with the key that command_keys found at place `number` (0, 1, …), as enum
 * key_flag. O(argc). */
uint32_t command_key_flags(const struct command *command, const struct slice *argv, size_t argc,
                           size_t number);

/* For `actual_flags` in rows of the table. SET reads the old value only with the option GET. */
uint16_t command_set_key_flags(const struct slice *argv, size_t argc);

/* BITFIELD whose operations are all GET changes nothing. */
uint16_t command_bitfield_key_flags(const struct slice *argv, size_t argc);

/* Finds, by its name in any case, a command of scripts or functions, which this server cannot run
 * but whose keys it can find: EVAL, EVALSHA, FCALL and their read-only forms. NULL for any other
 * name. The row is in no other table. */
const struct command *command_find_script_call(struct slice name);

#endif
