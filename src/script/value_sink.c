#include "script/value_sink.h"

#include "lua/machine.h"

#include <assert.h>

static struct value_sink *of(struct reply_sink *sink) {
    return (struct value_sink *)sink;
}

/* --- Placing values --- */

void value_sink_wrap(lua_State *L, const char *name) {
    lua_createtable(L, 0, 1);
    lua_insert(L, -2);
    lua_pushstring(L, name);
    lua_insert(L, -2);
    lua_rawset(L, -3);
}

/* A map gets a key, which stays on the stack, and then its value. */
static void place_in_map(lua_State *L, const struct value_sink_frame *frame) {
    if (frame->index % 2 == 1) return;
    if (lua_isnil(L, -2))
        lua_pop(L, 2);
    else
        lua_rawset(L, -3);
}

static void place_in_set(lua_State *L) {
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        return;
    }
    lua_pushboolean(L, true);
    lua_rawset(L, -3);
}

/* Closes the innermost aggregate, which is on top of the stack. */
static void close_frame(struct value_sink *sink) {
    enum reply_aggregate kind = sink->frames[--sink->depth].kind;
    if (kind == REPLY_MAP) value_sink_wrap(sink->L, "map");
    if (kind == REPLY_SET) value_sink_wrap(sink->L, "set");
}

/* Returns whether a value of `size` bytes may be added. */
static bool admit(struct value_sink *sink, size_t size) {
    if (!sink->is_full && size <= sink->memory_max &&
        machine_memory(sink->machine) <= sink->memory_max - size)
        return true;
    sink->is_full = true;
    return false;
}

/* Puts the value on top of the stack into the aggregate that is open, and closes those that are
 * complete now. */
static void place(struct value_sink *sink) {
    while (sink->depth > 0) {
        struct value_sink_frame *frame = &sink->frames[sink->depth - 1];
        frame->index++;
        switch (frame->kind) {
        case REPLY_ARRAY: lua_rawseti(sink->L, -2, frame->index); break;
        case REPLY_MAP: place_in_map(sink->L, frame); break;
        case REPLY_SET: place_in_set(sink->L); break;
        }
        if (frame->is_open_ended) {
            admit(sink, 0); /* its size was not known before */
            return;
        }
        if (--frame->left > 0) return;
        close_frame(sink);
    }
}

/* --- Values --- */

static void push_text(struct value_sink *sink, struct slice text) {
    lua_pushlstring(sink->L, text.len > 0 ? text.ptr : "", text.len);
}

/* {name = text} */
static void add_named(struct value_sink *sink, const char *name, struct slice text) {
    if (!admit(sink, text.len)) return;
    push_text(sink, text);
    value_sink_wrap(sink->L, name);
    place(sink);
}

static void add_status(struct reply_sink *sink, struct slice text) {
    add_named(of(sink), "ok", text);
}

struct slice value_sink_push_error(lua_State *L, struct slice text) {
    size_t len;
    lua_createtable(L, 0, 2);
    lua_pushliteral(L, "err");
    lua_pushlstring(L, text.len > 0 ? text.ptr : "", text.len);
    const char *kept = lua_tolstring(L, -1, &len);
    lua_rawset(L, -3);
    lua_pushliteral(L, "ignore_error_stats_update");
    lua_pushboolean(L, true);
    lua_rawset(L, -3);
    return slice_make(kept, len);
}

static void add_error(struct reply_sink *sink, struct slice text) {
    sink->error = value_sink_push_error(of(sink)->L, text);
    place(of(sink));
}

static void add_integer(struct reply_sink *sink, int64_t value) {
    if (of(sink)->is_full) return;
    lua_pushnumber(of(sink)->L, (lua_Number)value);
    place(of(sink));
}

static void add_bulk(struct reply_sink *sink, struct slice text) {
    if (!admit(of(sink), text.len)) return;
    push_text(of(sink), text);
    place(of(sink));
}

static void add_null(struct reply_sink *sink, enum reply_null kind) {
    if (of(sink)->is_full) return;
    if (kind == REPLY_NULL_RESP3)
        lua_pushnil(of(sink)->L);
    else
        lua_pushboolean(of(sink)->L, false);
    place(of(sink));
}

static void add_boolean(struct reply_sink *sink, bool value) {
    if (of(sink)->is_full) return;
    lua_pushboolean(of(sink)->L, value);
    place(of(sink));
}

static void add_floating(struct reply_sink *sink, double value) {
    if (!admit(of(sink), 0)) return;
    lua_pushnumber(of(sink)->L, value);
    value_sink_wrap(of(sink)->L, "double");
    place(of(sink));
}

