#define _GNU_SOURCE /* for memmem and explicit_bzero */
#include "base/text/secret.h"

/* --- Clearing --- */

void secret_clear(void *text, size_t len) {
    if (len > 0) explicit_bzero(text, len);
}

void secret_free(sds text) {
    if (text) secret_clear(text, sds_capacity(text));
    sds_free(text);
}

sds secret_reserve(sds text, size_t more) {
    if (sds_available(text) >= more) return text;
    sds moved = sds_grow(sds_new(SLICE("")), 2 * sds_len(text) + more);
    moved = sds_append(moved, sds_slice(text));
    secret_free(text);
    return moved;
}

/* --- Names --- */

static struct slice after(struct slice text, size_t count) {
    return slice_make(text.ptr + count, text.len - count);
}

bool secret_is_near(struct slice word, const char *name) {
    while (word.len > 0 && *name && ascii_lower(word.ptr[0]) == *name) {
        word = after(word, 1);
        name++;
    }
    if (word.len == 0) return !name[0] || !name[1];
    struct slice rest = after(word, 1);
    if (slice_is(rest, name)) return true; /* one too much */
    if (!*name) return false;
    if (slice_is(word, name + 1) || slice_is(rest, name + 1)) return true; /* missing, or wrong */
    return rest.len > 0 && name[1] && ascii_lower(word.ptr[0]) == name[1] &&
           ascii_lower(rest.ptr[0]) == name[0] && slice_is(after(rest, 1), name + 2);
}

static struct slice head_of(struct slice word) {
    return slice_make(word.ptr, word.len < SECRET_NAME_MAX ? word.len : SECRET_NAME_MAX);
}

static bool contains(struct slice word, struct slice part) {
    for (size_t i = 0; i + part.len <= word.len; i++)
        if (slice_equal_nocase(slice_make(word.ptr + i, part.len), part)) return true;
    return false;
}

bool secret_is_directive(struct slice word) {
    static const char *const names[] = {
        "requirepass", "auth",        "masterauth",        "masteruser",
        "primaryauth", "primaryuser", "tls-key-file-pass", "tls-client-key-file-pass"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (secret_is_near(word, names[i])) return true;
    return contains(head_of(word), SLICE("pass")); /* require-pass, password … */
}

static bool is_quote(char c) {
    return c == '"' || c == '\'';
}

static bool ends_name(char c) {
    return is_quote(c) || (c != 0 && strchr("=:,;| \t", c));
}

struct slice secret_name(struct slice word) {
    struct slice head = head_of(word);
    size_t len = head.len > 0 && is_quote(head.ptr[0]) ? 1 : 0;
    while (len < head.len && !ends_name(head.ptr[len])) len++;
    return len < head.len ? slice_make(word.ptr, len) : word;
}

/* --- Texts --- */

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0;
}

static struct slice next_word(struct slice text) {
    size_t begin = 0;
    while (begin < text.len && is_blank(text.ptr[begin])) begin++;
    size_t end = begin;
    while (end < text.len && !is_blank(text.ptr[end])) end++;
    return slice_make(text.ptr + begin, end - begin);
}

/* Returns whether the word, which may still be quoted, may be or hold a rule of a user with a
 * password or a hash. What a backslash stands for is known only to who parses the line. A "#" alone
 * begins a comment. */
static bool may_hold_password_rule(struct slice word) {
    bool begins = true; /* a rule, after quotes and parentheses */
    if (slice_equal(word, SLICE("#"))) return false;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        if (c == '\\' || (begins && memchr("><#!", c, 4))) return true;
        begins = is_quote(c) || c == '(';
    }
    return false;
}

static bool has_quote(struct slice word) {
    for (size_t i = 0; i < word.len; i++)
        if (is_quote(word.ptr[i])) return true;
    return false;
}

/* Returns how many bytes of the line may be shown: up to a password, or the end. */
static size_t shown_of(struct slice line) {
    struct slice word = next_word(line);
    bool is_user = slice_is(word, "user"); /* its rules are "nopass", "resetpass" … */
    if (has_quote(word)) return 0;
    while (word.len > 0) {
        size_t begin = (size_t)(word.ptr - line.ptr), end = begin + word.len;
        if (may_hold_password_rule(word)) return begin > 0 ? begin - 1 : 0;
        while (word.len > 0 && is_quote(word.ptr[0])) word = after(word, 1);
        struct slice name = secret_name(word);
        if (!is_user && secret_is_directive(name)) return (size_t)(name.ptr - line.ptr) + name.len;
        word = next_word(after(line, end));
    }
    return line.len;
}

sds secret_append_line(sds out, struct slice line) {
    size_t shown = shown_of(line);
    if (shown == line.len) return sds_append(out, line);
    if (shown > 0) out = sds_append(sds_append(out, slice_make(line.ptr, shown)), SLICE(" "));
    return sds_append(out, SLICE(SECRET_SHOWN));
}

sds secret_append_without(sds out, struct slice text, struct slice secret) {
    const char *at;
    while (secret.len > 0 && text.len > 0 &&
           (at = memmem(text.ptr, text.len, secret.ptr, secret.len))) {
        size_t before = (size_t)(at - text.ptr);
        out = sds_append(sds_append(out, slice_make(text.ptr, before)), SLICE(SECRET_SHOWN));
        text = after(text, before + secret.len);
    }
    return sds_append(out, text);
}
