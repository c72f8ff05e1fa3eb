#include "base/lzf/lzf_internal.h"

/* One command of a stream. */
struct command {
    const uint8_t *literals; /* NULL: a copy */
    size_t len;              /* bytes of text */
    size_t distance;         /* of a copy */
    const uint8_t *next;
};

static struct command read_command(const uint8_t *p) {
    unsigned byte = *p;
    if (byte < LZF_LITERALS_MAX)
        return (struct command){.literals = p + 1, .len = byte + 1, .next = p + 2 + byte};
    size_t len = byte >> 5;
    size_t high = (byte & 31) << 8;
    if (len == LONG_COPY) len += *++p;
    return (struct command){.len = len + 2, .distance = (high | p[1]) + 1, .next = p + 2};
}

size_t lzf_trim(struct slice stream, size_t front, size_t back, uint8_t *out) {
    const uint8_t *p = (const uint8_t *)stream.ptr, *end = p + stream.len;
    uint8_t *start = out;
    size_t kept = 0; /* bytes of the text after its front */
    struct command command = read_command(p);
    if (!command.literals || command.len < front) return 0;
    command.literals += front;
    command.len -= front;
    while (command.next < end) {
        if (command.literals) {
            out = write_literals(out, command.literals, command.len);
        } else {
            if (command.distance > kept) return 0;
            memcpy(out, p, (size_t)(command.next - p));
            out += command.next - p;
        }
        kept += command.len;
        p = command.next;
        command = read_command(p);
    }
    if (!command.literals || command.len < back) return 0;
    return (size_t)(write_literals(out, command.literals, command.len - back) - start);
}
