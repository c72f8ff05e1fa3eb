/* secret: arguments that no log, no MONITOR and no error may show (base/secret.h). */
#ifndef PACKLIST_TABLE_SECRET_H
#define PACKLIST_TABLE_SECRET_H

#include "base/secret.h"
#include "base/slice.h"
#include "table/command.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns whether argv[index] may be a password, or the user's name with one. Where arguments are
 * not what the command expects, whatever may have been meant as a password is. O(argc). */
bool secret_is_argument(const struct command *command, const struct slice *argv, size_t argc,
                        size_t index);

/* Returns argv[index] as it may be shown: itself, or SECRET_SHOWN. */
struct slice secret_shown(const struct command *command, const struct slice *argv, size_t argc,
                          size_t index);

/* For a name that no command has: returns whether what follows it may be secret, because it is a
 * command's with secrets that was renamed, or not spelled well, or sent as one word with its
 * arguments ("auth password"), or has a first word of more than SECRET_NAME_MAX bytes. O(1). */
bool secret_may_follow(struct slice name);

/* Returns whether a request that begins with these arguments (argc > 0) may have secret ones after
 * them; the last one may not be whole yet. O(1). */
bool secret_may_come(const struct slice *argv, size_t argc);

/* Returns the part of such a name that may be shown: its first word, of at most SECRET_NAME_MAX
 * bytes, where secrets may follow. O(1). */
struct slice secret_shown_name(struct slice name);

#endif
