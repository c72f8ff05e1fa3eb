/* script: scripts that clients send (EVAL), and what they share: the machine that runs them, the
 * cache, and the run that is under way.
 *
 *      script_commands.c   EVAL, EVALSHA …: which script, which keys and arguments; FCALL: the
 *                          same for functions of libraries (function_language.h)
 *      script_run.c        runs it: rights, KEYS and ARGV, its result or error as a reply
 *      redis_library.c     what it may call: redis.call …
 *      value_sink.c        the reply of a command → a value of Lua
 *      value_reply.c       a value of Lua → the client's reply
 *
 * One script runs at a time. */
#ifndef PACKLIST_SCRIPT_SCRIPT_H
#define PACKLIST_SCRIPT_SCRIPT_H

#include "base/slice.h"
#include "lua/machine.h"
#include "script/script_cache.h"

#include <stdbool.h>
#include <stddef.h>

struct scripts {
    struct engine *engine;
    struct machine *machine; /* for EVAL */
    struct script_cache cache;
    struct script_run *run;            /* the run that is under way, or NULL */
    struct function_runner *functions; /* script/function_language.h */
    struct slice *argv; /* arguments of the command that a script calls; used again */
    size_t argv_capacity;
    /* The last command that a script has called, or NULL: scripts, like clients, often repeat
     * one. */
    const struct command *last_command;
    int keys_table; /* KEYS and ARGV: machine_fill_run_table */
    int argv_table;
    struct machine *volatile running; /* the machine that runs now, or NULL; for the alarm */
    struct alarm *alarm; /* NULL until the first run; asks the watch of the machine that runs */
    bool has_no_alarm;   /* the system has none */
};

/* Makes the machine with its libraries and an empty cache. */
struct scripts *scripts_new(struct engine *engine);
void scripts_free(struct scripts *scripts);

/* Returns a machine with all libraries, which can get more before the caller seals it. */
struct machine *scripts_new_machine(struct scripts *scripts);

/* As machine_run. The watch is asked in time however long single instructions take. */
enum machine_result scripts_run_machine(struct scripts *scripts, struct machine *machine,
                                        int function, machine_prepare *prepare, void *arg);

/* SCRIPT FLUSH: forgets all scripts, with the memory of the machine. With `in_pool` another thread
 * frees it. Not while a script runs. */
void scripts_flush(struct scripts *scripts, bool in_pool);

/* lua-memory-limit has changed. */
void scripts_apply_limit(struct scripts *scripts);

#endif
