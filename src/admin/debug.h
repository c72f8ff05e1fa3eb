/* debug: the subcommands of DEBUG that stand in files of their own, without the dispatch. Each is
 * called as engine/call.h says. */
#ifndef PACKLIST_ADMIN_DEBUG_H
#define PACKLIST_ADMIN_DEBUG_H

#include "base/text/sds.h"
#include "engine/call.h"

/* --- Values as they are stored (debug_object.c, debug_values.c) --- */

/* DEBUG OBJECT key: a key as it is stored, also one that has expired and was not deleted yet.
 * O(value). */
void debug_object(struct call *call);

/* DEBUG HTSTATS-KEY key: figures of the table of a set or hash, or of the index of a sorted set.
 * O(1). */
void debug_htstats_key(struct call *call);

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

/* DEBUG DIGEST: of all databases, with expired keys that are not deleted yet. O(data). */
void debug_digest(struct call *call);

/* DEBUG DIGEST-VALUE [key …]: of each value, zeros where the key does not exist. O(values). */
void debug_digest_value(struct call *call);

/* --- Loading (debug_reload.c) --- */

/* DEBUG RELOAD [MERGE] [NOFLUSH] [NOSAVE]: saves everything and loads it again. */
void debug_reload(struct call *call);

/* DEBUG LOADAOF: replaces the data in memory by the contents of the append-only file. */
void debug_loadaof(struct call *call);

#endif
