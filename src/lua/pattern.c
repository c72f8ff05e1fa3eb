/* pattern: a backtracking matcher. It recurses where it may have to come back: at captures and at
 * items that are repeated. Each recursion is further in the pattern, so the depth is bounded by its
 * length. */
#include "lua/pattern.h"

#include "lua/machine.h"

#include <ctype.h>
#include <lua5.1/lauxlib.h>

enum { CAPTURE_OPEN = -1, CAPTURE_POSITION = -2 };

static const char *match_rest(struct pattern_match *match, const char *at, const char *pattern);

/* --- Steps --- */

struct pattern_match pattern_begin(lua_State *L, struct slice subject) {
    struct pattern_match match;
    match.L = L;
    match.begin = subject.ptr;
    match.end = slice_end(subject);
    match.portion = MACHINE_WATCH_STEPS;
    match.left = PATTERN_STEPS_MAX + (int64_t)subject.len * PATTERN_STEPS_PER_BYTE;
    match.depth = 0;
    match.level = 0;
    return match;
}

void pattern_finish(struct pattern_match *match) {
    int64_t steps = MACHINE_WATCH_STEPS - match->portion;
    match->portion = MACHINE_WATCH_STEPS;
    match->left -= steps;
    if (match->left < 0) luaL_error(match->L, "pattern too complex");
    machine_spend(match->L, (size_t)steps);
}

static inline void count_steps(struct pattern_match *match, int64_t steps) {
    match->portion -= steps;
    if (match->portion < 0) pattern_finish(match);
}

/* --- One character --- */

/* Returns the end of the item that begins at `item`: a character, %x or [set]. */
static const char *item_end(struct pattern_match *match, const char *item) {
    const char *at = item + 1;
    if (*item == '%') {
        if (*at == '\0') luaL_error(match->L, "malformed pattern (ends with '%%')");
        return at + 1;
    }
    if (*item != '[') return at;
    if (*at == '^') at++;
    do { /* a ']' that is first belongs to the set */
        if (*at == '\0') luaL_error(match->L, "malformed pattern (missing ']')");
        if (*at++ == '%' && *at != '\0') at++;
    } while (*at != ']');
    count_steps(match, (at - item) / 8);
    return at + 1;
}

/* Returns whether the character is of a class like %a. A capital stands for all others. */
static bool is_of_class(unsigned char c, unsigned char class) {
    bool is;
    switch (tolower(class)) {
    case 'a': is = isalpha(c); break;
    case 'c': is = iscntrl(c); break;
    case 'd': is = isdigit(c); break;
    case 'l': is = islower(c); break;
    case 'p': is = ispunct(c); break;
    case 's': is = isspace(c); break;
    case 'u': is = isupper(c); break;
    case 'w': is = isalnum(c); break;
    case 'x': is = isxdigit(c); break;
    case 'z': is = c == '\0'; break;
    default: return class == c;
    }
    return isupper(class) ? !is : is;
}

/* Returns whether the character is in a set. `set` is after the '[', `end` at the ']'. */
static bool is_of_set(unsigned char c, const char *set, const char *end) {
    bool found = true;
    if (*set == '^') {
        found = false;
        set++;
    }
    for (; set < end; set++) {
        if (*set == '%') {
            set++;
            if (is_of_class(c, (unsigned char)*set)) return found;
        } else if (set[1] == '-' && set + 2 < end) {
            if ((unsigned char)set[0] <= c && c <= (unsigned char)set[2]) return found;
            set += 2;
        } else if ((unsigned char)*set == c) {
            return found;
        }
    }
    return !found;
}

/* Returns whether the character at `at` matches the item from `item` to `end`: false at the end of
 * the subject. */
static inline bool is_one(const struct pattern_match *match, const char *at, const char *item,
                          const char *end) {
    if (at >= match->end) return false;
    unsigned char c = (unsigned char)*at;
    switch (*item) {
    case '.': return true;
    case '%': return is_of_class(c, (unsigned char)item[1]);
    case '[': return is_of_set(c, item + 1, end - 1);
    default: return (unsigned char)*item == c;
    }
}

/* --- Repeated items --- */

/* As many as possible, but at least `least`; then fewer. */
static const char *repeat_greedy(struct pattern_match *match, const char *at, const char *item,
                                 const char *end, ptrdiff_t least) {
    ptrdiff_t count = 0;
    int64_t cost = 1 + (end - item) / 8;
    for (; is_one(match, at + count, item, end); count++) count_steps(match, cost);
    for (; count >= least; count--) {
        const char *found = match_rest(match, at + count, end + 1);
        if (found) return found;
    }
    return NULL;
}

/* As few as possible, then more. */
static const char *repeat_lazy(struct pattern_match *match, const char *at, const char *item,
                               const char *end) {
    int64_t cost = 1 + (end - item) / 8;
    for (;; at++) {
        const char *found = match_rest(match, at, end + 1);
        if (found) return found;
        if (!is_one(match, at, item, end)) return NULL;
        count_steps(match, cost);
    }
}

/* --- Captures --- */

static const char *open_capture(struct pattern_match *match, const char *at, const char *pattern,
                                ptrdiff_t len) {
    int level = match->level;
    if (level >= PATTERN_CAPTURES_MAX) luaL_error(match->L, "too many captures");
    match->captures[level].start = at;
    match->captures[level].len = len;
    match->level = level + 1;
    const char *found = match_rest(match, at, pattern);
    if (!found) match->level--;
    return found;
}

