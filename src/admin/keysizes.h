/* keysizes: the lines of INFO's section Keysizes. */
#ifndef PACKLIST_ADMIN_KEYSIZES_H
#define PACKLIST_ADMIN_KEYSIZES_H

#include "base/sds.h"
#include "store/size_histogram.h"

/* Appends a line for each type of which the database has values, as Redis 8 does:
 *      db0_distrib_strings_sizes:0=1,512=3,1K=20
 * Each bucket that is not empty stands there with the smallest size that it counts. */
sds keysizes_append(sds out, int64_t database, const struct size_histogram *sizes);

#endif
