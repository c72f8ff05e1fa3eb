/* pop_options: the arguments that LMPOP, BLMPOP, ZMPOP and BZMPOP share, from numkeys on:
 * numkeys key … FIRST|LAST [COUNT count]. */
#ifndef PACKLIST_COMMANDS_POP_OPTIONS_H
#define PACKLIST_COMMANDS_POP_OPTIONS_H

#include "engine/call.h"

struct pop_options {
    const struct slice *keys;
    size_t key_count;
    bool from_last; /* takes from the end that the second word names */
    uint64_t count;
};

/* Parses them; numkeys is argv[index]; `first` and `last` are the words for the two ends. Otherwise
 * replies the error and returns false. */
bool pop_options_parse(struct call *call, size_t index, const char *first, const char *last,
                       struct pop_options *options);

/* Parses the count of a pop, 0 or more, which may stand at argv[2] as the last argument; without it
 * *count stays as it is. Otherwise replies the error and returns false. */
bool pop_count_parse(struct call *call, int64_t *count);

#endif
