/* Tables of Lua, in the place of its own, which place numbers by a hash that needs no secret:
 * whoever chooses numbers that collide makes each new key look at all others, and a table that
 * grows compares each with the others in a single instruction.
 *
 * A table has an array and pairs. Each key has a *main position* among the pairs. The keys of one
 * main position are linked, beginning there; a pair in the main position of another key gives way
 * to it. Free pairs are taken from the end. When none is left, the table gets the sizes that its
 * keys need. A pair with the value nil keeps its key, and so its place, until then.
 *
 * All this is as in Lua 5.1.5, so tables list their keys in the order that scripts know. One thing
 * is new: a table becomes *keyed* as soon as CROWD keys are linked where one more belongs. From
 * then on a hash with a secret (base/hash/hash.h) gives the main positions of its numbers and
 * strings. Nobody who does not know the secret can choose keys that collide.
 *
 * Calls inside liblua5.1.a come here because the linker finds these functions first: the archive's
 * own file is not needed any more. */
#include "base/hash/hash.h"
#include "lua/machine_internal.h"
#include "lua/objects.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

enum {
#ifdef TINY_LIMITS
    CROWD = 4,
#else
    CROWD = 16, /* keys; a main position has one at most, on average */
#endif
    KEYED = 1 << 7, /* a mark of a table that the collector keeps and does not use */
    LOG2_MAX = 26   /* of the pairs, and of the array when its size is computed */
};

/* Functions and values of Lua. The first three raise errors. */
void *luaM_realloc_(lua_State *L, void *ptr, size_t old_size, size_t new_size);
void luaG_runerror(lua_State *L, const char *format, ...) __attribute__((noreturn));
void luaC_link(lua_State *L, void *object, unsigned char type);
void luaC_barrierback(lua_State *L, struct table *table);
extern const struct value luaO_nilobject_;

/* As all functions luaH_…, called by Lua. */
struct value *luaH_set(lua_State *L, struct table *table, const struct value *key);

static const struct value *const NOTHING = &luaO_nilobject_;

/* The pairs of a table without any: one, which is never written. */
static const struct pair no_pair = {.value.type = LUA_TNIL, .link.type = LUA_TNIL};

static bool is_nil(const struct value *value) {
    return value->type == LUA_TNIL;
}

static bool is_object(int type) {
    return type >= LUA_TSTRING;
}

static bool has_pairs(const struct table *table) {
    return table->pairs != &no_pair;
}

static size_t pair_count(const struct table *table) {
    return (size_t)1 << table->pairs_log2;
}

/* --- Main positions --- */

static struct pair *by_mask(const struct table *table, unsigned hash) {
    return &table->pairs[hash & (pair_count(table) - 1)];
}

/* For hashes whose lowest bits are often alike. */
static struct pair *by_remainder(const struct table *table, unsigned hash) {
    return &table->pairs[hash % (((unsigned)pair_count(table) - 1) | 1)];
}

static __attribute__((noinline)) struct pair *by_secret(const struct table *table, uint64_t what) {
    struct slice bytes = slice_make((const char *)&what, sizeof(what));
    return by_mask(table, (unsigned)hash_bytes(bytes));
}

static bool is_keyed(const struct table *table) {
    return table->marks & KEYED;
}

/* 0 and -0 are equal, but not their bytes. */
static struct pair *position_of_number(const struct table *table, double number) {
    if (number == 0) return table->pairs;
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    if (is_keyed(table)) return by_secret(table, bits);
    return by_remainder(table, (unsigned)bits + (unsigned)(bits >> 32));
}

static struct pair *position_of_string(const struct table *table, const struct interned *string) {
    if (is_keyed(table)) return by_secret(table, string->hash);
    return by_mask(table, string->hash);
}

static struct pair *main_position(const struct table *table, const struct value *key) {
    switch (key->type) {
    case LUA_TNUMBER: return position_of_number(table, key->is.number);
    case LUA_TSTRING: return position_of_string(table, (struct interned *)key->is.object);
    case LUA_TBOOLEAN: return by_mask(table, (unsigned)key->is.boolean);
    default: return by_remainder(table, (unsigned)(uintptr_t)key->is.pointer);
    }
}

