/* debug_reload: DEBUG RELOAD and DEBUG LOADAOF. */
#ifndef PACKLIST_ADMIN_DEBUG_RELOAD_H
#define PACKLIST_ADMIN_DEBUG_RELOAD_H

#include "engine/call.h"

/* DEBUG RELOAD [MERGE] [NOFLUSH] [NOSAVE]: saves everything and loads it again. */
void debug_reload(struct call *call);

/* DEBUG LOADAOF: loads the append-only file again, in place of what is in memory. */
void debug_loadaof(struct call *call);

#endif
