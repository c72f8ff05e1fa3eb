/* released_ids: which entries of a stream all its groups may have acknowledged since somebody
 * looked for such entries.
 *
 * The first entries may be a million that are pending. So whoever looks at them notes how far he
 * has come. From then on the ids before that which cease to be pending in a group are noted here,
 * and only they need be looked at again.
 *
 * Invariant: an entry of the stream whose id is before `looked_until` is pending in a group, or its
 * id is in `ids`, all of which are before `looked_until`. Ids may be here whose entries are pending
 * in another group, or gone. */
#ifndef PACKLIST_DS_RELEASED_IDS_H
#define PACKLIST_DS_RELEASED_IDS_H

#include "ds/pendinglist.h"

/* So many ids are noted at most; beyond that entries are looked at once more. */
#ifdef TINY_LIMITS
enum { RELEASED_IDS_MAX = 12 };
#else
enum { RELEASED_IDS_MAX = 64 * 1024 };
#endif

/* All zero: nobody has looked yet. The fields may be read. */
struct released_ids {
    struct stream_id looked_until;
    struct pendinglist ids;
};

/* Somebody has looked at the entries up to here, and noted those that are not pending. O(1). */
static inline void released_ids_look(struct released_ids *released, struct stream_id until) {
    if (stream_id_compare(until, released->looked_until) > 0) released->looked_until = until;
}

/* The entries from this id on must be looked at again, and maybe some before. O(noted / 240). */
void released_ids_forget(struct released_ids *released, struct pieces *pieces,
                         struct stream_id from);

/* The entry with this id is no longer pending in one of the groups. O(log noted + block), O(1) for
 * one that nobody has looked at. */
void released_ids_add(struct released_ids *released, struct pieces *pieces, struct stream_id id);
static inline void released_ids_note(struct released_ids *released, struct pieces *pieces,
                                     struct stream_id id) {
    if (__builtin_expect(stream_id_compare(id, released->looked_until) < 0, 0))
        released_ids_add(released, pieces, id);
}

/* Puts the first ids up to `last` into `ids`, `max` at most; returns how many. O(max). */
size_t released_ids_first(const struct released_ids *released, struct stream_id last,
                          struct stream_id *ids, size_t max);

/* Removes these ids, which ascend: they have been looked at. As pendinglist_remove_ids. */
void released_ids_remove(struct released_ids *released, struct pieces *pieces,
                         const struct stream_id *ids, size_t count);

/* Moves all of it to better places (base/relocate.h). O(noted / 240). */
void released_ids_relocate(struct released_ids *released, struct relocator *relocator);

/* Checks the invariant, as far as it is of the ids. */
bool released_ids_check(const struct released_ids *released, const struct pieces *pieces);

#endif
