/* debug_reload: DEBUG RELOAD and DEBUG LOADAOF. */
#ifndef PACKLIST_ADMIN_DEBUG_RELOAD_H
#define PACKLIST_ADMIN_DEBUG_RELOAD_H

#include "engine/call.h"

/* DEBUG RELOAD [MERGE] [NOFLUSH] [NOSAVE]: saves everything and loads it again. */
void debug_reload(struct call *call);

/* DEBUG LOADAOF: replaces the data in memory by the contents of the append-only file. */
void debug_loadaof(struct call *call);

#endif
