/* function_language: runs the code of libraries of functions, which is Lua.
 *
 * Functions have a machine of their own: what scripts of EVAL do cannot reach them. While a library
 * is loaded, its code sees nothing but redis.register_function, redis.log and constants
 * (redis_library_open_for_loading). What the code keeps in local variables stays for the
 * functions. */
#ifndef PACKLIST_SCRIPT_FUNCTION_LANGUAGE_H
#define PACKLIST_SCRIPT_FUNCTION_LANGUAGE_H

#include "engine/functions.h"

#include <stddef.h>
#include <stdint.h>

struct machine;
struct scripts;

struct function_runner {
    struct function_language language; /* its `arg` is this */
    struct scripts *scripts;
    struct machine *machine;
    int loading_view;                 /* machine_choose_view */
    struct function_library *loading; /* the library whose code runs, or NULL */
    bool is_accepted;                 /* FUNCTION_ACCEPTED */
    int64_t deadline_us;              /* of its code: monotonic; of accepted code, processor time */
};

/* Makes the machine, and sets engine->functions->language. */
struct function_runner *function_runner_new(struct scripts *scripts);

/* No library may be left. */
void function_runner_free(struct function_runner *runner);

/* Frees the memory of functions that are gone, with the whole machine; with `in_pool` in another
 * thread. No library may be left, and no function may run. */
void function_runner_flush(struct function_runner *runner, bool in_pool);

#endif
