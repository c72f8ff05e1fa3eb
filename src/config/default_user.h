/* default_user: the lines `user default …` that CONFIG REWRITE of Redis and Valkey leaves in every
 * configuration file.
 *
 * There are no ACLs here: a client that gives the password of requirepass may do everything. So a
 * line is accepted only if it says just that, of the one user that there is:
 *
 *     user default on nopass ~* &* +@all
 *     user default on sanitize-payload #<SHA-256 of the password> ~* &* +@all
 *
 * Any other line restricts somebody, and stops the start. */
#ifndef PACKLIST_CONFIG_DEFAULT_USER_H
#define PACKLIST_CONFIG_DEFAULT_USER_H

#include "base/sds.h"

#include <stdbool.h>

/* What to do instead of using ACLs. */
#define CONFIG_NO_ACLS                                                                             \
    "There are no ACLs: a client that gives the password of requirepass, if there is one, may do " \
    "everything. Remove the line, and use requirepass, bind, protected-mode and a firewall."

/* Reads the words of a line behind `user`. Then *hash (an sds, replaced) is the SHA-256, in hex, of
 * the password that it asks for, or "" when it asks for none. False with *error (the caller's) when
 * the line restricts somebody. */
bool default_user_parse(sds *hash, const struct slice *words, size_t count, sds *error);

/* Is `password` the one with this hash? */
bool default_user_has_password(struct slice hash, struct slice password);

#endif
