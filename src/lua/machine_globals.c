/* machine_globals: functions that only read globals read them where they are.
 *
 * Each global that code reads through the proxy costs a search in the empty proxy, one in its
 * metatable and one in the real table, and so does each member of a library: a tenth of the work of
 * a script of one command. Nothing but a function's own instructions leads to its environment:
 * scripts have no getfenv, or one that shows the proxy instead (lib_deprecated.c); _G is the proxy,
 * and what they compile has the proxy. So the code of a function, and that of the functions within
 * it, tells which environment it may have:
 *
 * - Only the instruction SETGLOBAL needs the proxy of globals, which refuses it. Code without that
 *   may have `contents`, the real table.
 * - The proxies of libraries are there for code that passes a library on or writes into it. Where
 *   every GETGLOBAL of a library is followed at once by the GETTABLE that replaces the library by
 *   one of its members, in the same register, no other instruction ever sees it. Such code may have
 *   `bare`, a table of the same globals with the libraries themselves. */
#include "lua/machine_internal.h"

#include "base/text/sds.h"

/* --- The code of a function, as lua_dump writes it --- */

enum { OPCODE_MASK = 0x3f, OPCODE_GETGLOBAL = 5, OPCODE_GETTABLE = 6, OPCODE_SETGLOBAL = 7 };
enum { CONSTANT_NIL = LUA_TNIL, CONSTANT_BOOLEAN, CONSTANT_NUMBER = LUA_TNUMBER, CONSTANT_STRING };

struct code {
    struct machine *machine;
    const char *at;
    const char *end;
    bool writes;    /* SETGLOBAL was found */
    bool leaks;     /* a library is read, and not replaced at once by one of its members */
    bool is_broken; /* not what was expected */
};

/* The instructions of one function. */
struct instructions {
    const char *at;
    size_t count;
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

/* Returns the text, including the NUL that ends it; an empty slice when there is no text. */
static struct slice take_text(struct code *code) {
    size_t size;
    take(code, &size, sizeof(size));
    struct slice text = slice_make(code->at, size);
    skip(code, 1, size);
    return code->is_broken ? slice_make(code->at, 0) : text;
}

/* --- Instructions (Lua's lopcodes.h has their form) --- */

static uint32_t instruction_at(const struct instructions *instructions, size_t index) {
    uint32_t instruction;
    memcpy(&instruction, instructions->at + index * sizeof(instruction), sizeof(instruction));
    return instruction;
}

/* Where the result goes. */
static unsigned target_of(uint32_t instruction) {
    return instruction >> 6 & 0xff;
}

static struct instructions take_instructions(struct code *code) {
    struct instructions instructions = {.count = take_count(code)};
    instructions.at = code->at;
    skip(code, sizeof(uint32_t), instructions.count);
    if (code->is_broken) instructions.count = 0;
    for (size_t i = 0; i < instructions.count; i++)
        if ((instruction_at(&instructions, i) & OPCODE_MASK) == OPCODE_SETGLOBAL)
            code->writes = true;
    return instructions;
}

/* Returns whether the instruction replaces the table in this register by a member of it. */
static bool takes_member(uint32_t instruction, unsigned reg) {
    return (instruction & OPCODE_MASK) == OPCODE_GETTABLE && target_of(instruction) == reg &&
           instruction >> 23 == reg;
}

/* Returns whether the global whose name is this constant is used otherwise than for one of its
 * members. */
static bool leaks_global(const struct instructions *instructions, size_t constant) {
    for (size_t i = 0; i < instructions->count; i++) {
        uint32_t instruction = instruction_at(instructions, i);
        if ((instruction & OPCODE_MASK) != OPCODE_GETGLOBAL || instruction >> 14 != constant)
            continue;
        if (i + 1 == instructions->count ||
            !takes_member(instruction_at(instructions, i + 1), target_of(instruction)))
            return true;
    }
    return false;
}

/* --- Constants --- */

/* Returns whether this is the name of a library: of a table that only `bare` shows. */
static bool names_library(struct machine *machine, struct slice name) {
    lua_State *L = machine->main;
    lua_rawgeti(L, LUA_REGISTRYINDEX, machine->contents);
    lua_rawgeti(L, LUA_REGISTRYINDEX, machine->bare);
    lua_pushlstring(L, name.ptr, name.len);
    lua_pushvalue(L, -1);
    lua_rawget(L, -3); /* in bare */
    lua_insert(L, -2);
    lua_rawget(L, -4); /* in contents */
    bool differs = !lua_rawequal(L, -1, -2);
    lua_pop(L, 4);
    return differs;
}

static void read_name(struct code *code, const struct instructions *instructions, size_t constant) {
    struct slice text = take_text(code);
    if (text.len > 0 && names_library(code->machine, slice_make(text.ptr, text.len - 1)) &&
        leaks_global(instructions, constant))
        code->leaks = true;
}

static void read_constants(struct code *code, const struct instructions *instructions) {
    size_t count = take_count(code);
    for (size_t i = 0; i < count && !code->is_broken; i++) {
        char type;
        take(code, &type, sizeof(type));
        switch (type) {
        case CONSTANT_NIL: break;
        case CONSTANT_BOOLEAN: skip(code, 1, 1); break;
        case CONSTANT_NUMBER: skip(code, sizeof(lua_Number), 1); break;
        case CONSTANT_STRING: read_name(code, instructions, i); break;
        default: code->is_broken = true;
        }
    }
}

/* --- Functions --- */

/* Names of variables and numbers of lines. */
static void skip_debug(struct code *code) {
    skip(code, sizeof(int), take_count(code));
    for (size_t left = take_count(code); left > 0 && !code->is_broken; left--) {
        take_text(code);
        skip(code, sizeof(int), 2);
    }
    for (size_t left = take_count(code); left > 0 && !code->is_broken; left--) take_text(code);
}

/* Recurses into functions within functions; the parser allows 200 levels. */
static void read_function(struct code *code) {
    take_text(code);            /* the chunk's name */
    skip(code, sizeof(int), 2); /* lines */
    skip(code, 1, 4);           /* numbers of upvalues, parameters and registers; varargs */
    struct instructions instructions = take_instructions(code);
    read_constants(code, &instructions);
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

/* The environment that the function on top of the stack may have; in doubt, the proxy. */
static int environment_for(struct machine *machine) {
    sds dump = sds_new(SLICE(""));
    bool is_dumped = lua_dump(machine->main, append, &dump) == 0; /* it raises no errors */
    struct code code = {.machine = machine, .at = dump, .end = dump + sds_len(dump)};
    read_header(&code);
    if (!code.is_broken) read_function(&code);
    bool is_read = is_dumped && !code.is_broken && code.at == code.end;
    sds_free(dump);
    if (!is_read || code.writes) return machine->globals;
    return code.leaks ? machine->contents : machine->bare;
}

void machine_shorten_globals(struct machine *machine, int function) {
    lua_State *L = machine->main;
    machine_suspend_limit(machine);
    lua_rawgeti(L, LUA_REGISTRYINDEX, function);
    lua_rawgeti(L, LUA_REGISTRYINDEX, environment_for(machine));
    lua_setfenv(L, -2);
    lua_pop(L, 1);
    machine_resume_limit(machine);
}
