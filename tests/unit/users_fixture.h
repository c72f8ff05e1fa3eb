/* users_fixture: users by their texts. */
#ifndef PACKLIST_TESTS_UNIT_USERS_FIXTURE_H
#define PACKLIST_TESTS_UNIT_USERS_FIXTURE_H

#include "base/memory/alloc.h"
#include "table/families.h"
#include "users/access_internal.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Splits a text, if it is not empty, at single spaces. The caller frees the words. */
static inline struct slice *split_words(const char *text, size_t *count) {
    size_t capacity = 0;
    struct slice *words = NULL;
    *count = 0;
    for (bool more = *text; more; text++) {
        size_t len = strcspn(text, " ");
        MEM_RESERVE(words, capacity, *count + 1);
        words[(*count)++] = slice_make(text, len);
        text += len;
        more = *text;
    }
    return words;
}

/* ACL SETUSER. Returns the error, which the caller frees; NULL if there is none. */
static inline sds set_user_rules(struct users *users, struct slice name, const struct slice *rules,
                                 size_t count) {
    struct rule_error error;
    if (users_set(users, name, rules, count, &error)) return NULL;
    sds text = rule_error_text(&error);
    sds_free(error.rule);
    return text;
}

/* The same with words. */
static inline sds set_user(struct users *users, const char *name, const char *rules) {
    size_t count;
    struct slice *words = split_words(rules, &count);
    sds error = set_user_rules(users, slice_of_cstr(name), words, count);
    mem_free(words);
    return error;
}

/* The rules that ACL LIST shows of a user; the caller frees them. */
static inline sds described(const struct users *users, const char *name) {
    return rights_append(sds_new(SLICE("")), users_find(users, slice_of_cstr(name))->rights,
                         RULES_SHOWN);
}

#endif
