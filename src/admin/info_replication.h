/* info_replication: the section Replication of INFO. */
#ifndef PACKLIST_ADMIN_INFO_REPLICATION_H
#define PACKLIST_ADMIN_INFO_REPLICATION_H

#include "base/sds.h"

struct engine;

/* Appends the section's fields. */
sds info_append_replication(struct engine *engine, sds out);

#endif
