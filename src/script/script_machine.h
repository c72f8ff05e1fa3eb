/* script_machine: the machine of scripts (lua/machine.h) with its libraries, and running any. */
#ifndef PACKLIST_SCRIPT_SCRIPT_MACHINE_H
#define PACKLIST_SCRIPT_SCRIPT_MACHINE_H

#include "script/script.h"

/* Makes engine->scripts with a machine and an empty cache; frees it. */
void script_machine_start(struct engine *engine);
void script_machine_stop(struct engine *engine);

/* Returns a machine with all libraries, which can get more before the caller seals it. */
struct machine *script_machine_new(struct scripts *scripts);

/* As machine_run. The watch is asked in time however long single instructions take. */
enum machine_result script_machine_run(struct scripts *scripts, struct machine *machine,
                                       int function, machine_prepare *prepare, void *arg);

/* SCRIPT FLUSH: forgets all scripts, with the memory of the machine. With `in_pool` another thread
 * frees it. Not while a script runs. */
void script_machine_flush(struct engine *engine, bool in_pool);

/* lua-memory-limit has changed. */
void script_machine_apply_limit(struct engine *engine);

#endif
