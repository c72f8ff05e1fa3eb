#include "script/value_reply.h"

#include "base/memory/alloc.h"
#include "lua/machine.h"

/* The names of fields with a meaning stand on the stack: no table needs new strings. */
enum field { ERR, OK, DOUBLE, MAP, SET, BIG_NUMBER, VERBATIM_STRING, FIELD_COUNT };

struct writer {
    lua_State *L;
    struct reply *reply;
    int protocol; /* that the script has chosen */
    int names;    /* index of the first name on the stack */
    size_t quota; /* bytes of values that may be written before the watch is asked */
    size_t left;  /* … and after that */
    bool is_full; /* there was more than that, or the run has ended: the reply will be dropped */
    int depth;    /* of tables */
    size_t steps; /* of counting, since the watch was asked */
};

enum { SLOTS_PER_LEVEL = 4 };

/* What Lua takes at least for a table and for another value, beside its text. */
enum { BYTES_PER_TABLE = 64, BYTES_PER_VALUE = 16 };

/* The watch is asked after so many members were counted, or bytes of values written. */
enum { STEPS_MAX = 4096, QUOTA = STEPS_MAX * BYTES_PER_VALUE };

/* Inserting the header of an aggregate when its members are written moves these. Deeper than this
 * each level would move the same bytes once more, so members are counted before they are written.
 * So are those of large tables. */
#ifdef TINY_LIMITS
enum { INSERTED_DEPTH_MAX = 1, INSERTED_LENGTH_MAX = 3 };
#else
enum { INSERTED_DEPTH_MAX = 2, INSERTED_LENGTH_MAX = 1024 };
#endif

static void write_value(struct writer *writer, int index);

/* Pushes table[name] without metamethods. Returns true if it is of `type`; otherwise pushes
 * nothing. */
static bool push_named(lua_State *L, int table, const char *name, int type) {
    lua_pushstring(L, name);
    lua_rawget(L, table);
    if (lua_type(L, -1) == type) return true;
    lua_pop(L, 1);
    return false;
}

/* As push_named, for one of the names. */
static bool push_field(struct writer *writer, int table, enum field field, int type) {
    lua_State *L = writer->L;
    lua_pushvalue(L, writer->names + (int)field);
    lua_rawget(L, table);
    if (lua_type(L, -1) == type) return true;
    lua_pop(L, 1);
    return false;
}

/* Returns whether the reply goes on. */
static bool ask_watch(struct writer *writer) {
    if (!machine_goes_on(machine_of(writer->L))) writer->is_full = true;
    return !writer->is_full;
}

/* Counts a member. Returns whether the reply goes on. */
static bool count_step(struct writer *writer) {
    if (++writer->steps < STEPS_MAX) return !writer->is_full;
    writer->steps = 0;
    return ask_watch(writer);
}

/* Renews the quota so that it has at least `size` bytes. Returns false, and leaves none, when the
 * reply does not go on. */
static __attribute__((noinline)) bool renew_quota(struct writer *writer, size_t size) {
    writer->left += writer->quota;
    writer->quota = 0;
    if (!ask_watch(writer)) return false;
    size_t wanted = size > QUOTA ? size : QUOTA;
    writer->is_full = size > writer->left;
    if (writer->is_full) return false;
    writer->quota = wanted < writer->left ? wanted : writer->left;
    writer->left -= writer->quota;
    return true;
}

/* Returns whether `size` more bytes may be written. */
static bool take_bytes(struct writer *writer, size_t size) {
    if (size > writer->quota && !renew_quota(writer, size)) return false;
    writer->quota -= size;
    return true;
}

/* Returns the text that is about to be written; an empty one if it does not fit. */
static struct slice take_text(struct writer *writer, int index) {
    size_t len;
    const char *text = lua_tolstring(writer->L, index, &len);
    return take_bytes(writer, len) ? slice_make(text, len) : SLICE("");
}

/* The same for the text of an error or a status, which ends with a NUL, as in Redis. */
static struct slice take_line(struct writer *writer, int index) {
    struct slice text = take_text(writer, index);
    return slice_make(text.ptr, strnlen(text.ptr, text.len));
}

/* --- Lines --- */

