/* entry_commands: keys with their values as commands that create them, for an append-only file
 * whose base is not an RDB file. */
#ifndef PACKLIST_PERSIST_ENTRY_COMMANDS_H
#define PACKLIST_PERSIST_ENTRY_COMMANDS_H

#include "persist/value_commands.h"
#include "store/entry.h"

/* Appends the commands that create the entry's key with its value and expiry; the key must not
 * exist when they run. Returns false when `ended` does; then the last commands may be missing.
 * O(value). */
bool entry_commands_write(struct value_commands *commands, const struct entry *entry);

#endif
