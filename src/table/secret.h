/* secret: arguments that must be shown to nobody, in no log and to no MONITOR. */
#ifndef PACKLIST_TABLE_SECRET_H
#define PACKLIST_TABLE_SECRET_H

#include "base/slice.h"
#include "table/command.h"

#include <stdbool.h>
#include <stddef.h>

/* What is shown instead. */
#define SECRET_SHOWN "(redacted)"

/* Is argv[index] a password, or a user's name beside one: an argument of AUTH, of AUTH in HELLO, or
 * the value of such a directive in CONFIG SET? */
bool secret_is_argument(const struct command *command, const struct slice *argv, size_t index);

#endif
