/* cjson_number: numbers of JSON texts, as Redis's cjson reads and writes them. */
#ifndef PACKLIST_LUA_CJSON_NUMBER_H
#define PACKLIST_LUA_CJSON_NUMBER_H

#include "base/slice.h"

/* Digits that are written at most, and how many bytes that may take: "-1.2345678901234e+308". */
enum { CJSON_PRECISION_MAX = 14, CJSON_NUMBER_MAX = 32 };

/* Reads the number with which `text` begins, behind which there is a NUL: all that strtod accepts,
 * so "0x10", "inf" and "nan" too, but no blanks before it. Returns its end, or NULL when there is
 * no number. O(length), without strtod for most decimals of up to 15 digits. */
const char *cjson_parse_number(struct slice text, double *value);

/* Writes what printf makes of `value` with %.<precision>g, `precision` being 1 to
 * CJSON_PRECISION_MAX, at `dst`, which has room for CJSON_NUMBER_MAX bytes. Returns the length;
 * adds no NUL. Integers and most decimals of up to six places take no printf. */
size_t cjson_format_number(char *dst, double value, int precision);

#endif
