/* default_user: the lines `user default …` that CONFIG REWRITE of Redis and Valkey writes to every
 * configuration file.
 *
 * There are no ACLs here: a client with the password of requirepass may do everything. So a line is
 * accepted only if it says just that about the only user:
 *
 *     user default on nopass ~* &* +@all
 *     user default on sanitize-payload #<SHA-256 of the password> ~* &* +@all
 *
 * Any other line restricts users, and stops the start. */
#ifndef PACKLIST_CONFIG_DEFAULT_USER_H
#define PACKLIST_CONFIG_DEFAULT_USER_H

#include "base/sds.h"

#include <stdbool.h>

/* What to do without ACLs. */
#define CONFIG_NO_ACLS                                                                             \
    "There are no ACLs: a client that gives the password of requirepass, if there is one, may do " \
    "everything. Remove the line, and use requirepass, bind, protected-mode and a firewall."

/* Parses the words of a line after `user`. *hash (an sds, replaced) becomes the SHA-256 in hex of
 * the password that it asks for, or "" for none. Returns false with *error (owned by the caller)
 * when the line restricts users. */
bool default_user_parse(sds *hash, const struct slice *words, size_t count, sds *error);

/* Returns whether `password` has this hash. */
bool default_user_has_password(struct slice hash, struct slice password);

#endif
