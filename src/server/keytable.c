#include "server/keytable.h"

#include "base/alloc.h"

static struct slice name_of_item(const void *item) {
    return ((const struct keytable_key *)item)->name;
}

static const struct hashtable_type type = {.key = name_of_item};

void keytable_init(struct keytable *table, int databases) {
    *table = (struct keytable){.database_count = databases};
    table->databases = mem_alloc(sizeof(*table->databases) * (size_t)databases);
    for (int i = 0; i < databases; i++) table->databases[i] = hashtable_new(&type);
}

void keytable_free(struct keytable *table) {
    for (int i = 0; i < table->database_count; i++) hashtable_free(table->databases[i]);
    mem_free(table->databases);
}

void *keytable_find(const struct keytable *table, int database, struct slice name) {
    hashtable_slot *slot = hashtable_find(table->databases[database], name, hashtable_hash(name));
    return slot ? hashtable_item(*slot) : NULL;
}

void *keytable_find_or_add(struct keytable *table, int database, struct slice name, size_t size) {
    char *item = keytable_find(table, database, name);
    if (item) return item;
    item = mem_alloc_zeroed(size + name.len);
    if (name.len) memcpy(item + size, name.ptr, name.len);
    *(struct keytable_key *)item =
        (struct keytable_key){slice_make(item + size, name.len), database};
    hashtable_insert(table->databases[database], item, hashtable_hash(name));
    table->count++;
    return item;
}

void keytable_delete(struct keytable *table, void *item) {
    const struct keytable_key *key = item;
    uint64_t hash = hashtable_hash(key->name);
    struct hashtable *database = table->databases[key->database];
    hashtable_delete(database, hashtable_find_item(database, item, hash), hash);
    table->count--;
    mem_free(item);
}
