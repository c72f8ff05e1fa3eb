/* users_internal: what users.c does for users_file.c. */
#ifndef PACKLIST_USERS_USERS_INTERNAL_H
#define PACKLIST_USERS_USERS_INTERNAL_H

#include "users/users.h"

/* Returns all users in no order; the caller frees the array, not the users. O(users). */
struct user **users_list(const struct users *users);

/* Sets the rights of the user `name`, who is created if there is none. Takes ownership of `rights`.
 * Returns the user. */
struct user *users_put(struct users *users, struct slice name, struct rights *rights);

/* Deletes the user, and marks it as gone. */
void users_remove(struct users *users, struct user *user);

#endif
