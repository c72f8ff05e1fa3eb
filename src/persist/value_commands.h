/* value_commands: keys with their values as commands that create them, for an append-only file
 * whose base is not an RDB file. The formats of types (type_format.h) write the commands of a
 * value. */
#ifndef PACKLIST_PERSIST_VALUE_COMMANDS_H
#define PACKLIST_PERSIST_VALUE_COMMANDS_H

#include "resp/reply.h"
#include "store/entry.h"

/* Maximum number of members of a collection in one command. */
enum { VALUE_COMMANDS_MEMBERS = 64 };

/* Where commands are appended. Owned by the caller. */
struct value_commands {
    struct reply bytes; /* the commands */

    /* Called after each command; may empty `bytes`. Returns false when no more commands are
     * wanted. */
    bool (*ended)(struct value_commands *commands);
};

/* Begins a command with `key` and `arguments` more arguments, which the caller appends to `bytes`
 * as bulk strings. */
void value_commands_begin(struct value_commands *commands, const char *name, struct slice key,
                          size_t arguments);

/* Ends the command. Returns false when no more commands are wanted. */
bool value_commands_end(struct value_commands *commands);

/* Appends the commands that create the entry's key with its value and expiry; the key must not
 * exist when they run. Returns false when `ended` does; then the last commands may be missing.
 * O(value). */
bool value_commands_write(struct value_commands *commands, const struct entry *entry);

#endif
