/* text_buffer: bytes that a library builds and then gives to Lua as a string.
 *
 * A short text stays within the struct, on the C stack. A longer one lies in a userdata in a slot
 * of the Lua stack, so the machine counts and bounds it, and an error that leaves the C function
 * leaks nothing: what the slot held is garbage then. No userdata has a finalizer, which could fail
 * itself when memory is short. */
#ifndef PACKLIST_LUA_TEXT_BUFFER_H
#define PACKLIST_LUA_TEXT_BUFFER_H

#include <lua5.1/lua.h>
#include <stddef.h>
#include <string.h>

#ifdef TINY_LIMITS
enum { TEXT_BUFFER_LOCAL = 8 };
#else
enum { TEXT_BUFFER_LOCAL = 2048 };
#endif

struct text_buffer {
    lua_State *lua;
    char *ptr; /* the text: `local`, or the userdata */
    size_t len, capacity;
    int slot; /* of the Lua stack: nil, or the userdata */
    char local[TEXT_BUFFER_LOCAL];
};

/* Begins an empty text and pushes its slot, which must stay where it is until the text is no longer
 * needed. No allocation. */
void text_buffer_init(struct text_buffer *text, lua_State *L);

/* text_buffer_reserve's slow path. */
void text_buffer_grow(struct text_buffer *text, size_t more);

/* Makes room for `more` bytes after the text and returns its place there. The pointer is valid
 * until the next call; the caller adds to `len` what it has written. Raises "not enough memory".
 * Amortised O(1) per byte. */
static inline char *text_buffer_reserve(struct text_buffer *text, size_t more) {
    if (text->capacity - text->len < more) text_buffer_grow(text, more);
    return text->ptr + text->len;
}

/* Appends. May raise "not enough memory". */
static inline void text_buffer_append(struct text_buffer *text, const void *bytes, size_t len) {
    char *end = text_buffer_reserve(text, len);
    if (len != 0) memcpy(end, bytes, len);
    text->len += len;
}

static inline void text_buffer_byte(struct text_buffer *text, int byte) {
    *text_buffer_reserve(text, 1) = (char)byte;
    text->len++;
}

/* Pushes the text as a Lua string. Raises "not enough memory". O(length). */
void text_buffer_push(const struct text_buffer *text);

#endif
