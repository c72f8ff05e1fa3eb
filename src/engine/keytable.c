#include "engine/keytable.h"

#include "base/memory/alloc.h"

static struct slice name_of_item(const void *item) {
    return ((const struct keytable_key *)item)->name;
}

static const struct hashtable_type type = {.key = name_of_item};

void keytable_init(struct keytable *table, int spaces) {
    *table = (struct keytable){.space_count = spaces};
    table->spaces = mem_alloc(sizeof(*table->spaces) * (size_t)spaces);
    for (int i = 0; i < spaces; i++) table->spaces[i] = hashtable_new(&type);
}

void keytable_free(struct keytable *table) {
    for (int i = 0; i < table->space_count; i++) hashtable_free(table->spaces[i]);
    mem_free(table->spaces);
}

void *keytable_find(const struct keytable *table, int space, struct slice name) {
    hashtable_slot *slot = hashtable_find(table->spaces[space], name, hashtable_hash(name));
    return slot ? hashtable_item(*slot) : NULL;
}

void *keytable_find_or_add(struct keytable *table, int space, struct slice name, size_t size) {
    char *item = keytable_find(table, space, name);
    if (item) return item;
    item = mem_alloc_zeroed(size + name.len);
    if (name.len) memcpy(item + size, name.ptr, name.len);
    *(struct keytable_key *)item = (struct keytable_key){slice_make(item + size, name.len), space};
    hashtable_insert(table->spaces[space], item, hashtable_hash(name));
    table->count++;
    return item;
}

void keytable_delete(struct keytable *table, void *item) {
    const struct keytable_key *key = item;
    uint64_t hash = hashtable_hash(key->name);
    struct hashtable *space = table->spaces[key->space];
    hashtable_delete(space, hashtable_find_item(space, item, hash), hash);
    table->count--;
    mem_free(item);
}
