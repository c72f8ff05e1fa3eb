/* args: a copy of a request's arguments for a command that runs later, when the read buffer is
 * gone. */
#ifndef PACKLIST_ENGINE_ARGS_H
#define PACKLIST_ENGINE_ARGS_H

#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

/* One allocation: the slices, then their bytes. */
struct args {
    uint32_t argc;
    bool is_secret;   /* args_free overwrites the bytes; at first false */
    size_t allocated; /* bytes of the whole */
    struct slice argv[];
};

/* Returns a copy of `argc` arguments and their bytes; the caller frees it with args_free.
 * O(bytes). */
struct args *args_copy(const struct slice *argv, size_t argc);

/* As args_copy, but the arguments [first, first + count) are left unset: the caller must point them
 * to bytes that live as long as the copy. */
struct args *args_copy_others(const struct slice *argv, size_t argc, size_t first, size_t count);

/* Frees a copy; NULL is allowed. */
void args_free(struct args *args);

#endif
