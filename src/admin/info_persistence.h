/* info_persistence: INFO's section Persistence. */
#ifndef PACKLIST_ADMIN_INFO_PERSISTENCE_H
#define PACKLIST_ADMIN_INFO_PERSISTENCE_H

#include "base/sds.h"

struct engine;

/* Appends the section's fields. */
sds info_append_persistence(struct engine *engine, sds out);

#endif
