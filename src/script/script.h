/* script: scripts that clients send (EVAL) and functions of libraries (FCALL), and what they share:
 * the head of this module.
 *
 *      script_commands   EVAL, EVALSHA, FCALL: which script or function, and its keys
 *            │  └── script_cache    finds and keeps compiled scripts; shebang: a text's first line
 *            ▼
 *      script_run        may it run? What it returns, or its error, as a reply: value_reply
 *            │  └── script_busy     serves other clients while it runs for long
 *            ▼
 *      script_machine    the machines, and the alarm that interrupts them
 *            ▼
 *      redis_library     redis.call …: the command's reply becomes a value of Lua: value_sink
 *            ▼
 *      the executor      execute_for_script
 *
 *      function_commands FUNCTION: lists, dumps and restores libraries (engine/functions.h)
 *      function_language loads them: their code calls redis.register_function
 *
 * Each calls only those below it. One script runs at a time. */
#ifndef PACKLIST_SCRIPT_SCRIPT_H
#define PACKLIST_SCRIPT_SCRIPT_H

#include "base/slice.h"
#include "engine/functions.h"
#include "execute/execute.h"
#include "lua/machine.h"
#include "script/script_cache.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scripts {
    struct engine *engine;
    struct machine *machine; /* for EVAL */
    struct script_cache cache;
    struct script_run *run; /* the run that is under way, or NULL */
    struct function_runner *functions;
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

/* See function_language.h. */
struct function_runner {
    struct function_language language; /* its `arg` is this */
    struct scripts *scripts;
    struct machine *machine;
    struct function_library *loading; /* the library whose code runs, or NULL */
    bool is_accepted;                 /* FUNCTION_ACCEPTED */
    int64_t deadline_us;              /* of its code: monotonic; of accepted code, processor time */
};

/* What is run. */
struct script_program {
    struct machine *machine;
    int function;
    uint32_t flags;   /* enum script_flag */
    const char *name; /* SHA-1 or the function's name, for errors */
    /* A function of a library: the keys and the other arguments are its two arguments. Those of a
     * script are the globals KEYS and ARGV. */
    bool is_function;
};

/* The run that is under way. */
struct script_run {
    struct scripts *scripts;
    struct call *call; /* EVAL or the like */
    const struct script_program *program;
    size_t key_count; /* argv[3 …] are the keys, the rest are the other arguments */
    struct script_scope scope;
    int protocol; /* of the replies that the script gets: 2, or as setresp has chosen */

    /* script/script_busy.c */
    uint64_t begin_ticks;     /* clock_ticks when it began */
    uint64_t poll_at;         /* … and when other clients are served next; UINT64_MAX: never */
    uint64_t time_moves_at;   /* … and from when on TIME is the clock's */
    struct script_busy *busy; /* NULL: it is not busy */
    bool is_killed;
};

#endif
