/* Shared by the files of the reply writer. Each function writes at `out`, where there is room, and
 * returns the position after the bytes written. */
#ifndef PACKLIST_RESP_REPLY_INTERNAL_H
#define PACKLIST_RESP_REPLY_INTERNAL_H

#include "base/text/number.h"
#include "resp/digits.h"
#include "resp/reply.h"

#include <stddef.h>

/* Most bytes of "<type><int64>\r\n", with the bytes that digits_write may write after it. */
enum { REPLY_LINE_MAX = 1 + INT64_TEXT_MAX + 2 + DIGITS_SLACK };

/* "$<length>\r\n" for lengths below 100, padded to 8 bytes. */
enum { REPLY_SHORT_LENGTHS = 100 };
extern const char reply_length_headers[REPLY_SHORT_LENGTHS][8];

/* The length of such a header without the padding. */
static inline size_t reply_length_header_size(size_t len) {
    return len > 9 ? 5 : 4;
}

static inline char *reply_write_line_end(char *out) {
    memcpy(out, "\r\n", 2);
    return out + 2;
}

/* "<type><number>\r\n", for any number. Needs DIGITS_SLACK bytes of room after it. */
static inline char *reply_write_header(char *out, char type, uint64_t number) {
    if (number < REPLY_SHORT_LENGTHS) {
        memcpy(out, reply_length_headers[number], 8);
        *out = type;
        return out + reply_length_header_size(number);
    }
    *out++ = type;
    return reply_write_line_end(digits_write(out, number));
}

#endif
