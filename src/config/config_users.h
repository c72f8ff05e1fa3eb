/* config_users: the lines `user` that CONFIG REWRITE writes. */
#ifndef PACKLIST_CONFIG_CONFIG_USERS_H
#define PACKLIST_CONFIG_CONFIG_USERS_H

#include "base/text/sds.h"

#include <stdbool.h>

struct config_user_line {
    struct slice name;
    struct slice text; /* "user NAME RULE RULE …" */
    bool is_written;
};

/* In the order of the names. */
struct config_user_lines {
    struct config_user_line *items;
    size_t count;
};

/* Views of `users`, a text as config_rewrite_text takes it. The caller frees the items.
 * O(text). */
struct config_user_lines config_user_lines(struct slice users);

/* Returns the line of the user that a line of a configuration file defines; NULL if there is none.
 * O(line + log users). */
struct config_user_line *config_user_lines_find(const struct config_user_lines *users,
                                                struct slice line);

/* Appends the line as a file has it, with words in quotes where the parser needs that, and a line
 * feed; marks it as written. */
sds config_user_line_append(sds out, struct config_user_line *user);

#endif