/* --- Memory --- */

static void resize_array(lua_State *L, struct table *table, int size) {
    table->array = luaM_realloc_(L, table->array, (size_t)table->array_size * sizeof(*table->array),
                                 (size_t)size * sizeof(*table->array));
    for (int i = table->array_size; i < size; i++) table->array[i].type = LUA_TNIL;
    table->array_size = size;
}

/* The least n with 2^n >= number, which is not 0. */
static int log2_up(unsigned number) {
    return number == 1 ? 0 : 32 - __builtin_clz(number - 1);
}

static void empty_pairs(struct table *table) {
    size_t count = pair_count(table);
    for (size_t i = 0; i < count; i++) {
        table->pairs[i].value.type = table->pairs[i].link.type = LUA_TNIL;
        table->pairs[i].link.next = NULL;
    }
    table->free_end = table->pairs + count;
}

/* Gives the table room for so many pairs; those that it had are not freed. */
static void make_pairs(lua_State *L, struct table *table, size_t count) {
    if (count == 0) {
        table->pairs = table->free_end = (struct pair *)&no_pair;
        table->pairs_log2 = 0;
        return;
    }
    int log2 = count <= INT_MAX ? log2_up((unsigned)count) : LOG2_MAX + 1;
    if (log2 > LOG2_MAX) luaG_runerror(L, "table overflow");
    table->pairs = luaM_realloc_(L, NULL, 0, sizeof(struct pair) << log2);
    table->pairs_log2 = (unsigned char)log2;
    empty_pairs(table);
}

static void free_pairs(lua_State *L, struct pair *pairs, size_t count) {
    if (pairs != &no_pair) luaM_realloc_(L, pairs, count * sizeof(*pairs), 0);
}

struct table *luaH_new(lua_State *L, int array_size, int pairs) {
    struct table *table = luaM_realloc_(L, NULL, 0, sizeof(*table));
    luaC_link(L, table, LUA_TTABLE);
    table->metatable = NULL;
    table->absent = UCHAR_MAX;
    table->array = NULL;
    table->array_size = 0;
    make_pairs(L, table, 0);
    if (array_size > 0) resize_array(L, table, array_size);
    if (pairs > 0) make_pairs(L, table, (size_t)pairs);
    return table;
}

void luaH_free(lua_State *L, struct table *table) {
    free_pairs(L, table->pairs, pair_count(table));
    luaM_realloc_(L, table->array, (size_t)table->array_size * sizeof(*table->array), 0);
    luaM_realloc_(L, table, sizeof(*table), 0);
}

/* --- Reading --- */

/* The number as an int if it is one; else 0, which is in no array. */
static int as_int(double number) {
    if (!(number >= INT_MIN && number <= INT_MAX)) return 0;
    int integer = (int)number;
    return integer == number ? integer : 0;
}

static int array_key(const struct value *key) {
    return key->type == LUA_TNUMBER ? as_int(key->is.number) : 0;
}

static bool is_in_array(const struct table *table, int key) {
    return (unsigned)key - 1 < (unsigned)table->array_size;
}

static const struct value *find_number(struct table *table, double key) {
    const struct pair *pair = position_of_number(table, key);
    for (; pair; pair = pair->link.next)
        if (pair->link.type == LUA_TNUMBER && pair->key.is.number == key) return &pair->value;
    return NOTHING;
}

const struct value *luaH_getnum(struct table *table, int key) {
    if (is_in_array(table, key)) return &table->array[key - 1];
    return find_number(table, key);
}

const struct value *luaH_getstr(struct table *table, struct interned *key) {
    const struct pair *pair = position_of_string(table, key);
    for (; pair; pair = pair->link.next)
        if (pair->link.type == LUA_TSTRING && pair->key.is.pointer == key) return &pair->value;
    return NOTHING;
}

