/* machine_globals: functions that only read globals read them where they are.
 *
 * Each global that code reads through the proxy costs a search in the empty proxy, one in its
 * metatable and one in the real table: a twentieth of the work of a script of one command. The
 * proxy is there for one instruction, SETGLOBAL. A function in whose code, and in that of the
 * functions within it, there is none may have the real table as its environment: nothing else leads
 * to that. Scripts have no getfenv, _G is the proxy, and what they compile has the proxy. */
#include "lua/machine_internal.h"

#include "base/sds.h"

/* --- The code of a function, as lua_dump writes it --- */

enum { OPCODE_MASK = 0x3f, OPCODE_SETGLOBAL = 7 };
enum { CONSTANT_NIL = LUA_TNIL, CONSTANT_BOOLEAN, CONSTANT_NUMBER = LUA_TNUMBER, CONSTANT_STRING };

struct code {
    const char *at;
    const char *end;
    bool writes;    /* SETGLOBAL was found */
    bool is_broken; /* not what was expected */
};

static void take(struct code *code, void *to, size_t size) {
    memset(to, 0, size);
    if (size > (size_t)(code->end - code->at)) {
        code->is_broken = true;
        return;
    }
    memcpy(to, code->at, size);
    code->at += size;
}

static void skip(struct code *code, size_t size, size_t count) {
    size_t left = (size_t)(code->end - code->at);
    if (count > left / size)
        code->is_broken = true;
    else
        code->at += size * count;
}

static size_t take_count(struct code *code) {
    int count;
    take(code, &count, sizeof(count));
    return count < 0 ? SIZE_MAX : (size_t)count;
}

static void skip_text(struct code *code) {
    size_t size;
    take(code, &size, sizeof(size));
    skip(code, 1, size);
}

static void read_instructions(struct code *code) {
    for (size_t left = take_count(code); left > 0 && !code->is_broken; left--) {
        uint32_t instruction;
        take(code, &instruction, sizeof(instruction));
        if ((instruction & OPCODE_MASK) == OPCODE_SETGLOBAL) code->writes = true;
    }
}

static void skip_constants(struct code *code) {
    for (size_t left = take_count(code); left > 0 && !code->is_broken; left--) {
        char type;
        take(code, &type, sizeof(type));
        switch (type) {
        case CONSTANT_NIL: break;
        case CONSTANT_BOOLEAN: skip(code, 1, 1); break;
        case CONSTANT_NUMBER: skip(code, sizeof(lua_Number), 1); break;
        case CONSTANT_STRING: skip_text(code); break;
        default: code->is_broken = true;
        }
    }
}

/* Names of variables and numbers of lines. */
static void skip_debug(struct code *code) {
    skip(code, sizeof(int), take_count(code));
    for (size_t left = take_count(code); left > 0 && !code->is_broken; left--) {
        skip_text(code);
        skip(code, sizeof(int), 2);
    }
    for (size_t left = take_count(code); left > 0 && !code->is_broken; left--) skip_text(code);
}

/* Recurses into functions within functions; the parser allows 200 levels. */
static void read_function(struct code *code) {
    skip_text(code);            /* the chunk's name */
    skip(code, sizeof(int), 2); /* lines */
    skip(code, 1, 4);           /* numbers of upvalues, parameters and registers; varargs */
    read_instructions(code);
    skip_constants(code);
    for (size_t left = take_count(code); left > 0 && !code->is_broken; left--) read_function(code);
    skip_debug(code);
}

static void read_header(struct code *code) {
    static const int one = 1;
    const char expected[] = {LUA_SIGNATURE[0],
                             'L',
                             'u',
                             'a',
                             0x51,
                             0,
                             *(const char *)&one,
                             sizeof(int),
                             sizeof(size_t),
                             sizeof(uint32_t),
                             sizeof(lua_Number),
                             0};
    char header[sizeof(expected)];
    take(code, header, sizeof(header));
    if (memcmp(header, expected, sizeof(header)) != 0) code->is_broken = true;
}

static int append(lua_State *L, const void *bytes, size_t size, void *arg) {
    (void)L;
    sds *dump = arg;
    *dump = sds_append(*dump, slice_make(bytes, size));
    return 0;
}

/* Does the function on top of the stack write globals? True when in doubt. */
static bool writes_globals(lua_State *L) {
    sds dump = sds_new(SLICE(""));
    bool is_dumped = lua_dump(L, append, &dump) == 0; /* it raises no errors */
    struct code code = {.at = dump, .end = dump + sds_len(dump)};
    read_header(&code);
    if (!code.is_broken) read_function(&code);
    bool is_read = is_dumped && !code.is_broken && code.at == code.end;
    sds_free(dump);
    return !is_read || code.writes;
}

void machine_shorten_globals(struct machine *machine, int function) {
    lua_State *L = machine->main;
    lua_rawgeti(L, LUA_REGISTRYINDEX, function);
    if (!writes_globals(L)) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, machine->contents);
        lua_setfenv(L, -2);
    }
    lua_pop(L, 1);
}
