/* access: may a user do this? user_may is the one question about a call: the executor, scripts
 * (redis.acl_check_cmd) and ACL DRYRUN ask it. Keys and channels are those of
 * table/command_keys.h, databases those of table/command_databases.h. */
#ifndef PACKLIST_USERS_ACCESS_H
#define PACKLIST_USERS_ACCESS_H

#include "users/users.h"

/* A call; valid while it is asked about. Passed by value, so that a question that is answered at
 * once needs no memory. */
struct access {
    const struct command *command; /* a subcommand rather than its container */
    const struct slice *argv;
    size_t argc;
    int64_t database; /* the client's */
};

/* What is missing, in the order in which a selector is asked. Of several selectors the one that
 * came furthest is told. */
enum denied { DENIED_NOTHING, DENIED_DATABASE, DENIED_COMMAND, DENIED_KEY, DENIED_CHANNEL };

struct denial {
    enum denied what;
    size_t index; /* in argv, of the key, channel or database; 0: the command, in any database or in
                     the client's */
    struct slice object; /* argv[index]; the command's full name if index is 0 */
};

/* Returns whether the user may do this; otherwise *denial says why not. With NULL for `denial` only
 * what needs no look at the selectors is answered, and false says nothing: ask again. One test for
 * a user who may do everything, a few nanoseconds for most calls of most others. Otherwise the
 * command is one bit, the databases a binary search; keys and channels are only looked at by
 * selectors with patterns: O(keys × patterns). The first call since the rights were changed is
 * O(commands + patterns).
 *
 * Commands that need no login (AUTH, HELLO …) are free. Of a call with a number of arguments that
 * its command does not accept only the command is asked for. A call whose keys cannot be found is
 * not refused because of them: its command refuses it, too. */
bool user_may(struct user *user, struct access access, struct denial *denial);

/* Returns whether a selector that allows this call also gives `rights` (enum key_rights) to all
 * keys: for calls that use keys which only data names (SORT's BY and GET). */
bool user_may_with_all_keys(const struct user *user, const struct access *access, unsigned rights);

/* Returns whether a selector lets the user read this key of the database, with whatever command:
 * for commands that list keys. */
bool user_may_read_key(const struct user *user, struct slice key, int64_t database);

/* Returns whether a selector allows the channel, or exactly this pattern of channels: for
 * subscriptions that are older than the user's rights. */
bool user_may_use_channel(const struct user *user, struct slice channel, bool is_pattern);

/* The denial as a reply with its code: "NOPERM No permissions to access a key". The caller frees
 * it. */
sds denial_text(const struct denial *denial, const struct user *user);

#endif