/* For keys that are neither numbers nor strings nor nil. */
static bool is_same(const struct value *a, const struct value *b) {
    if (a->type != b->type) return false;
    return a->type == LUA_TBOOLEAN ? a->is.boolean == b->is.boolean
                                   : a->is.pointer == b->is.pointer;
}

const struct value *luaH_get(struct table *table, const struct value *key) {
    switch (key->type) {
    case LUA_TNIL: return NOTHING;
    case LUA_TSTRING: return luaH_getstr(table, (struct interned *)key->is.object);
    case LUA_TNUMBER: {
        int index = as_int(key->is.number);
        if (is_in_array(table, index)) return &table->array[index - 1];
        return find_number(table, key->is.number);
    }
    }
    for (const struct pair *pair = main_position(table, key); pair; pair = pair->link.next)
        if (is_same(&pair->key, key)) return &pair->value;
    return NOTHING;
}

/* --- Placing keys --- */

static struct pair *take_free(struct table *table) {
    while (table->free_end > table->pairs)
        if ((--table->free_end)->link.type == LUA_TNIL) return table->free_end;
    return NULL;
}

static bool is_crowd(const struct table *table, const struct pair *first) {
    unsigned others = 0;
    for (; first && others < CROWD; first = first->link.next) others++;
    return others == CROWD && !is_keyed(table);
}

/* Moves the pair out of another one's main position. */
static void give_way(struct table *table, struct pair *pair, struct pair *free) {
    struct pair *before = main_position(table, &pair->key);
    while (before->link.next != pair) before = before->link.next;
    before->link.next = free;
    *free = *pair;
    pair->link.next = NULL;
    pair->value.type = LUA_TNIL;
}

enum placement { PLACED, FULL, CROWDED };

/* Places a key that the table does not have; *placed is its pair. Else the table needs more pairs,
 * or a secret. Allocates nothing. */
static enum placement place(struct table *table, const struct value *key, struct pair **placed) {
    struct pair *pair = main_position(table, key);
    if (!is_nil(&pair->value) || pair == &no_pair) {
        struct pair *free = take_free(table);
        if (!free) return FULL;
        if (main_position(table, &pair->key) != pair) {
            give_way(table, pair, free);
        } else if (is_crowd(table, pair)) {
            return CROWDED;
        } else {
            free->link.next = pair->link.next;
            pair->link.next = free;
            pair = free;
        }
    }
    pair->link.is = key->is;
    pair->link.type = key->type;
    *placed = pair;
    return PLACED;
}

/* Puts a key and its value, which the table had before it got other sizes, where they belong. */
static bool put(struct table *table, const struct value *key, const struct value *value) {
    int index = array_key(key);
    if (is_in_array(table, index)) {
        table->array[index - 1] = *value;
        return true;
    }
    struct pair *pair = NULL;
    enum placement placement = place(table, key, &pair);
    if (placement == CROWDED) return false;
    assert(placement == PLACED);
    pair->value = *value;
    return true;
}

/* --- Other sizes --- */

struct contents {
    const struct pair *pairs;
    size_t pair_count;
    int array_size; /* the values from table->array_size on are no longer in the array */
};

static bool put_all(struct table *table, const struct contents *old) {
    for (int i = table->array_size; i < old->array_size; i++) {
        struct value key = {.is.number = i + 1, .type = LUA_TNUMBER};
        if (!is_nil(&table->array[i]) && !put(table, &key, &table->array[i])) return false;
    }
    for (size_t i = old->pair_count; i-- > 0;) {
        const struct pair *pair = &old->pairs[i];
        if (!is_nil(&pair->value) && !put(table, &pair->key, &pair->value)) return false;
    }
    return true;
}

