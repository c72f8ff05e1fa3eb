/* durability: the state of this room, which lives in struct server. */
#ifndef PACKLIST_DURABILITY_DURABILITY_H
#define PACKLIST_DURABILITY_DURABILITY_H

#include "durability/aof.h"
#include "durability/child.h"
#include "durability/load.h"
#include "durability/save.h"
#include "durability/slices.h"

struct durability {
    struct aof aof;
    struct child child;
    struct save save;
    struct load load;
    struct slices slices;
};

#endif
