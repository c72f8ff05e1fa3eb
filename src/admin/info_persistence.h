/* info_persistence: INFO's section Persistence. */
#ifndef PACKLIST_ADMIN_INFO_PERSISTENCE_H
#define PACKLIST_ADMIN_INFO_PERSISTENCE_H

#include "base/sds.h"

/* Appends the section's fields. */
sds info_append_persistence(sds out);

#endif
