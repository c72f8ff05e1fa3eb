#include "lua/data_libraries.h"

void machine_add_data_libraries(struct machine *machine) {
    machine_add_library(machine, "cjson", lua_open_cjson);
    machine_add_library(machine, "cmsgpack", lua_open_cmsgpack);
    machine_add_library(machine, "struct", lua_open_struct);
    machine_on_finish(machine, lua_reset_cjson, lua_cjson_settings(machine_state(machine)));
}