/* Calls `write` with a copy of the text without line breaks, which would end the line. */
static void write_line(struct reply *reply, void (*write)(struct reply *, struct slice),
                       struct slice text) {
    char *line = mem_alloc(text.len + 1);
    for (size_t i = 0; i < text.len; i++) {
        bool breaks = text.ptr[i] == '\r' || text.ptr[i] == '\n';
        line[i] = breaks ? ' ' : text.ptr[i];
    }
    write(reply, slice_make(line, text.len));
    mem_free(line);
}

/* The format has three characters: cut, or filled with blanks. */
static void write_verbatim(struct writer *writer, int table) {
    lua_State *L = writer->L;
    int top = lua_gettop(L);
    if (push_named(L, table, "string", LUA_TSTRING) &&
        push_named(L, table, "format", LUA_TSTRING)) {
        const char *given = lua_tostring(L, -1);
        char format[3] = {' ', ' ', ' '};
        memcpy(format, given, strnlen(given, 3));
        reply_verbatim(writer->reply, take_text(writer, -2), format);
    } else {
        reply_array(writer->reply, 0);
    }
    lua_settop(L, top);
}

/* --- Aggregates --- */

/* Returns whether the members of a table are counted before they are written. */
static bool is_counted_first(const struct writer *writer, int table) {
    return writer->depth > INSERTED_DEPTH_MAX || lua_objlen(writer->L, table) > INSERTED_LENGTH_MAX;
}

static size_t count_elements(struct writer *writer, int table) {
    lua_State *L = writer->L;
    size_t count = 0;
    bool is_end;
    do {
        lua_rawgeti(L, table, (int)count + 1);
        is_end = lua_isnil(L, -1);
        lua_pop(L, 1);
    } while (!is_end && ++count && count_step(writer));
    return count;
}

/* Up to the first nil. */
static void write_array(struct writer *writer, int table) {
    lua_State *L = writer->L;
    bool is_counted = is_counted_first(writer, table);
    if (is_counted) reply_array(writer->reply, count_elements(writer, table));
    size_t mark = is_counted ? 0 : reply_begin(writer->reply), count = 0;
    for (;;) {
        lua_rawgeti(L, table, (int)count + 1);
        if (lua_isnil(L, -1) || writer->is_full) break;
        write_value(writer, lua_gettop(L));
        lua_pop(L, 1);
        count++;
    }
    lua_pop(L, 1);
    if (!is_counted) reply_array_end(writer->reply, mark, count);
}

/* When the reply is full the last key stays on the stack, as in write_pairs. */
static size_t count_pairs(struct writer *writer, int table) {
    lua_State *L = writer->L;
    size_t count = 0;
    lua_pushnil(L);
    for (; count_step(writer) && lua_next(L, table); lua_pop(L, 1)) count++;
    return count;
}

/* A map writes keys and values; a set has its members as keys. */
static void write_pairs(struct writer *writer, int table, bool with_values) {
    lua_State *L = writer->L;
    bool is_counted = writer->depth > INSERTED_DEPTH_MAX;
    if (is_counted)
        (with_values ? reply_map : reply_set)(writer->reply, count_pairs(writer, table));
    size_t mark = is_counted ? 0 : reply_begin(writer->reply), count = 0;
    lua_pushnil(L);
    for (; !writer->is_full && lua_next(L, table); lua_pop(L, 1), count++) {
        int value = lua_gettop(L);
        write_value(writer, value - 1);
        if (with_values) write_value(writer, value);
    }
    if (!is_counted) (with_values ? reply_map_end : reply_set_end)(writer->reply, mark, count);
}

static void write_table(struct writer *writer, int table) {
    lua_State *L = writer->L;
    struct reply *reply = writer->reply;
    if (!lua_checkstack(L, SLOTS_PER_LEVEL)) {
        reply_error(reply, "ERR reached lua stack limit");
        return;
    }
    if (push_field(writer, table, ERR, LUA_TSTRING)) {
        reply_error_text(reply, take_line(writer, -1));
    } else if (push_field(writer, table, OK, LUA_TSTRING)) {
        write_line(reply, reply_status, take_line(writer, -1));
    } else if (push_field(writer, table, DOUBLE, LUA_TNUMBER)) {
        reply_double(reply, lua_tonumber(L, -1));
    } else if (push_field(writer, table, MAP, LUA_TTABLE)) {
        write_pairs(writer, lua_gettop(L), true);
    } else if (push_field(writer, table, SET, LUA_TTABLE)) {
        write_pairs(writer, lua_gettop(L), false);
    } else if (push_field(writer, table, BIG_NUMBER, LUA_TSTRING)) {
        write_line(reply, reply_big_number, take_text(writer, -1));
    } else if (push_field(writer, table, VERBATIM_STRING, LUA_TTABLE)) {
        write_verbatim(writer, lua_gettop(L));
    } else {
        write_array(writer, table);
        return;
    }
    lua_pop(L, 1);
}