static const char *close_capture(struct pattern_match *match, const char *at, const char *pattern) {
    int level = match->level - 1;
    while (level >= 0 && match->captures[level].len != CAPTURE_OPEN) level--;
    if (level < 0) luaL_error(match->L, "invalid pattern capture");
    match->captures[level].len = at - match->captures[level].start;
    const char *found = match_rest(match, at, pattern);
    if (!found) match->captures[level].len = CAPTURE_OPEN;
    return found;
}

/* %1 to %9: the same text again. */
static const char *match_again(struct pattern_match *match, const char *at, char digit) {
    int level = digit - '1';
    if (level < 0 || level >= match->level || match->captures[level].len == CAPTURE_OPEN)
        luaL_error(match->L, "invalid capture index");
    ptrdiff_t len = match->captures[level].len;
    if (len == CAPTURE_POSITION || match->end - at < len) return NULL;
    count_steps(match, len / 16);
    return memcmp(match->captures[level].start, at, (size_t)len) == 0 ? at + len : NULL;
}

/* --- Other items --- */

/* %bxy: from an x to its y. `pair` is at x. */
static const char *match_balanced(struct pattern_match *match, const char *at, const char *pair) {
    if (pair[0] == '\0' || pair[1] == '\0') luaL_error(match->L, "unbalanced pattern");
    if (*at != pair[0]) return NULL; /* after the subject stands a NUL */
    size_t open = 1;
    for (const char *next = at + 1; next < match->end; next++) {
        if (*next == pair[1]) {
            if (--open == 0) {
                count_steps(match, next - at);
                return next + 1;
            }
        } else if (*next == pair[0]) {
            open++;
        }
    }
    count_steps(match, match->end - at);
    return NULL;
}

/* %f[set]: the place where a run of characters of the set begins. Returns the end of the item. */
static const char *match_frontier(struct pattern_match *match, const char *at, const char *set) {
    if (*set != '[') luaL_error(match->L, "missing '[' after '%%f' in pattern");
    const char *end = item_end(match, set);
    unsigned char before = at == match->begin ? '\0' : (unsigned char)at[-1];
    if (is_of_set(before, set + 1, end - 1)) return NULL;
    return is_of_set((unsigned char)*at, set + 1, end - 1) ? end : NULL;
}

/* Matches an item that is not a character at *at and moves both to what follows. Returns 0 if it
 * does not match, 1 if it does, -1 if it is a character. */
static int match_special(struct pattern_match *match, const char **at, const char **item) {
    char kind = (*item)[1];
    if (kind == 'b') {
        *at = match_balanced(match, *at, *item + 2);
        *item += 4;
        return *at != NULL;
    }
    if (kind == 'f') {
        *item = match_frontier(match, *at, *item + 2);
        return *item != NULL;
    }
    if (!isdigit((unsigned char)kind)) return -1;
    *at = match_again(match, *at, kind);
    *item += 2;
    return *at != NULL;
}

/* --- The pattern --- */

static const char *match_items(struct pattern_match *match, const char *at, const char *item) {
    for (;;) {
        count_steps(match, 1);
        switch (*item) {
        case '\0': return at;
        case '(':
            if (item[1] == ')') return open_capture(match, at, item + 2, CAPTURE_POSITION);
            return open_capture(match, at, item + 1, CAPTURE_OPEN);
        case ')': return close_capture(match, at, item + 1);
        case '$':
            if (item[1] == '\0') return at == match->end ? at : NULL;
            break;
        case '%': {
            int matched = match_special(match, &at, &item);
            if (matched == 0) return NULL;
            if (matched == 1) continue;
            break;
        }
        default: break;
        }
        const char *end = item_end(match, item);
        switch (*end) {
        case '*': return repeat_greedy(match, at, item, end, 0);
        case '+': return repeat_greedy(match, at, item, end, 1);
        case '-': return repeat_lazy(match, at, item, end);
        case '?':
            if (is_one(match, at, item, end)) {
                const char *found = match_rest(match, at + 1, end + 1);
                if (found) return found;
            }
            item = end + 1;
            continue;
        default:
            if (!is_one(match, at, item, end)) return NULL;
            at++;
            item = end;
        }
    }
}

static const char *match_rest(struct pattern_match *match, const char *at, const char *pattern) {
    if (++match->depth > PATTERN_DEPTH_MAX) luaL_error(match->L, "pattern too complex");
    const char *found = match_items(match, at, pattern);
    match->depth--;
    return found;
}

const char *pattern_match_at(struct pattern_match *match, const char *at, const char *pattern) {
    match->level = 0;
    match->depth = 0;
    return match_rest(match, at, pattern);
}

const char *pattern_search(struct pattern_match *match, const char **at, const char *pattern) {
    for (; *at <= match->end; ++*at) {
        const char *found = pattern_match_at(match, *at, pattern);
        if (found) return found;
    }
    return NULL;
}

/* --- Results --- */

void pattern_push_capture(struct pattern_match *match, int index, const char *start,
                          const char *end) {
    lua_State *L = match->L;
    if (index >= match->level) {
        if (index > 0) luaL_error(L, "invalid capture index");
        lua_pushlstring(L, start, (size_t)(end - start));
        return;
    }
    const char *captured = match->captures[index].start;
    ptrdiff_t len = match->captures[index].len;
    if (len == CAPTURE_OPEN) luaL_error(L, "unfinished capture");
    if (len == CAPTURE_POSITION)
        lua_pushinteger(L, captured - match->begin + 1);
    else
        lua_pushlstring(L, captured, (size_t)len);
}

int pattern_push_captures(struct pattern_match *match, bool whole, const char *start,
                          const char *end) {
    int count = match->level == 0 && whole ? 1 : match->level;
    luaL_checkstack(match->L, count, "too many captures");
    for (int i = 0; i < count; i++) pattern_push_capture(match, i, start, end);
    return count;
}