static void add_verbatim(struct reply_sink *sink, struct slice text, const char format[3]) {
    if (!admit(of(sink), text.len)) return;
    lua_State *L = of(sink)->L;
    lua_createtable(L, 0, 2);
    lua_pushliteral(L, "string");
    push_text(of(sink), text);
    lua_rawset(L, -3);
    lua_pushliteral(L, "format");
    lua_pushlstring(L, format, 3);
    lua_rawset(L, -3);
    value_sink_wrap(L, "verbatim_string");
    place(of(sink));
}

static void add_big_number(struct reply_sink *sink, struct slice digits) {
    add_named(of(sink), "big_number", digits);
}

/* --- Aggregates --- */

/* Returns whether the stack has room for one more aggregate. The stack of a function that Lua
 * calls has LUA_MINSTACK free slots, of which an open aggregate takes two. */
static bool has_slots(struct value_sink *sink) {
    enum { OF_AGGREGATE = 2, OF_VALUE = 6 };
    if (sink->depth < (LUA_MINSTACK - OF_VALUE) / OF_AGGREGATE) return true;
    if (!lua_checkstack(sink->L, OF_AGGREGATE + OF_VALUE)) sink->is_full = true;
    return !sink->is_full;
}

static void open_frame(struct value_sink *sink, struct value_sink_frame frame) {
    assert(sink->depth < VALUE_SINK_DEPTH);
    sink->frames[sink->depth++] = frame;
}

static void add_aggregate(struct reply_sink *reply_sink, enum reply_aggregate kind,
                          size_t members) {
    struct value_sink *sink = of(reply_sink);
    enum { SLOT_SIZE = 16 }; /* of an array of Lua; a member of another table takes more */
    if (!admit(sink, members < SIZE_MAX / SLOT_SIZE ? members * SLOT_SIZE : SIZE_MAX) ||
        !has_slots(sink))
        return;
    int size = (int)members; /* few enough, or they would not fit into the memory */
    lua_createtable(sink->L, kind == REPLY_ARRAY ? size : 0, kind == REPLY_ARRAY ? 0 : size);
    open_frame(sink, (struct value_sink_frame){.kind = kind, .left = members});
    if (members > 0) return;
    close_frame(sink);
    place(sink);
}

static void begin_aggregate(struct reply_sink *reply_sink) {
    struct value_sink *sink = of(reply_sink);
    if (!admit(sink, 0) || !has_slots(sink)) return;
    lua_newtable(sink->L);
    open_frame(sink, (struct value_sink_frame){.kind = REPLY_ARRAY, .is_open_ended = true});
}

/* Replaces the array on top of the stack, which turns out to be a map or a set, by its members. */
static void convert_array(lua_State *L, enum reply_aggregate kind, int members) {
    int step = kind == REPLY_MAP ? 2 : 1;
    lua_createtable(L, 0, members / step);
    for (int i = 1; i + step - 1 <= members; i += step) {
        lua_rawgeti(L, -2, i);
        if (kind == REPLY_MAP)
            lua_rawgeti(L, -3, i + 1);
        else
            lua_pushboolean(L, true);
        lua_rawset(L, -3);
    }
    lua_replace(L, -2);
}

static void end_aggregate(struct reply_sink *reply_sink, enum reply_aggregate kind) {
    struct value_sink *sink = of(reply_sink);
    if (sink->is_full) return;
    struct value_sink_frame *frame = &sink->frames[sink->depth - 1];
    if (kind != REPLY_ARRAY) convert_array(sink->L, kind, frame->index);
    frame->kind = kind;
    close_frame(sink);
    place(sink);
}

static void drop(struct reply_sink *sink) {
    lua_settop(of(sink)->L, of(sink)->base);
    of(sink)->depth = 0;
    of(sink)->is_full = false;
    sink->error = (struct slice){0};
}

/* --- Beginning and end --- */

static const struct reply_sink_functions functions = {
    .status = add_status,
    .error = add_error,
    .integer = add_integer,
    .bulk = add_bulk,
    .null = add_null,
    .boolean = add_boolean,
    .floating = add_floating,
    .verbatim = add_verbatim,
    .big_number = add_big_number,
    .aggregate = add_aggregate,
    .begin = begin_aggregate,
    .end = end_aggregate,
    .drop = drop,
};

void value_sink_begin(struct value_sink *sink, lua_State *L, struct machine *machine,
                      size_t memory_max) {
    sink->sink = (struct reply_sink){.functions = &functions};
    sink->L = L;
    sink->machine = machine;
    sink->memory_max = memory_max;
    sink->is_full = false;
    sink->base = lua_gettop(L);
    sink->depth = 0;
}

bool value_sink_end(struct value_sink *sink) {
    if (sink->is_full) {
        lua_settop(sink->L, sink->base);
        return false;
    }
    assert(sink->depth == 0 && lua_gettop(sink->L) == sink->base + 1);
    return true;
}
