#define _GNU_SOURCE /* for memmem and explicit_bzero */
#include "base/secret.h"

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
    static const char *const names[] = {"requirepass",
                                        "masterauth",
                                        "masteruser",
                                        "primaryauth",
                                        "primaryuser",
                                        "tls-key-file-pass",
                                        "tls-client-key-file-pass"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (secret_is_near(word, names[i])) return true;
    return contains(head_of(word), SLICE("pass")); /* require-pass, password … */
}

struct slice secret_name(struct slice word) {
    struct slice head = head_of(word);
    for (size_t i = 0; i < head.len; i++)
        if (head.ptr[i] == '=' || head.ptr[i] == ':') return slice_make(word.ptr, i);
    return word;
}

/* --- Texts --- */

static struct slice next_word(struct slice text) {
    size_t begin = 0;
    while (begin < text.len && strchr(" \t", text.ptr[begin])) begin++;
    size_t end = begin;
    while (end < text.len && !strchr(" \t", text.ptr[end])) end++;
    return slice_make(text.ptr + begin, end - begin);
}

/* Returns whether the word of a user's line is a rule with a password or a hash. */
static bool is_password_rule(struct slice word) {
    while (word.len > 0 && strchr("\"'(", word.ptr[0])) word = after(word, 1);
    return word.len > 0 && memchr("><#!", word.ptr[0], 4);
}

/* Returns how many bytes of the line may be shown: up to a password, or the end. */
static size_t shown_of(struct slice line) {
    struct slice word = next_word(line);
    bool is_user = slice_is(word, "user");
    while (word.len > 0) {
        size_t begin = (size_t)(word.ptr - line.ptr), end = begin + word.len;
        if (is_user && is_password_rule(word)) return begin - 1;
        if (!is_user && secret_is_directive(secret_name(word)))
            return begin + secret_name(word).len;
        word = next_word(after(line, end));
    }
    return line.len;
}

sds secret_append_line(sds out, struct slice line) {
    size_t shown = shown_of(line);
    out = sds_append(out, slice_make(line.ptr, shown));
    return shown < line.len ? sds_append(out, SLICE(" " SECRET_SHOWN)) : out;
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
