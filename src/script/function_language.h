/* function_language: runs the code of libraries of functions, which is Lua.
 *
 * Functions have a machine of their own: what scripts of EVAL do cannot reach them. While a library
 * is loaded, its code sees nothing but redis.register_function, redis.log and constants. What the
 * code keeps in local variables stays for the functions. */
#ifndef PACKLIST_SCRIPT_FUNCTION_LANGUAGE_H
#define PACKLIST_SCRIPT_FUNCTION_LANGUAGE_H

#include <stdbool.h>

struct engine;

/* Makes engine->functions, without a library, and the machine, when engine->scripts is made; frees
 * both when no function runs. */
void function_language_start(struct engine *engine);
void function_language_stop(struct engine *engine);

/* Frees the memory of functions that are gone, with the whole machine; with `in_pool` in another
 * thread. No library may be left, and no function may run. */
void function_language_flush(struct engine *engine, bool in_pool);

#endif
