/* The input is the text of a script. All inputs run in one machine, with little memory and a watch
 * that soon ends them; after each, a script of ours must find everything as it was. */
#include "lua/machine.h"

#include <stdio.h>
#include <stdlib.h>

enum { MEMORY_LIMIT = 8 << 20, ASKED_MAX = 3 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct target {
    struct machine *machine;
    int asked;
    int check; /* the compiled script of ours */
};

static const char CHECK[] =
    "return type(rawget(_G, 'x')) == 'nil' and next(string) and #('ab'):rep(2) == 4 "
    "and table.concat({1, 2}, ',') == '1,2' and ('a1'):match('%d') == '1' "
    "and pcall(error) == false and coroutine.wrap(function() return 7 end)() == 7 "
    "and getmetatable(1) == nil and getmetatable(_G) and bit.band(6, 3) == 2";

static const char *watch(void *arg) {
    struct target *target = arg;
    return ++target->asked >= ASKED_MAX ? "ended" : NULL;
}

static void require(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static struct target *target_of_process(void) {
    static struct target target;
    return &target;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    struct target *target = target_of_process();
    target->machine = machine_new(MEMORY_LIMIT, NULL);
    machine_set_watch(target->machine, watch, target);
    machine_seal(target->machine);
    target->check = machine_compile(target->machine, "@check", slice_of_cstr(CHECK));
    require(target->check != LUA_NOREF, "the check does not compile");
    machine_finish(target->machine);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct target *target = target_of_process();
    struct machine *machine = target->machine;
    target->asked = 0;
    int function = machine_compile(machine, "@user_script", slice_make(data, size));
    bool is_byte_code = size > 0 && data[0] == LUA_SIGNATURE[0];
    require(!is_byte_code || function == LUA_NOREF, "byte code was taken");
    if (function != LUA_NOREF) {
        machine_shorten_globals(machine, function);
        machine_run(machine, function, NULL, NULL);
    }
    machine_finish(machine);
    if (function != LUA_NOREF) machine_release(machine, function);
    target->asked = 0;
    require(machine_run(machine, target->check, NULL, NULL) == MACHINE_DONE, "the check failed");
    require(lua_toboolean(machine_state(machine), 1), "a script has left something");
    machine_finish(machine);
    /* Otherwise libFuzzer takes garbage for a leak, and looks for one after each input: slowly. */
    lua_gc(machine_state(machine), LUA_GCCOLLECT, 0);
    require(machine_memory(machine) <= MEMORY_LIMIT * 2, "memory stays in use");
    return 0;
}
