/* debug_list: the encoding of a list, node by node, for DEBUG. */
#ifndef PACKLIST_ADMIN_DEBUG_LIST_H
#define PACKLIST_ADMIN_DEBUG_LIST_H

#include "base/sds.h"
#include "engine/call.h"

/* Appends the ql_ fields of DEBUG OBJECT if the entry is a list in quicklist encoding. Returns
 * `out`. O(1). */
sds debug_append_quicklist_fields(sds out, const struct entry *entry);

/* DEBUG LISTPACK key: every element of a value in listpack encoding: offset, size, text. */
void debug_listpack(struct call *call);

/* DEBUG QUICKLIST key [full]: every node of a list in quicklist encoding: count, bytes,
 * compression; with `full` every element too. */
void debug_quicklist(struct call *call);

/* DEBUG QUICKLIST-PACKED-THRESHOLD size: elements of at least that many bytes get a node of their
 * own. */
void debug_packed_threshold(struct call *call);

#endif
