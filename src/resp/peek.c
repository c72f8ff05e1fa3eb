#include "resp/peek.h"

enum { ARGUMENTS_MAX = 16, NUMBER_MAX = 9999 };

/* Reads "<type><number>\r\n" and returns what follows it, or NULL. */
static inline const char *read_header(const char *at, const char *end, char type, size_t *number) {
    enum { SHORTEST = 4 };
    if (end - at < SHORTEST || at[0] != type) return NULL;
    size_t value = (unsigned char)(at[1] - '0');
    if (value > 9) return NULL;
    for (at += 2; end - at >= 2; at++) {
        unsigned digit = (unsigned char)(*at - '0');
        if (digit > 9) break;
        value = value * 10 + digit;
        if (value > NUMBER_MAX) return NULL;
    }
    if (end - at < 2 || at[0] != '\r') return NULL;
    *number = value;
    return at + 2;
}

/* The arguments from `from` to below `to` go to argv[0] and on. Returns the request's length and
 * sets *argc, or returns 0. Inlined because nearly every request of a pipeline takes resp_peek,
 * where the comparisons are with constants. */
static inline __attribute__((always_inline)) size_t
peek(const char *bytes, size_t len, size_t from, size_t to, struct slice *argv, size_t *argc) {
    const char *end = bytes + len;
    size_t size;
    const char *at = read_header(bytes, end, '*', argc);
    if (at == NULL || *argc - 1 >= ARGUMENTS_MAX) return 0; /* 0 wraps around */
    for (size_t i = 0; i < *argc; i++) {
        at = read_header(at, end, '$', &size);
        if (at == NULL || (size_t)(end - at) < size + 2) return 0;
        if (i >= from && i < to) argv[i - from] = slice_make(at, size);
        at += size + 2;
    }
    return (size_t)(at - bytes);
}

size_t resp_peek(const char *bytes, size_t len, struct slice *second) {
    size_t argc;
    *second = slice_make(NULL, 0);
    return peek(bytes, len, 1, 2, second, &argc);
}

size_t resp_peek_at(const char *bytes, size_t len, size_t index, struct slice *argument) {
    size_t argc;
    *argument = slice_make(NULL, 0);
    return peek(bytes, len, index, index + 1, argument, &argc);
}

size_t resp_peek_arguments(const char *bytes, size_t len, struct slice *argv, size_t max) {
    size_t argc;
    return peek(bytes, len, 0, max, argv, &argc) ? argc : 0;
}
