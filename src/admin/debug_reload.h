/* debug_reload: DEBUG RELOAD. */
#ifndef PACKLIST_ADMIN_DEBUG_RELOAD_H
#define PACKLIST_ADMIN_DEBUG_RELOAD_H

#include "server/call.h"

/* DEBUG RELOAD [MERGE] [NOFLUSH] [NOSAVE]: saves everything and loads it again. */
void debug_reload(struct call *call);

#endif
