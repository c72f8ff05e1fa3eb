/* shebang: the first line of a script, which may say what the script does:
 *
 *      #!lua flags=no-writes,allow-stale
 *
 * That of a library of functions is read by persist/function_code.h. */
#ifndef PACKLIST_SCRIPT_SHEBANG_H
#define PACKLIST_SCRIPT_SHEBANG_H

#include "base/slice.h"
#include "base/text/sds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum script_flag {
    SCRIPT_NO_WRITES = 1 << 0,
    SCRIPT_ALLOW_OOM = 1 << 1,
    SCRIPT_ALLOW_STALE = 1 << 2, /* also on a replica without its primary */
    SCRIPT_NO_CLUSTER = 1 << 3,  /* no effect without a cluster, as the next one */
    SCRIPT_ALLOW_CROSS_SLOT_KEYS = 1 << 4,
    SCRIPT_IS_UNDECLARED = 1 << 5 /* it has no such line: anything goes; a flag without a name */
};

/* The names of the flags, from the lowest bit on. */
enum { SCRIPT_FLAG_COUNT = 5 };
extern const char *const script_flag_names[SCRIPT_FLAG_COUNT];

/* Returns the flag of that name; 0: there is none. */
uint32_t script_flag_of(struct slice name, bool in_any_case);

struct shebang {
    uint32_t flags; /* enum script_flag */
    size_t size;    /* of the line, without its end; 0: the script has no such line */
};

/* Reads the first line of a script for EVAL; its words may be quoted, as in an inline request.
 * Returns NULL, or an error line, which the caller frees. O(the line). */
sds shebang_read(struct slice text, struct shebang *shebang);

#endif