/* --- Values --- */

/* As C converts it on the processors that Redis runs on: what does not fit is INT64_MIN. */
static int64_t integer_of(lua_Number number) {
    return number >= -9223372036854775808.0 && number < 9223372036854775808.0 ? (int64_t)number
                                                                              : INT64_MIN;
}

static void write_boolean(struct writer *writer, bool value) {
    if (writer->protocol == 3)
        reply_bool(writer->reply, value);
    else if (value)
        reply_integer(writer->reply, 1);
    else
        reply_null(writer->reply);
}

static void write_value(struct writer *writer, int index) {
    lua_State *L = writer->L;
    int type = lua_type(L, index);
    if (!take_bytes(writer, type == LUA_TTABLE ? BYTES_PER_TABLE : BYTES_PER_VALUE)) return;
    switch (type) {
    case LUA_TSTRING: reply_bulk(writer->reply, take_text(writer, index)); break;
    case LUA_TBOOLEAN: write_boolean(writer, lua_toboolean(L, index)); break;
    case LUA_TNUMBER: reply_integer(writer->reply, integer_of(lua_tonumber(L, index))); break;
    case LUA_TTABLE:
        writer->depth++;
        write_table(writer, index);
        writer->depth--;
        break;
    default: reply_null(writer->reply);
    }
}

/* Returns whether the table is an error of a command that the script has run. */
static bool is_counted(lua_State *L, int index) {
    return push_named(L, index, "err", LUA_TSTRING) &&
           push_named(L, index, "ignore_error_stats_update", LUA_TBOOLEAN);
}

static void push_names(struct writer *writer) {
    static const char *const names[FIELD_COUNT] = {
        "err", "ok", "double", "map", "set", "big_number", "verbatim_string",
    };
    writer->names = lua_gettop(writer->L) + 1;
    for (int i = 0; i < FIELD_COUNT; i++) lua_pushstring(writer->L, names[i]);
}

bool value_reply(lua_State *L, int index, struct reply *reply, int protocol, size_t most,
                 bool *is_counted_error) {
    size_t quota = most < QUOTA ? most : QUOTA;
    struct writer writer = {
        .L = L, .reply = reply, .protocol = protocol, .quota = quota, .left = most - quota};
    size_t begin = reply->len;
    *is_counted_error = false;
    if (lua_type(L, index) == LUA_TTABLE) {
        int top = lua_gettop(L);
        *is_counted_error = is_counted(L, index);
        push_names(&writer);
        write_value(&writer, index);
        lua_settop(L, top);
    } else {
        write_value(&writer, index);
    }
    if (!writer.is_full) return true;
    if (reply->len > begin) reply_truncate(reply, begin); /* not if the client's limit did that */
    if (machine_end_text(machine_of(L))) return false;
    reply_error(reply,
                "ERR The reply of the script is too large (lua-memory-limit, proto-max-bulk-len)");
    return true;
}

sds value_reply_error_text(lua_State *L, int index, bool *is_counted) {
    switch (lua_type(L, index)) {
    case LUA_TTABLE: break;
    case LUA_TSTRING:
    case LUA_TNUMBER: return sds_append_cstr(sds_new(SLICE("ERR ")), lua_tostring(L, index));
    case LUA_TBOOLEAN:
        return sds_new(lua_toboolean(L, index) ? SLICE("ERR true") : SLICE("ERR false"));
    default: return sds_append_cstr(sds_new(SLICE("ERR ")), lua_typename(L, lua_type(L, index)));
    }
    *is_counted = push_named(L, index, "ignore_error_stats_update", LUA_TBOOLEAN);
    if (!push_named(L, index, "err", LUA_TSTRING) && !push_named(L, index, "err", LUA_TNUMBER))
        return sds_new(SLICE("ERR unknown error"));
    return sds_new(slice_of_cstr(lua_tostring(L, -1)));
}
