/* debug_memory: the subcommands of DEBUG about the allocator and the sizes of structures. */
#ifndef PACKLIST_ADMIN_DEBUG_MEMORY_H
#define PACKLIST_ADMIN_DEBUG_MEMORY_H

#include "engine/call.h"

void debug_mallctl(struct call *call);     /* a setting of jemalloc that is a number */
void debug_mallctl_str(struct call *call); /* a setting of jemalloc that is a text */
void debug_structsize(struct call *call);

#endif
