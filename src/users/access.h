/* access: may a user do this? Every gate asks here: the keys and channels that are looked at are
 * those of table/command_keys.h, the databases those of table/command_databases.h. */
#ifndef PACKLIST_USERS_ACCESS_H
#define PACKLIST_USERS_ACCESS_H

#include "users/users.h"

/* A call, with arguments that its command accepts (command_accepts); valid while it is asked
 * about. */
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

/* user_may for users who are restricted. */
bool user_may_restricted(const struct user *user, const struct access *access,
                         struct denial *denial);

/* Returns true if the user may do this; false if user_may must be asked: that is no denial. The
 * command accepts so many arguments. A few nanoseconds. */
static inline bool user_may_at_once(const struct user *user, const struct command *command,
                                    const struct slice *argv) {
    return shortcut_allows(&user->rights->shortcut, command, argv);
}

/* Returns whether the user may do this; otherwise *denial says why not. One test for a user who may
 * do everything. Otherwise the command is one bit, the databases a binary search; keys and channels
 * are only looked at by selectors with patterns: O(keys × patterns). A call whose keys cannot be
 * found is not refused because of them: its command refuses it, too. */
static inline bool user_may(const struct user *user, const struct access *access,
                            struct denial *denial) {
    return user_is_unrestricted(user) || user_may_restricted(user, access, denial);
}

/* The same for a call of which it is not known whether its command accepts so many arguments; if it
 * does not, only the command is asked for. Commands that need no login (AUTH, HELLO …) are free. */
bool user_may_run(const struct user *user, const struct access *access, struct denial *denial);

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
