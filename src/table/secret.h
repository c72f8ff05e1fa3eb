/* secret: arguments that no log and no MONITOR may show. The member is_secret of a command's row is
 * the function below that finds its secrets. */
#ifndef PACKLIST_TABLE_SECRET_H
#define PACKLIST_TABLE_SECRET_H

#include "base/slice.h"
#include "table/command.h"

#include <stdbool.h>
#include <stddef.h>

/* The text shown instead. */
#define SECRET_SHOWN "(redacted)"

/* Returns whether argv[index] is a password, or the user's name with one. O(index). */
static inline bool secret_is_argument(const struct command *command, const struct slice *argv,
                                      size_t index) {
    return command->is_secret && command->is_secret(argv, index);
}

/* For is_secret in rows of the table. AUTH: every argument. */
bool secret_in_auth(const struct slice *argv, size_t index);

/* HELLO protocol … AUTH user password … */
bool secret_in_hello(const struct slice *argv, size_t index);

/* CONFIG SET name value …: the values of directives that are passwords or user names. */
bool secret_in_config_set(const struct slice *argv, size_t index);

/* MIGRATE … AUTH password, AUTH2 user password */
bool secret_in_migrate(const struct slice *argv, size_t index);

#endif
