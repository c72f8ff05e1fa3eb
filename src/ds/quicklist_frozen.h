/* quicklist_frozen: a list as it was at one moment, while it goes on changing: the descriptors of
 * its nodes, whose buffers stay as they are until the thaw. A node that is written to, packed or
 * freed meanwhile leaves its buffer to the frozen list. The two nodes at the ends are copied. */
#ifndef PACKLIST_DS_QUICKLIST_FROZEN_H
#define PACKLIST_DS_QUICKLIST_FROZEN_H

#include "ds/quicklist.h"

struct quicklist_frozen;

/* Not empty, and not frozen already. O(nodes): some 3 ns each. */
struct quicklist_frozen *quicklist_freeze(struct quicklist *list);

/* Visits the nodes as quicklist_visit_nodes does. In any thread. */
void quicklist_frozen_visit(const struct quicklist_frozen *frozen,
                            void (*visit)(const struct quicklist_node_info *info, void *arg),
                            void *arg);

/* Ends it, and frees what the list has left to it: returns so many bytes. The list may be gone by
 * now. In the thread that changes the list. O(nodes). */
size_t quicklist_thaw(struct quicklist_frozen *frozen);

#endif
