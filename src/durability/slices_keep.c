/* slices_keep: what left the data while the thread may still read it.
 *
 *      an entry with a frozen list      until that is thawed        then lazyfree
 *      a keyspace                       until all lists are         then lazyfree
 *
 * The loop itself may free a frozen list: what the thread reads stays with the frozen one. It is
 * other threads that must not. */
#include "base/alloc.h"
#include "durability/slices_internal.h"
#include "server/lazyfree.h"
#include "types/list.h"
#include "types/value.h"

static struct slices *slices(void) {
    return slices_state();
}

static bool is_frozen(const struct entry *entry) {
    if (slices()->frozen == 0 || entry_type(entry) != VALUE_LIST) return false;
    const struct quicklist *list = list_quicklist(entry);
    return list && quicklist_is_frozen(list);
}

bool slices_keep_entry(struct entry *entry) {
    struct slices *s = slices();
    if (!is_frozen(entry)) return false;
    if (s->entry_count == s->entry_capacity)
        s->entries = mem_grow(s->entries, &s->entry_capacity, sizeof(*s->entries));
    s->entries[s->entry_count++] = entry;
    return true;
}

void slices_free_keyspace(struct keyspace *keyspace) {
    struct slices *s = slices();
    if (s->frozen == 0) {
        lazyfree_keyspace(keyspace);
        return;
    }
    if (s->keyspace_count == s->keyspace_capacity)
        s->keyspaces = mem_grow(s->keyspaces, &s->keyspace_capacity, sizeof(*s->keyspaces));
    s->keyspaces[s->keyspace_count++] = keyspace;
}

static void free_kept(void) {
    struct slices *s = slices();
    size_t kept = 0;
    for (size_t i = 0; i < s->entry_count; i++)
        if (is_frozen(s->entries[i]))
            s->entries[kept++] = s->entries[i];
        else
            lazyfree_entry(s->entries[i], true);
    s->entry_count = kept;
    if (s->frozen > 0) return;
    for (size_t i = 0; i < s->keyspace_count; i++) lazyfree_keyspace(s->keyspaces[i]);
    s->keyspace_count = 0;
}

void slices_thaw(struct snapshot_chunk *chunk) {
    for (unsigned i = 0; i < chunk->list_count; i++)
        slices()->figures.left_bytes += quicklist_thaw(chunk->lists[i]);
    slices()->frozen -= chunk->list_count;
    free_kept();
}

void slices_flush(struct keyspace *keyspace, bool async) {
    struct keyspace_walk *walk = keyspace_walk_of(keyspace);
    if (!async && !walk) {
        keyspace_clear(keyspace);
        return;
    }
    struct keyspace *old = keyspace_new(value_free);
    keyspace_swap(keyspace, old);
    if (walk)
        walk->adopted = true; /* whose walk is over, see slices.c, is freed */
    else
        slices_free_keyspace(old);
}
