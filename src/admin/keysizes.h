/* keysizes: the lines of INFO's section Keysizes. */
#ifndef PACKLIST_ADMIN_KEYSIZES_H
#define PACKLIST_ADMIN_KEYSIZES_H

#include "base/sds.h"
#include "store/size_histogram.h"

/* Appends a line for each type that has values in the database, as Redis 8 does:
 *      db0_distrib_strings_sizes:0=1,512=3,1K=20
 * Each bucket that is not empty is shown with the smallest size that it counts. Returns `out`. */
sds keysizes_append(sds out, int64_t database, const struct size_histogram *sizes);

#endif
