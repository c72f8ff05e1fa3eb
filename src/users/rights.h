/* rights: what a user may do and how it logs in: the text "on nopass ~* &* +@all (…)", compiled.
 *
 * Beside those of its first selector, the root (users/selector.h), these are the rules:
 *
 *      on off                      may it log in?
 *      nopass                      any password will do; forgets all passwords
 *      >password <password         adds one, removes one
 *      #hash !hash                 the same, by its SHA-256 in lower-case hexadecimal digits
 *      resetpass                   forgets all passwords, and nopass
 *      (rules)                     adds a selector; may span several arguments
 *      clearselectors              removes all selectors but the root
 *      reset                       makes it the rights of a new user
 *      sanitize-payload, skip-sanitize-payload, and an empty rule change nothing
 *
 * The rules in parentheses are separated by blanks. None of them begins or ends with a parenthesis:
 * the text would not show where the selector ends. */
#ifndef PACKLIST_USERS_RIGHTS_H
#define PACKLIST_USERS_RIGHTS_H

#include "base/hash/sha256.h"
#include "users/selector.h"

/* The most passwords, and the most selectors. */
enum { RIGHTS_PARTS_MAX = 4096 };

struct password {
    uint8_t digest[SHA256_SIZE];
};

struct rights {
    bool enabled;
    bool no_password;  /* any password will do; there are no passwords then */
    bool unrestricted; /* one of the selectors allows everything */
    struct password *passwords;
    size_t password_count;
    size_t password_capacity;
    struct selector *selectors; /* the root first */
    size_t selector_count;
    size_t selector_capacity;
};

/* A rule that cannot be applied. */
struct rule_error {
    sds rule;        /* as it may be shown: cut, and without passwords; NULL: the name is wrong */
    const char *why; /* static */
    bool unmatched;  /* a parenthesis is not closed; `rule` begins with it */
};

/* The rights of a new user: none; all channels if acl-pubsub-default is allchannels. */
struct rights *rights_new(bool all_channels);
struct rights *rights_copy(const struct rights *rights);
void rights_free(struct rights *rights); /* NULL is allowed */

/* Returns whether both have the same stored text (rights_append). O(parts). */
bool rights_are_same(const struct rights *a, const struct rights *b);

/* Applies the rules argv[*at] … in their order. Returns true when all of them are; false at the
 * first that cannot be, with *error (error->rule is the caller's) and *at behind it: the rules
 * before it are applied then. When a parenthesis is not closed, none is applied, and *at is argc.
 * New selectors, and `reset`, get all channels if `all_channels`.
 * O(rules × (commands + parts)). */
bool rights_apply(struct rights *rights, bool all_channels, const struct slice *argv, size_t argc,
                  size_t *at, struct rule_error *error);

/* Returns whether one may log in with this password. Takes the same time whichever password is
 * wrong. O(password + passwords). */
bool rights_accept(const struct rights *rights, struct slice password);

/* Appends the rules: stored ones make the same rights of a new user's. */
sds rights_append(sds out, const struct rights *rights, enum rules_form form);

/* The error as a reply without its code: "Error in ACL SETUSER modifier '…': Syntax error". The
 * caller frees it. */
sds rule_error_text(const struct rule_error *error);

#endif
