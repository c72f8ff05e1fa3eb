#include "table/command_databases.h"

/* Returns the index after the next DB of COPY's options, which begin at argv[3]. */
static size_t next_of_copy(const struct slice *argv, size_t argc, size_t after) {
    for (size_t i = after < 3 ? 3 : after + 1; i + 1 < argc; i++)
        if (slice_is(argv[i], "db")) return i + 1;
    return 0;
}

size_t command_next_database(const struct command *command, const struct slice *argv, size_t argc,
                             size_t after) {
    switch (command->databases) {
    case DATABASE_OWN:
    case DATABASES_ALL: return 0;
    case DATABASE_OF_SELECT: return after < 1 ? 1 : 0;
    case DATABASES_OF_SWAPDB: return after < 2 ? after + 1 : 0;
    case DATABASES_OF_MOVE: return after < 2 ? 2 : 0;
    case DATABASES_OF_COPY: return next_of_copy(argv, argc, after);
    }
    return 0;
}
