/* secret: arguments that no log and no MONITOR may show. */
#ifndef PACKLIST_TABLE_SECRET_H
#define PACKLIST_TABLE_SECRET_H

#include "base/slice.h"
#include "table/command.h"

#include <stdbool.h>
#include <stddef.h>

/* The text shown instead. */
#define SECRET_SHOWN "(redacted)"

/* Returns whether argv[index] is a password, or the user's name with one. O(index). */
bool secret_is_argument(const struct command *command, const struct slice *argv, size_t index);

#endif
