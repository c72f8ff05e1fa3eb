/* machine_globals: functions that only read globals read them where they are.
 *
 * A global that is read through the proxy costs three searches, and so does each member of a
 * library: a tenth of the work of a script of one command. Only a function's own instructions lead
 * to its environment: scripts have no getfenv, or one that shows the proxy instead; _G and what
 * they compile have the proxy. So the code of a function, and that of the functions within it,
 * tells which environment it may have:
 *
 * - Only the instruction SETGLOBAL needs the proxy of globals, which refuses it. Code without that
 *   may have `contents`, the real table.
 * - The proxies of libraries are there for code that passes a library on or writes into it. Where
 *   every GETGLOBAL of a library is followed at once by the GETTABLE that replaces the library by
 *   one of its members, in the same register, no other instruction ever sees it. Such code may have
 *   `bare`, a table of the same globals with the libraries themselves. */
#include "lua/machine_internal.h"
#include "lua/objects.h"

/* Lua's lopcodes.h has the form of instructions. */
enum { OPCODE_MASK = 0x3f, OPCODE_GETGLOBAL = 5, OPCODE_GETTABLE = 6, OPCODE_SETGLOBAL = 7 };
enum { OPCODE_SETLIST = 34 };

static unsigned opcode_of(uint32_t instruction) {
    return instruction & OPCODE_MASK;
}

/* Where the result goes. */
static unsigned target_of(uint32_t instruction) {
    return instruction >> 6 & 0xff;
}

/* Returns whether the word behind this one is not an instruction, but the number of a block: a
 * constructor of more than 25,550 items has such words. */
static bool is_long_list(uint32_t instruction) {
    return opcode_of(instruction) == OPCODE_SETLIST && (instruction >> 14 & 0x1ff) == 0;
}

/* Returns whether the second instruction replaces the table that the first one gets by a member of
 * it. */
static bool takes_member(const uint32_t *pair) {
    return opcode_of(pair[1]) == OPCODE_GETTABLE && target_of(pair[1]) == target_of(pair[0]) &&
           pair[1] >> 23 == target_of(pair[0]);
}

static const struct prototype *prototype_of(lua_State *L, int function) {
    return ((const struct closure *)lua_topointer(L, function))->prototype;
}

/* The name of the global that the instruction, a GETGLOBAL, reads; NULL: it is not one. */
static const struct interned *global_of(const struct prototype *function, uint32_t instruction) {
    uint32_t index = instruction >> 14;
    if (index >= (uint32_t)function->constant_count) return NULL;
    const struct value *constant = &function->constants[index];
    return constant->type == LUA_TSTRING ? constant->is.pointer : NULL;
}

/* Returns whether this is the name of a library: of a table that only `bare` shows. */
static bool names_library(struct machine *machine, const struct interned *name) {
    lua_State *L = machine->main;
    lua_rawgeti(L, LUA_REGISTRYINDEX, machine->contents);
    lua_rawgeti(L, LUA_REGISTRYINDEX, machine->bare);
    lua_pushlstring(L, (const char *)(name + 1), name->len);
    lua_pushvalue(L, -1);
    lua_rawget(L, -3); /* in bare */
    lua_insert(L, -2);
    lua_rawget(L, -4); /* in contents */
    bool differs = !lua_rawequal(L, -1, -2);
    lua_pop(L, 4);
    return differs;
}

/* The same for code with this GETGLOBAL. The last instruction of a function is a RETURN. */
static int environment_with(struct machine *machine, const struct prototype *function,
                            const uint32_t *instruction, int best) {
    const struct interned *name = global_of(function, *instruction);
    if (!name) return machine->globals;
    if (takes_member(instruction) || !names_library(machine, name)) return best;
    return machine->contents;
}

/* Returns the environment that a function may have, and the functions within it, if `best` is what
 * others allow. The parser lets functions be nested 200 deep. */
static int environment_for(struct machine *machine, const struct prototype *function, int best) {
    const uint32_t *code = function->code;
    for (int i = 0; i < function->code_count && best != machine->globals; i++) {
        if (is_long_list(code[i]))
            i++;
        else if (opcode_of(code[i]) == OPCODE_SETGLOBAL)
            best = machine->globals;
        else if (opcode_of(code[i]) == OPCODE_GETGLOBAL)
            best = environment_with(machine, function, code + i, best);
    }
    for (int i = 0; i < function->inner_count; i++)
        best = environment_for(machine, function->inner[i], best);
    return best;
}

void machine_shorten_globals(struct machine *machine, int function) {
    lua_State *L = machine->main;
    machine_suspend_limit(machine);
    lua_rawgeti(L, LUA_REGISTRYINDEX, function);
    int environment = lua_iscfunction(L, -1)
                          ? machine->globals
                          : environment_for(machine, prototype_of(L, -1), machine->bare);
    lua_rawgeti(L, LUA_REGISTRYINDEX, environment);
    lua_setfenv(L, -2);
    lua_pop(L, 1);
    machine_resume_limit(machine);
}

bool machine_knows_functions(lua_State *L) {
    luaL_loadstring(L, "a = b.c return function() end");
    const struct prototype *function = prototype_of(L, -1);
    lua_pushliteral(L, "b");
    const void *name = (const struct interned *)lua_tostring(L, -1) - 1;
    lua_pop(L, 2);
    return function->constant_count == 3 && function->code_count == 6 &&
           function->inner_count == 1 && opcode_of(function->code[0]) == OPCODE_GETGLOBAL &&
           global_of(function, function->code[0]) == name && takes_member(function->code) &&
           opcode_of(function->code[2]) == OPCODE_SETGLOBAL && function->inner[0]->code_count == 1;
}
