/* users: all users by name, and how they change.
 *
 * A change makes new rights and puts them in place of the user's old ones as a whole; rights
 * themselves never change. A session refers to its user, and each command reads the rights that the
 * user has then. A user that is deleted lives on, marked as gone, until no session refers to it. */
#ifndef PACKLIST_USERS_USERS_H
#define PACKLIST_USERS_USERS_H

#include "users/rights.h"

struct hashtable;
struct shortcut;

/* The user of sessions that have not logged in. It always exists. */
#define DEFAULT_USER "default"

struct user {
    sds name;
    const struct rights *rights;
    struct shortcut *shortcut; /* to the rights: users/access.c, which makes it when they are asked
                                  for; NULL after each change */
    uint64_t generation; /* another one after each change: what was derived from the rights holds
                            as long as it stays */
    uint32_t references;
    uint32_t restricted; /* 0 if rights->unrestricted, otherwise 1 */
    bool gone;           /* it was deleted: its sessions are to be closed */
};

struct users {
    struct hashtable *table;
    struct user *default_user;
    uint64_t generation; /* the newest of its users */
    bool all_channels;   /* acl-pubsub-default is allchannels; may change at any time */
};

/* The default user alone, who may do everything without a password. */
void users_init(struct users *users, bool all_channels);

/* Frees all of them: no session refers to one any more. */
void users_free(struct users *users);

/* --- One user --- */

/* For sessions. The last release of a user that is gone frees it. */
static inline struct user *user_keep(struct user *user) {
    user->references++;
    return user;
}
void user_release(struct user *user);

/* Returns whether the user may do everything: nothing else need be asked. NULL is nobody's session:
 * the link to the primary, a file that is loaded. */
static inline bool user_is_unrestricted(const struct user *user) {
    return !user || !user->restricted;
}

/* Returns whether a new connection is this user's without logging in. */
static inline bool user_needs_no_password(const struct user *user) {
    return user->rights->enabled && user->rights->no_password;
}

/* Appends "user NAME RULES", without a line's end: ACL LIST shows it, and files store it. */
sds user_append(sds out, const struct user *user, enum rules_form form);

/* Returns whether both have the same stored text: name, passwords and rights.
 * O(passwords and rules). */
bool user_is_same(const struct user *a, const struct user *b);

/* --- By name --- */

/* Returns the user, or NULL. O(1). */
struct user *users_find(const struct users *users, struct slice name);

/* Returns the user who logs in with this password; NULL if there is none, it is off, or the
 * password is wrong: in the same time. */
struct user *users_log_in(const struct users *users, struct slice name, struct slice password);

size_t users_count(const struct users *users);

/* Returns all users in the order of their names; the caller frees the array, not the users.
 * O(users × log users). */
struct user **users_sorted(const struct users *users);

/* --- Changes --- */

/* Applies rules to the user, who is made if there is none (ACL SETUSER). Returns false with *error
 * (error->rule is the caller's), and nothing has changed, when one of them is wrong, or the name
 * has a blank or a NUL. */
bool users_set(struct users *users, struct slice name, const struct slice *rules, size_t count,
               struct rule_error *error);

/* The same, but begins from a new user's rights (a line `user` of a configuration). */
bool users_define(struct users *users, struct slice name, const struct slice *rules, size_t count,
                  struct rule_error *error);

/* Deletes the user. Returns false if there is none, or it is the default user. */
bool users_delete(struct users *users, struct slice name);

/* Makes this the default user's only password; empty: it needs none (requirepass). */
void users_set_default_password(struct users *users, struct slice password);

/* --- Files --- */

/* Makes the users those of an ACL file: a line each, "user NAME RULE RULE …", with single spaces;
 * empty lines and lines that begin with # are skipped. Without a line for it, the default user is
 * that of users_init, with `default_password` as by users_set_default_password. Users who are the
 * same as before keep their generation; those who are missing are gone.
 *
 * When a line is wrong, nothing changes, and false is returned with *errors (the caller's): each
 * error with its line and rule, up to a bound. `path` names the file in them. O(text). */
bool users_load(struct users *users, struct slice path, struct slice default_password,
                struct slice text, sds *errors);

/* Returns the text of such a file; the caller frees it. */
sds users_file_text(const struct users *users);

#endif
