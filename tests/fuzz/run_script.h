/* What the targets for libraries of scripts share: a machine, and a script that runs on each input. */
#ifndef PACKLIST_TESTS_FUZZ_RUN_SCRIPT_H
#define PACKLIST_TESTS_FUZZ_RUN_SCRIPT_H

#include "base/slice.h"

/* Runs `script` with `input` as the first of its arguments (...) and `options`, the input's first
 * byte, as the second. Aborts when the script fails; it catches the errors that it expects, and may
 * run out of memory. The machine and the compiled script are made at the first call: each target has
 * one script. */
void run_script(const char *script, struct slice input, int options);

/* Lua text that defines same(a, b, tolerance): are two values equal, tables by their contents? Keys
 * that are tables are not compared. NaN equals itself. With a tolerance, numbers may differ by as much
 * of the first one. */
extern const char RUN_SCRIPT_SAME[];

#endif
