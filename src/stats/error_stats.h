/* error_stats: how often each kind of error was answered, by its code, the first word of an error
 * reply ("ERR", "WRONGTYPE"): the Errorstats of INFO. */
#ifndef PACKLIST_STATS_ERROR_STATS_H
#define PACKLIST_STATS_ERROR_STATS_H

#include "base/slice.h"

#include <stdint.h>

enum {
    ERROR_CODES_MAX = 64, /* clients can make up codes (DEBUG ERROR): no more are told apart */
    ERROR_CODE_SIZE = 24  /* with terminator; longer ones are cut */
};

struct error_code {
    char name[ERROR_CODE_SIZE];
    uint64_t count;
};

/* In order of first appearance. */
struct error_stats {
    struct error_code codes[ERROR_CODES_MAX];
    unsigned count;
};

/* Counts one error reply, "-CODE text…\r\n". O(codes). */
void error_stats_count(struct error_stats *stats, struct slice reply);

#endif
