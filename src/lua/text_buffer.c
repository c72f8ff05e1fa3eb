#include "lua/text_buffer.h"

#include "lua/machine_internal.h"

/* From this size on garbage is collected when there is too little memory. */
enum { LARGE = 1 << 20 };

void text_buffer_init(struct text_buffer *text, lua_State *L) {
    text->lua = L;
    text->ptr = text->local;
    text->len = 0;
    text->capacity = sizeof(text->local);
    lua_pushnil(L);
    text->slot = lua_gettop(L);
}

void text_buffer_grow(struct text_buffer *text, size_t more) {
    lua_State *L = text->lua;
    size_t size = text->capacity * 2;
    if (size < text->len + more) size = text->len + more;
    luaL_checkstack(L, 1, "no room for a text");
    if (size >= LARGE) machine_make_room(L, size);
    char *larger = lua_newuserdata(L, size);
    if (text->len != 0) memcpy(larger, text->ptr, text->len);
    lua_replace(L, text->slot);
    text->ptr = larger;
    text->capacity = size;
}

void text_buffer_push(const struct text_buffer *text) {
    if (text->len >= LARGE) machine_make_room(text->lua, text->len);
    lua_pushlstring(text->lua, text->ptr, text->len);
}