/* `mark`: KEYED or 0, which the table gets. Once its memory is there, nothing fails. */
static void resize(lua_State *L, struct table *table, int array_size, size_t pairs, int mark) {
    struct contents old = {table->pairs, pair_count(table), table->array_size};
    if (array_size > table->array_size) resize_array(L, table, array_size);
    make_pairs(L, table, pairs);
    table->marks |= (unsigned char)mark;
    table->array_size = array_size;
    if (!put_all(table, &old)) {
        table->marks |= KEYED;
        empty_pairs(table);
        put_all(table, &old);
    }
    if (array_size < old.array_size) {
        table->array_size = old.array_size;
        resize_array(L, table, array_size);
    }
    free_pairs(L, (struct pair *)old.pairs, old.pair_count);
}

void luaH_resizearray(lua_State *L, struct table *table, int size) {
    resize(L, table, size, has_pairs(table) ? pair_count(table) : 0, 0);
}

/* Keys that could be in an array: how many of them are in (2^(i-1), 2^i]. */
struct census {
    int of_log2[LOG2_MAX + 1];
    int array_keys;
    int keys;
};

static void count_key(struct census *census, const struct value *key) {
    int index = array_key(key);
    census->keys++;
    if (index <= 0 || index > 1 << LOG2_MAX) return;
    census->of_log2[log2_up((unsigned)index)]++;
    census->array_keys++;
}

static void count_array(struct census *census, const struct table *table) {
    int i = 1;
    for (int log2 = 0; log2 <= LOG2_MAX && i <= table->array_size; log2++) {
        int count = 0;
        for (; i <= table->array_size && i <= 1 << log2; i++)
            count += !is_nil(&table->array[i - 1]);
        census->of_log2[log2] += count;
        census->array_keys += count;
        census->keys += count;
    }
}

/* Returns the size that the table's array should have: the largest power of two n such that more
 * than n / 2 of the keys 1 to n are there, or 0. *used is the number of these keys. */
static int best_array_size(const struct census *census, int *used) {
    int count = 0, best = 0;
    *used = 0;
    for (int log2 = 0; log2 <= LOG2_MAX; log2++) {
        int size = 1 << log2;
        if (size / 2 >= census->array_keys) break;
        count += census->of_log2[log2];
        if (census->of_log2[log2] > 0 && count > size / 2) {
            best = size;
            *used = count;
        }
    }
    return best;
}

/* Gives the table the sizes that it needs with one key more. */
static void grow(lua_State *L, struct table *table, const struct value *key) {
    struct census census = {0};
    int used;
    count_array(&census, table);
    for (size_t i = pair_count(table); i-- > 0;)
        if (!is_nil(&table->pairs[i].value)) count_key(&census, &table->pairs[i].key);
    count_key(&census, key);
    int size = best_array_size(&census, &used);
    resize(L, table, size, (size_t)(census.keys - used), 0);
}

/* --- Writing --- */

static bool is_white_object(const struct value *value) {
    return is_object(value->type) && value->is.object->marks & OBJECT_WHITES;
}

/* Adds a key that the table does not have. Returns the place of its value. */
static struct value *add(lua_State *L, struct table *table, const struct value *key) {
    struct pair *pair;
    switch (place(table, key, &pair)) {
    case FULL: grow(L, table, key); return luaH_set(L, table, key);
    case CROWDED:
        resize(L, table, table->array_size, pair_count(table), KEYED);
        return luaH_set(L, table, key);
    case PLACED: break;
    }
    if (table->marks & OBJECT_BLACK && is_white_object(key)) luaC_barrierback(L, table);
    return &pair->value;
}

struct value *luaH_setnum(lua_State *L, struct table *table, int key) {
    const struct value *found = luaH_getnum(table, key);
    if (found != NOTHING) return (struct value *)found;
    return add(L, table, &(struct value){.is.number = key, .type = LUA_TNUMBER});
}

struct value *luaH_setstr(lua_State *L, struct table *table, struct interned *key) {
    const struct value *found = luaH_getstr(table, key);
    if (found != NOTHING) return (struct value *)found;
    return add(L, table, &(struct value){.is.pointer = key, .type = LUA_TSTRING});
}

