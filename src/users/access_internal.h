/* access_internal: the two answers of user_may, for access.c and its tests. */
#ifndef PACKLIST_USERS_ACCESS_INTERNAL_H
#define PACKLIST_USERS_ACCESS_INTERNAL_H

#include "users/access.h"

/* Returns true if the shortcut to the first selector of a restricted user allows the call; false if
 * the selectors must be asked, as they must once before there is a shortcut. */
bool access__by_shortcut(const struct user *user, struct access access);

/* As user_may, from the selectors alone. */
bool access__by_selectors(const struct user *user, struct access access, struct denial *denial);

#endif
