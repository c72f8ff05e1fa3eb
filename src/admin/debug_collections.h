/* debug_collections: how sets, hashes and sorted sets are stored, for DEBUG. */
#ifndef PACKLIST_ADMIN_DEBUG_COLLECTIONS_H
#define PACKLIST_ADMIN_DEBUG_COLLECTIONS_H

#include "engine/call.h"

/* Appends 'string 11: "hello world"' and a line end; of a long text only the first bytes. Returns
 * `out`. O(1). */
sds debug_append_text(sds out, struct slice text);

/* DEBUG LISTPACK of a set or hash in that encoding, which is a list of records inside: each member,
 * or each field with its value and, in listpackex, its expiry in ms (0: none). O(members). Returns
 * false, without a reply, for any other value. */
bool debug_show_records(struct call *call, const struct entry *entry);

/* DEBUG HTSTATS-KEY key: figures of the table of a set or hash, or of the index of a sorted set.
 * O(1). */
void debug_htstats_key(struct call *call);

#endif
