/* args: a copy of a request's arguments that outlives the read buffer: for whoever must run a
 * command later. */
#ifndef PACKLIST_ENGINE_ARGS_H
#define PACKLIST_ENGINE_ARGS_H

#include "base/slice.h"

/* One allocation: the slices, then their bytes. */
struct args {
    size_t argc;
    size_t allocated; /* bytes of the whole */
    struct slice argv[];
};

/* Copies `argc` arguments; freed with args_free. O(bytes). */
struct args *args_copy(const struct slice *argv, size_t argc);

/* The same, but for the arguments [first, first + count): the caller must set these to bytes that
 * live as long as the copy. */
struct args *args_copy_others(const struct slice *argv, size_t argc, size_t first, size_t count);

/* NULL is allowed. */
void args_free(struct args *args);

#endif
