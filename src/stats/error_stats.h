/* error_stats: counts error replies by their code, the first word of the reply ("ERR",
 * "WRONGTYPE"): the section Errorstats of INFO. */
#ifndef PACKLIST_STATS_ERROR_STATS_H
#define PACKLIST_STATS_ERROR_STATS_H

#include "base/slice.h"

#include <stdint.h>

enum {
    ERROR_CODES_MAX = 64, /* clients can make up codes (DEBUG ERROR), so their number is limited */
    ERROR_CODE_SIZE = 24  /* bytes with terminator; longer codes are cut */
};

struct error_code {
    char name[ERROR_CODE_SIZE];
    uint64_t count;
};

/* Codes in order of first appearance. */
struct error_stats {
    struct error_code codes[ERROR_CODES_MAX];
    unsigned count;
};

/* Counts one error: "CODE text…", as it is replied after the '-'. Ignores a new code when there
 * are ERROR_CODES_MAX. O(codes). */
void error_stats_count(struct error_stats *stats, struct slice text);

#endif
