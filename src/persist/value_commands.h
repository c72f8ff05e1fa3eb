/* value_commands: values as the commands that make them, for an append-only file whose base is not
 * an RDB file. */
#ifndef PACKLIST_PERSIST_VALUE_COMMANDS_H
#define PACKLIST_PERSIST_VALUE_COMMANDS_H

#include "resp/reply.h"
#include "store/entry.h"

/* Most members of a collection in one command. */
enum { VALUE_COMMANDS_MEMBERS = 64 };

/* Where commands go. Owned by the caller. */
struct value_commands {
    struct reply bytes; /* commands gather here */

    /* A command has been added. May take what `bytes` has so far. False: no more are wanted. */
    bool (*ended)(struct value_commands *commands);
};

/* Adds the commands that make the entry's key with its value and expiry, where there is no such
 * key. False when no more commands are wanted; then the last ones may be missing. O(value). */
bool value_commands_write(struct value_commands *commands, const struct entry *entry);

/* --- For the formats of types, and for other commands among those of values --- */

/* Begins a command of `key` and `arguments` more, which the caller adds to `bytes` as bulks. */
void value_commands_begin(struct value_commands *commands, const char *name, struct slice key,
                          size_t arguments);

/* Ends it. False when no more commands are wanted. */
bool value_commands_end(struct value_commands *commands);

#endif
