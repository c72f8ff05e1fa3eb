/* pattern: globs of keys and of channels, in the form in which they are matched for each request:
 * most are whole names or beginnings ("app:*"), which memcmp compares. */
#ifndef PACKLIST_USERS_PATTERN_H
#define PACKLIST_USERS_PATTERN_H

#include "base/text/sds.h"

/* What a pattern allows with the keys that it matches. A channel's has none of these. */
enum key_rights { KEYS_READ = 1 << 0, KEYS_WRITE = 1 << 1, KEYS_BOTH = KEYS_READ | KEYS_WRITE };

struct pattern {
    sds text;
    uint8_t rights; /* enum key_rights */
    uint8_t form;   /* private */
};

/* In the order in which they were given; no text stands twice. */
struct pattern_list {
    struct pattern *items;
    size_t count;
    size_t capacity;
};

/* Returns whether the pattern is a beginning of names, not empty, and a '*'. O(1). */
bool pattern_is_beginning(const struct pattern *pattern);

/* Adds the rights to the pattern with this text, which is appended if there is none. O(patterns).
 * */
void pattern_list_add(struct pattern_list *list, struct slice text, unsigned rights);

/* Makes `to`, whose content is overwritten, a copy of `from`. */
void pattern_list_copy(struct pattern_list *to, const struct pattern_list *from);

/* Returns whether both have the same patterns in the same order. O(patterns). */
bool pattern_list_is_same(const struct pattern_list *a, const struct pattern_list *b);

/* Frees the patterns; the list is then empty. */
void pattern_list_clear(struct pattern_list *list);

/* Returns whether one pattern with all these rights matches `name`, as glob_match does: the empty
 * name matches the empty pattern only. O(patterns) comparisons; O(name × pattern) for each that is
 * no beginning. */
bool pattern_list_covers(const struct pattern_list *list, struct slice name, unsigned rights);

/* Returns whether one pattern with all these rights has this text. O(patterns). */
bool pattern_list_has(const struct pattern_list *list, struct slice text, unsigned rights);

#endif
