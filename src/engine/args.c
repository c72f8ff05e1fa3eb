#include "engine/args.h"

#include "base/memory/alloc.h"
#include "base/text/secret.h"

struct args *args_copy(const struct slice *argv, size_t argc) {
    return args_copy_others(argv, argc, 0, 0);
}

struct args *args_copy_others(const struct slice *argv, size_t argc, size_t first, size_t count) {
    size_t bytes = 0;
    for (size_t i = 0; i < argc; i++)
        if (i < first || i >= first + count) bytes += argv[i].len;
    size_t head = sizeof(struct args) + argc * sizeof(struct slice);
    struct args *args = mem_alloc(head + bytes);
    args->argc = (uint32_t)argc;
    args->is_secret = false;
    args->allocated = head + bytes;
    char *at = (char *)args + head;
    for (size_t i = 0; i < argc; i++) {
        if (i >= first && i < first + count) continue;
        if (argv[i].len) memcpy(at, argv[i].ptr, argv[i].len);
        args->argv[i] = slice_make(at, argv[i].len);
        at += argv[i].len;
    }
    return args;
}

void args_free(struct args *args) {
    if (args && args->is_secret) secret_clear(args, args->allocated);
    mem_free(args);
}
