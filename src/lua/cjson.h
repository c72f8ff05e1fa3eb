/* cjson: what the parts of the library share. Scripts see it as lib_cjson.c tells. */
#ifndef PACKLIST_LUA_CJSON_H
#define PACKLIST_LUA_CJSON_H

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

#endif
