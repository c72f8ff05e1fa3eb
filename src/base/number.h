/* number: text to numbers and back, exactly as the protocol and the data formats want them. */
#ifndef PACKLIST_BASE_NUMBER_H
#define PACKLIST_BASE_NUMBER_H

#include "base/slice.h"

#include <stdint.h>

/* Longest decimal text of an int64 ("-9223372036854775808"), without terminator. */
enum { INT64_TEXT_MAX = 20 };

/* Longest text that number_format_double writes, with terminator. */
enum { DOUBLE_TEXT_MAX = 40 };

/* Parses a *canonical* decimal: optional '-', no '+', no leading zeros or blanks, "-0" refused,
 * within int64. What number_format_int64 writes is accepted and nothing else, so text → number →
 * text is the identity: the rule by which list elements and strings become integers. O(len), no
 * locale. Returns false, leaving *value alone, when `text` is not one. */
bool number_parse_int64(struct slice text, int64_t *value);

/* As above for 0 … 2^64-1. */
bool number_parse_uint64(struct slice text, uint64_t *value);

/* Parses a finite or infinite floating-point number: what strtod accepts, the whole of `text`, no
 * leading blanks, no NaN, and not out of range. At most 256 bytes long. */
bool number_parse_double(struct slice text, double *value);

/* As number_parse_double in long double precision: timeouts and INCRBYFLOAT. */
bool number_parse_long_double(struct slice text, long double *value);

/* Parses a size with an optional unit in any case: 100, 1k = 1000, 1kb = 1024, m, mb, g, gb, 1b.
 * Not negative. */
bool number_parse_memory(struct slice text, uint64_t *bytes);

/* Writes the decimal text (no terminator) at `dst`, which has room for INT64_TEXT_MAX bytes, two
 * digits a step; returns its length. */
size_t number_format_int64(char *dst, int64_t value);
size_t number_format_uint64(char *dst, uint64_t value);

/* Length of the text that number_format_int64 would write. O(1). */
size_t number_int64_length(int64_t value);

/* Writes the shortest text that reads back as `value` (at most 17 significant digits), "inf",
 * "-inf" or "nan", NUL-terminated; `dst` has room for DOUBLE_TEXT_MAX bytes; returns its length.
 * What RESP3 doubles use. */
size_t number_format_double(char *dst, double value);

#endif
