/* cjson: what the parts of the library share. Scripts see it as lib_cjson.c tells. */
#ifndef PACKLIST_LUA_CJSON_H
#define PACKLIST_LUA_CJSON_H

#include "base/slice.h"
#include "lua/text_buffer.h"

#include <stdbool.h>

enum cjson_invalid { CJSON_INVALID_ERROR, CJSON_INVALID_WRITE, CJSON_INVALID_NULL };

/* Settings of one instance of the library, which its functions have as their first upvalue. */
struct cjson_settings {
    int sparse_ratio, sparse_safe; /* an array is sparse beyond `safe` when 1 of `ratio` is there */
    int encode_depth, decode_depth;
    int precision;                     /* digits of numbers: 1 to CJSON_PRECISION_MAX */
    enum cjson_invalid encode_invalid; /* what becomes of infinite numbers and NaN */
    bool sparse_convert;               /* sparse arrays become objects */
    bool decode_invalid;               /* accept hexadecimal, infinite numbers and NaN */
    bool mark_arrays;                  /* decoded arrays have a metatable, see below */
    bool keep_buffer;                  /* kept for callers, without effect */
};

/* A table with this field in its metatable is an array even when it is empty. */
#define CJSON_ARRAY_MARK "__is_cjson_array"

/* The lua_CFunctions encode and decode. */
int cjson_encode(lua_State *L);
int cjson_decode(lua_State *L);

/* --- Numbers, as Redis's cjson reads and writes them (cjson_number.c) --- */

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
