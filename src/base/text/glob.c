/* A pattern is a sequence of tokens: '*', or one that matches exactly one byte ('?', a class, a
 * literal). When the text does not match after a '*', it is enough to let the last '*' take one
 * byte more: whatever an earlier '*' could match in addition, the last one can match as well. So
 * one position to go back to is enough. */
#include "base/text/glob.h"

static unsigned char fold(char c, bool nocase) {
    return (unsigned char)(nocase ? ascii_lower(c) : c);
}

static bool in_range(char low, char high, char c, bool nocase) {
    if ((unsigned char)low > (unsigned char)high) {
        char swap = low;
        low = high;
        high = swap;
    }
    unsigned char byte = fold(c, nocase);
    return byte >= fold(low, nocase) && byte <= fold(high, nocase);
}

/* Matches `c` with the class whose '[' is at `at`. Returns what follows the class, and in *matches
 * whether `c` is in it. The order of the cases is Redis's: an escape, the closing ']', a range
 * (whose ends may be any byte, even ']' or '\'), a single byte. Escaped bytes are compared as they
 * are, also when case is ignored. */
static const char *match_class(const char *at, const char *end, char c, bool nocase,
                               bool *matches) {
    at++;
    bool inverted = at < end && *at == '^', found = false;
    at += inverted;
    while (at < end) {
        if (*at == '\\' && end - at >= 2) {
            found |= at[1] == c;
            at += 2;
        } else if (*at == ']') {
            at++;
            break;
        } else if (end - at >= 3 && at[1] == '-') {
            found |= in_range(at[0], at[2], c, nocase);
            at += 3;
        } else {
            found |= fold(*at, nocase) == fold(c, nocase);
            at++;
        }
    }
    *matches = found != inverted;
    return at;
}

/* Matches `c` with the token at `at`, which is not a '*'. Returns what follows it, or NULL. */
static const char *match_one(const char *at, const char *end, char c, bool nocase) {
    bool matches;
    switch (*at) {
    case '?': return at + 1;
    case '[': at = match_class(at, end, c, nocase, &matches); return matches ? at : NULL;
    case '\\':
        if (end - at >= 2) at++; /* a trailing backslash stands for itself */
        break;
    default: break;
    }
    return fold(*at, nocase) == fold(c, nocase) ? at + 1 : NULL;
}

bool glob_match(struct slice pattern, struct slice text, bool nocase) {
    const char *p = pattern.ptr, *p_end = slice_end(pattern);
    const char *t = text.ptr, *t_end = slice_end(text);
    const char *after_star = NULL; /* the token after the last '*', once there was one */
    const char *star_end = NULL;   /* the end of the text that this '*' matches */
    if (text.len == 0) return pattern.len == 0;
    while (t < t_end) {
        if (p < p_end && *p == '*') {
            after_star = ++p;
            star_end = t;
            if (p == p_end) return true;
            continue;
        }
        const char *next = p < p_end ? match_one(p, p_end, *t, nocase) : NULL;
        if (next != NULL) {
            p = next;
            t++;
        } else if (after_star != NULL) {
            p = after_star;
            t = ++star_end;
        } else {
            return false;
        }
    }
    while (p < p_end && *p == '*') p++;
    return p == p_end;
}

bool glob_is_match_all(struct slice pattern) {
    return pattern.len == 1 && pattern.ptr[0] == '*';
}
