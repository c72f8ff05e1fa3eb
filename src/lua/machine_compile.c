/* machine_compile: texts become functions.
 *
 * Three holes of the parser of Lua 5.1 are closed here: it executes byte code that it does not
 * check; it lets a collection free the chunk's name while it parses; and it counts the equals
 * signs of a long bracket in an int. */
#include "lua/machine_internal.h"

/* Returns whether the text has a bracket followed by more than MACHINE_BRACKET_MAX equals signs.
 * O(n). */
static bool has_wide_bracket(struct slice text) {
    const char *end = slice_end(text);
    const char *at = text.ptr;
    while (at < end && (at = memchr(at, '=', (size_t)(end - at)))) {
        const char *first = at;
        while (at < end && *at == '=') at++;
        if (at - first > MACHINE_BRACKET_MAX && first > text.ptr &&
            (first[-1] == '[' || first[-1] == ']'))
            return true;
    }
    return false;
}

/* What lua_load reads: a space, then the text. A chunk that begins with a space is never byte code;
 * the parser complains of the character that byte code begins with. */
struct chunk {
    struct slice pieces[2];
    int pieces_read;
};

static const char *read_chunk(lua_State *L, void *arg, size_t *len) {
    (void)L;
    struct chunk *chunk = arg;
    if (chunk->pieces_read == 2) return NULL;
    struct slice piece = chunk->pieces[chunk->pieces_read++];
    *len = piece.len;
    return piece.ptr;
}

bool machine_load(lua_State *L, struct slice text, const char *chunk_name) {
    struct chunk chunk = {.pieces = {SLICE(" "), text}};
    if (has_wide_bracket(text)) {
        lua_pushliteral(L, "long bracket with too many '='");
        return false;
    }
    struct machine *machine = machine_of(L);
    machine_begin_parse(machine);
    bool good = lua_load(L, read_chunk, &chunk, chunk_name) == 0;
    machine_end_parse(machine);
    return good;
}

struct compilation {
    const char *chunk_name;
    struct slice text;
    int function;
};

int machine_compile_body(lua_State *L) {
    struct compilation *compilation = lua_touserdata(L, 1);
    if (!machine_load(L, compilation->text, compilation->chunk_name)) return 1;
    compilation->function = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

int machine_compile(struct machine *machine, const char *chunk_name, struct slice text) {
    struct compilation compilation = {chunk_name, text, LUA_NOREF};
    lua_State *L = machine->main;
    machine_collect_when_full(machine, L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, machine->compiler);
    lua_pushlightuserdata(L, &compilation);
    lua_pcall(L, 1, LUA_MULTRET, 0);
    return compilation.function;
}

void machine_release(struct machine *machine, int function) {
    machine_suspend_limit(machine); /* the registry may grow, and nothing would catch an error */
    luaL_unref(machine->main, LUA_REGISTRYINDEX, function);
    machine_resume_limit(machine);
}
