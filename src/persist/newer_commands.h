/* newer_commands: commands that newer servers put into their append-only files and their streams
 * for replicas, in terms of commands that this server has.
 *
 *      RESTORE-ASKING key 0 payload      RESTORE key 0 payload
 *
 * A server propagates only what it has done. So a condition was met, and is dropped: it must not be
 * asked again where the data may differ. This must not be used for commands of clients. (Commands
 * with conditions that are here, as SET with IFEQ, drop them by themselves: call_is_repeated.) */
#ifndef PACKLIST_PERSIST_NEWER_COMMANDS_H
#define PACKLIST_PERSIST_NEWER_COMMANDS_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>

/* Lives on the caller's stack. */
struct newer_translation {
    struct slice *words; /* of all commands, one after another; most are views of the original's */
    size_t word_count;
    size_t word_capacity;
    size_t *ends; /* of each command in `words` */
    size_t count; /* commands; 0 if there is nothing to do here */
    size_t end_capacity;
};

/* Translates a command (argc > 0) that this server does not know, or that has failed here.
 * Returns false, and owns nothing, when the command has
 * nothing of a newer server that could be translated. The caller must end the translation
 * otherwise. It refers to the bytes of argv. O(argc). */
bool newer_translation_begin(struct newer_translation *translation, const struct slice *argv,
                             size_t argc);
void newer_translation_end(struct newer_translation *translation);

/* Returns the words of the command with this index (0 … count - 1); *argc gets their number. */
const struct slice *newer_translation_command(const struct newer_translation *translation,
                                              size_t index, size_t *argc);

#endif
