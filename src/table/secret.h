/* secret: arguments that no log, no MONITOR and no error may show (base/text/secret.h). */
#ifndef PACKLIST_TABLE_SECRET_H
#define PACKLIST_TABLE_SECRET_H

#include "base/slice.h"
#include "base/text/secret.h"
#include "table/command.h"

#include <stdbool.h>
#include <stddef.h>

/* Goes through the arguments of one request in their order. */
struct secret_cursor {
    const struct command *command; /* the one that argv begins with; NULL: unknown subcommand */
    const struct slice *argv;      /* borrowed */
    size_t argc;
    size_t index;    /* of the argument that comes next */
    size_t option;   /* HELLO, MIGRATE: where the next option stands */
    bool has_auth;   /* HELLO: a password may have come or be about to */
    bool is_value;   /* HELLO: what stands before that option is secret */
    bool is_nested;  /* the command is an argument of another one */
    bool is_decided; /* all arguments from `index` on are secret, or none is: */
    bool rest_is_secret;
};

/* Returns a cursor at argv[0]. The command and argv must outlive it. O(1). */
struct secret_cursor secret_begin(const struct command *command, const struct slice *argv,
                                  size_t argc);

/* Moves on by one argument, which must be there. Returns whether it may be secret: a password, or
 * the name of the user who has it. If the arguments are not what the command expects, each that may
 * have been meant as a password is secret. ACL DRYRUN and COMMAND GETKEYS have a whole command as
 * arguments; inside of another of them, all of it is secret. O(1). */
bool secret_next(struct secret_cursor *cursor);

/* Returns argv[index] as it may be shown: itself, or SECRET_SHOWN. O(index): for one argument
 * only. */
struct slice secret_shown(const struct command *command, const struct slice *argv, size_t argc,
                          size_t index);

/* For a name that no command has: returns whether what follows it may be secret, because it is a
 * command's with secrets that was renamed, not spelled well, meant for a Sentinel, or sent as one
 * word with its arguments ("auth password", "config|set"). Only its first SECRET_NAME_MAX bytes are
 * looked at. O(1). */
bool secret_may_follow(struct slice name);

/* Returns whether a request that begins with these arguments (argc > 0) may have secret ones after
 * them; the last one may not be whole yet. O(1). */
bool secret_may_come(const struct slice *argv, size_t argc);

/* Returns the part of such a name that may be shown: its first word, of at most SECRET_NAME_MAX
 * bytes, where secrets may follow. O(1). */
struct slice secret_shown_name(struct slice name);

#endif
