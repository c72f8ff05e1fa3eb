/* script_run: runs one compiled function for a client. */
#ifndef PACKLIST_SCRIPT_SCRIPT_RUN_H
#define PACKLIST_SCRIPT_SCRIPT_RUN_H

#include "base/slice.h"
#include "engine/call.h"
#include "execute/execute.h"

#include <lua5.1/lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is run. */
struct script_program {
    struct machine *machine;
    int function;
    uint32_t flags;   /* enum script_flag */
    const char *name; /* SHA-1 or the function's name, for errors */
    /* A function of a library: the keys and the other arguments are its two arguments. Those of a
     * script are the globals KEYS and ARGV. */
    bool is_function;
    bool is_readonly; /* called by a command that must not write (EVAL_RO) */
};

/* Arguments of the call: argv[first_key …] are the keys, the rest are the other arguments. */
struct script_arguments {
    size_t first_key;
    size_t key_count;
};

/* The run that is under way. */
struct script_run {
    struct scripts *scripts;
    struct call *call; /* EVAL or the like */
    const struct script_program *program;
    struct script_arguments arguments;
    struct script_scope scope;
    int protocol; /* of the replies that the script gets: 2, or as setresp has chosen */

    /* script/script_busy.c */
    uint64_t begin_ticks;     /* clock_ticks when it began */
    uint64_t poll_at;         /* … and when other clients are served next; UINT64_MAX: never */
    uint64_t time_moves_at;   /* … and from when on TIME is the clock's */
    struct script_busy *busy; /* NULL: it is not busy */
    bool is_killed;
};

/* Parses the number of keys, argv[2] of EVAL and the like, whose keys follow. Replies an error and
 * returns false if it is not valid. `not_a_number` is the error for what is not an integer; NULL:
 * the usual one. */
bool script_parse_keys(struct call *call, const char *not_a_number,
                       struct script_arguments *arguments);

/* Returns the text of the error object at `index` of the stack, up to a NUL; the caller frees it.
 * *is_counted gets whether it is the error of a command, which was counted. Raises no errors; the
 * machine's limit must be suspended. */
sds script_error_text(lua_State *L, int index, bool *is_counted);

/* Returns the flags of a command that runs a script: its own, or what the script or the function
 * declares to do, as engine/upward.h asks. O(the script's first line). */
uint32_t script_command_flags(const struct engine *engine, const struct command *command,
                              const struct slice *argv);

/* Runs the program and replies its result or its error. Replies an error and runs nothing where
 * its flags do not allow it. No script may run. */
void script_run(struct call *call, const struct script_program *program,
                const struct script_arguments *arguments);

#endif
