/* function_code: the first line of a library of functions, which names it:
 *
 *      #!lua name=mylib\n
 *      redis.register_function(…)
 *
 * The line is split like an inline command. The format is that of Redis 7.0 and newer. */
#ifndef PACKLIST_PERSIST_FUNCTION_CODE_H
#define PACKLIST_PERSIST_FUNCTION_CODE_H

#include "base/slice.h"
#include "base/text/sds.h"

#include <stdbool.h>

struct function_code {
    sds engine;        /* as the line has it: "lua" */
    sds name;          /* of the library */
    struct slice body; /* the rest of the code, a view: begins with the line's end */
};

/* Parses the first line. Returns false when it is bad; *error then gets the text that FUNCTION LOAD
 * replies after "ERR ", which the caller frees. On success the caller ends with function_code_free.
 * O(line). */
bool function_code_parse(struct function_code *parsed, struct slice code, sds *error);
void function_code_free(struct function_code *parsed);

/* Returns whether a library or a function may have this name: letters, digits and underscores, at
 * least one. FUNCTION_NAME_ERROR is the error for another one. O(name). */
bool function_name_is_valid(struct slice name);
#define FUNCTION_NAME_ERROR                                                                        \
    "Library names can only contain letters, numbers, or underscores(_) and must be at least one " \
    "character long"

#endif
