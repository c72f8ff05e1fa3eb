/* value_commands: what the formats of types write commands with that create values
 * (entry_commands_write in type_format.h). */
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

#endif
