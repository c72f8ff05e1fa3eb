/* info: the sections of INFO that stand in a file of their own, info_data.c. Each function appends
 * the fields of one section, and returns `out`. */
#ifndef PACKLIST_ADMIN_INFO_H
#define PACKLIST_ADMIN_INFO_H

#include "base/text/sds.h"
#include "store/size_histogram.h"

struct engine;

sds info_append_memory(struct engine *engine, sds out);
sds info_append_persistence(struct engine *engine, sds out);
sds info_append_replication(struct engine *engine, sds out);
sds info_append_keyspace(struct engine *engine, sds out);
sds info_append_keysizes(struct engine *engine, sds out);

/* Appends a line for each type that has values in the database, as Redis 8 does:
 *      db0_distrib_strings_sizes:0=1,512=3,1K=20
 * Each bucket that is not empty is shown with the smallest size that it counts. Returns `out`. */
sds info_append_distribution(sds out, int64_t database, const struct size_histogram *sizes);

#endif
