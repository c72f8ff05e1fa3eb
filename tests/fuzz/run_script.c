#include "fuzz/run_script.h"

#include "lua/machine.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { MEMORY_LIMIT = 64 << 20 };

const char RUN_SCRIPT_SAME[] =
    "local same same = function(a, b, tolerance) "
    "if a == b or (a ~= a and b ~= b) then return true end "
    "if tolerance and type(a) == 'number' and type(b) == 'number' then "
    "return math.abs(a - b) <= tolerance * math.abs(a) end "
    "if type(a) ~= 'table' or type(b) ~= 'table' then return false end "
    "for key, value in pairs(a) do "
    "if type(key) ~= 'table' and not same(value, b[key], tolerance) then return false end end "
    "for key in pairs(b) do if type(key) ~= 'table' and a[key] == nil then return false end end "
    "return true end ";

struct input {
    struct slice bytes;
    int options;
};

static int push_input(lua_State *L, void *arg) {
    const struct input *input = arg;
    lua_pushlstring(L, input->bytes.ptr, input->bytes.len);
    lua_pushinteger(L, input->options);
    return 2;
}

static int compile(struct machine *machine, const char *script) {
    size_t len = strlen(RUN_SCRIPT_SAME), size = len + strlen(script) + 1;
    char *text = malloc(size);
    if (text == NULL) abort();
    snprintf(text, size, "%s%s", RUN_SCRIPT_SAME, script);
    int function = machine_compile(machine, "@fuzz", slice_of_cstr(text));
    if (function == LUA_NOREF) {
        fprintf(stderr, "%s\n", lua_tostring(machine_state(machine), -1));
        abort();
    }
    free(text);
    return function;
}

void run_script(const char *script, struct slice bytes, int options) {
    static struct machine *machine;
    static int function;
    if (machine == NULL) {
        machine = machine_new(MEMORY_LIMIT, NULL);
        machine_add_data_libraries(machine);
        machine_seal(machine);
        function = compile(machine, script);
    }
    struct input input = {bytes, options};
    if (machine_run(machine, function, push_input, &input) != MACHINE_DONE) {
        const char *error = lua_tostring(machine_state(machine), 1);
        if (error == NULL || strstr(error, "not enough memory") == NULL) {
            fprintf(stderr, "%s\n", error == NULL ? "no message" : error);
            abort();
        }
    }
    machine_finish(machine);
    machine_collect(
        machine); /* or libFuzzer takes garbage for a leak and looks for it, which is slow */
}
