/* cmsgpack: what the parts of the library share. Scripts see it as lib_cmsgpack.c tells. */
#ifndef PACKLIST_LUA_CMSGPACK_H
#define PACKLIST_LUA_CMSGPACK_H

#include <lua5.1/lua.h>

/* First bytes of values. Those of the types with FIX also hold the number or the length. */
enum {
    MSGPACK_FIX_MAP = 0x80,
    MSGPACK_FIX_ARRAY = 0x90,
    MSGPACK_FIX_STRING = 0xa0,
    MSGPACK_NIL = 0xc0,
    MSGPACK_FALSE = 0xc2,
    MSGPACK_TRUE = 0xc3,
    MSGPACK_FLOAT = 0xca,
    MSGPACK_DOUBLE = 0xcb,
    MSGPACK_UINT8 = 0xcc, /* then 16, 32 and 64 bits */
    MSGPACK_UINT16 = 0xcd,
    MSGPACK_UINT32 = 0xce,
    MSGPACK_UINT64 = 0xcf,
    MSGPACK_INT8 = 0xd0,
    MSGPACK_INT16 = 0xd1,
    MSGPACK_INT32 = 0xd2,
    MSGPACK_INT64 = 0xd3,
    MSGPACK_STRING8 = 0xd9,
    MSGPACK_STRING16 = 0xda,
    MSGPACK_STRING32 = 0xdb,
    MSGPACK_ARRAY16 = 0xdc,
    MSGPACK_ARRAY32 = 0xdd,
    MSGPACK_MAP16 = 0xde,
    MSGPACK_MAP32 = 0xdf,
    MSGPACK_FIX_NEGATIVE = 0xe0, /* -32 … -1 */
};

/* The lua_CFunctions. */
int cmsgpack_pack(lua_State *L);
int cmsgpack_unpack(lua_State *L);
int cmsgpack_unpack_one(lua_State *L);
int cmsgpack_unpack_limit(lua_State *L);

#endif