struct value *luaH_set(lua_State *L, struct table *table, const struct value *key) {
    const struct value *found = luaH_get(table, key);
    table->absent = 0;
    if (found != NOTHING) return (struct value *)found;
    if (is_nil(key)) luaG_runerror(L, "table index is nil");
    if (key->type == LUA_TNUMBER && key->is.number != key->is.number)
        luaG_runerror(L, "table index is NaN");
    return add(L, table, key);
}

/* --- The order of keys, and the length --- */

/* The key of a pair may have been freed since it was the last one that was listed. */
static bool is_listed(const struct pair *pair, const struct value *key) {
    if (pair->link.type == OBJECT_DEAD_KEY)
        return is_object(key->type) && pair->key.is.object == key->is.object;
    if (pair->link.type != key->type) return false;
    return key->type == LUA_TNUMBER ? pair->key.is.number == key->is.number
                                    : is_same(&pair->key, key);
}

/* The index after that of a key among the array's and then the pairs. */
static size_t index_after(lua_State *L, const struct table *table, const struct value *key) {
    if (is_nil(key)) return 0;
    int index = array_key(key);
    if (is_in_array(table, index)) return (size_t)index;
    for (const struct pair *pair = main_position(table, key); pair; pair = pair->link.next)
        if (is_listed(pair, key))
            return (size_t)table->array_size + (size_t)(pair - table->pairs) + 1;
    luaG_runerror(L, "invalid key to 'next'");
}

int luaH_next(lua_State *L, struct table *table, struct value *key) {
    size_t size = (size_t)table->array_size, count = pair_count(table);
    size_t i = index_after(L, table, key);
    for (; i < size; i++) {
        if (is_nil(&table->array[i])) continue;
        key[0] = (struct value){.is.number = (double)(i + 1), .type = LUA_TNUMBER};
        key[1] = table->array[i];
        return 1;
    }
    for (i -= size; i < count; i++) {
        if (is_nil(&table->pairs[i].value)) continue;
        key[0] = (struct value){.is = table->pairs[i].link.is, .type = table->pairs[i].link.type};
        key[1] = table->pairs[i].value;
        return 1;
    }
    return 0;
}

/* Returns a border between `low`, which is 0 or has a value, and `high`, which has none. */
static unsigned border_between(struct table *table, unsigned low, unsigned high) {
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        if (is_nil(luaH_getnum(table, (int)middle)))
            high = middle;
        else
            low = middle;
    }
    return low;
}

/* A border among the pairs, where `low` is as above. */
static unsigned border_beyond(struct table *table, unsigned low) {
    unsigned high = low + 1;
    while (!is_nil(luaH_getnum(table, (int)high))) {
        low = high;
        high *= 2;
        if (high <= INT_MAX) continue;
        for (high = 1; !is_nil(luaH_getnum(table, (int)high));) high++; /* made to be hard */
        return high - 1;
    }
    return border_between(table, low, high);
}

int luaH_getn(struct table *table) {
    unsigned size = (unsigned)table->array_size;
    if (size > 0 && is_nil(&table->array[size - 1])) return (int)border_between(table, 0, size);
    return (int)(has_pairs(table) ? border_beyond(table, size) : size);
}

/* --- The check --- */

bool machine_knows_tables(lua_State *L) {
    lua_createtable(L, 1, 1);
    const struct table *table = lua_topointer(L, -1);
    lua_pushvalue(L, -1);
    lua_setmetatable(L, -2);
    lua_pushliteral(L, "a value");
    struct interned *string = (struct interned *)lua_tostring(L, -1) - 1;
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, 1);
    lua_pushnumber(L, 0.5);
    lua_rawset(L, -3);
    const struct pair *pair = table->pairs;
    lua_pop(L, 1);
    return table->type == LUA_TTABLE && table->metatable == table && table->array_size == 1 &&
           table->array->type == LUA_TSTRING && table->array->is.pointer == string &&
           pair->link.type == LUA_TSTRING && pair->link.is.pointer == string &&
           pair->value.type == LUA_TNUMBER && pair->value.is.number == 0.5 &&
           luaO_nilobject_.type == LUA_TNIL;
}
