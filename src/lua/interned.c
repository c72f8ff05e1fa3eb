/* Lua keeps each string once, in a table of buckets, and finds it there by a hash of at most 32 of
 * its bytes that needs no secret: whoever chooses strings that collide makes each new one compare
 * itself with all others. luaS_newlstr, through which all strings are made, is therefore replaced
 * by the function below: the linker's --wrap=luaS_newlstr brings all calls inside liblua5.1.a here.
 *
 * A string has its *plain* hash, which is Lua's own, as long as that finds few others. Tables with
 * strings as keys then list them in the same order everywhere. A string that would join a crowd
 * gets a *keyed* hash (base/hash/hash.h), which nobody can foresee. The invariant: a string is in
 * the bucket of its plain hash or in that of its keyed one, never in both. So once a machine has
 * keyed strings, a string is new only if it is in neither.
 *
 * What is known here of Lua's memory are objects.h and the first members of two of its structures.
 * machine_knows_strings compares that with a real string. */
#include "base/hash/hash.h"
#include "lua/machine_internal.h"
#include "lua/objects.h"

#include <limits.h>
#include <string.h>

/* What all threads of a machine share (global_State of lstate.h). */
struct shared {
    struct interned **buckets;
    unsigned count;
    int size; /* a power of two */
    lua_Alloc allocate;
    void *owner; /* what lua_newstate was given */
    unsigned char white;
};

/* A thread (lua_State of lstate.h). */
struct thread {
    void *next;
    unsigned char type, marks, status;
    void *top, *base;
    struct shared *shared;
};

enum {
    EQUAL_MAX = 3,  /* others with the same hash */
    WALKED_MAX = 16 /* others in a bucket, where there is one in each on average */
};

/* Functions of Lua; the first raises an error, and so may the second. */
void *luaM_toobig(lua_State *L);
void *luaM_realloc_(lua_State *L, void *ptr, size_t old_size, size_t new_size);
void luaS_resize(lua_State *L, int size);

void *__wrap_luaS_newlstr(lua_State *L, const char *ptr, size_t len);

static struct shared *shared_of(lua_State *L) {
    return ((struct thread *)L)->shared;
}

static char *text_of(struct interned *string) {
    return (char *)(string + 1);
}

/* Lua's own hash: of all bytes up to a length of 31, of 16 to 32 of a longer text. */
static unsigned plain_hash(struct slice text) {
    unsigned hash = (unsigned)text.len;
    size_t step = text.len / 32 + 1;
    for (size_t at = text.len; at >= step; at -= step)
        hash ^= (hash << 5) + (hash >> 2) + (unsigned char)text.ptr[at - 1];
    return hash;
}

static struct interned **bucket_of(const struct shared *shared, unsigned hash) {
    return &shared->buckets[hash & (unsigned)(shared->size - 1)];
}

/* How many other strings a search has met. */
struct crowd {
    unsigned walked;
    unsigned equal;
};

static inline struct interned *find(const struct shared *shared, struct slice text, unsigned hash,
                                    struct crowd *crowd) {
    for (struct interned *at = *bucket_of(shared, hash); at; at = at->next) {
        crowd->walked++;
        if (at->hash != hash) continue;
        if (at->len == text.len && memcmp(text_of(at), text.ptr, text.len) == 0) return at;
        crowd->equal++;
    }
    return NULL;
}

/* While the collector looks through the buckets, Lua makes no more of them. */
static bool is_crowd(const struct shared *shared, const struct crowd *crowd) {
    unsigned average = shared->count / (unsigned)shared->size;
    return crowd->equal >= EQUAL_MAX || crowd->walked >= WALKED_MAX * (average + 1);
}

/* Tests have states of Lua without a machine. */
static struct machine *machine_with(const struct shared *shared) {
    return shared->allocate == machine_allocate ? shared->owner : NULL;
}

/* Searches by the keyed hash a string that was not found by the plain one. If there is none,
 * *hash is the one that it gets. */
static __attribute__((noinline)) struct interned *
find_keyed(const struct shared *shared, struct slice text, bool is_crowded, unsigned *hash) {
    struct machine *machine = machine_with(shared);
    if (!is_crowded && machine && !machine->has_keyed_strings) return NULL;
    unsigned keyed = (unsigned)hash_bytes(text);
    struct interned *found = find(shared, text, keyed, &(struct crowd){0});
    if (found || !is_crowded) return found;
    if (machine) machine->has_keyed_strings = true;
    *hash = keyed;
    return NULL;
}

/* A string that the collector was about to free gets the current white. */
static struct interned *keep(const struct shared *shared, struct interned *string) {
    if (string->marks & (shared->white ^ OBJECT_WHITES) & OBJECT_WHITES)
        string->marks ^= OBJECT_WHITES;
    return string;
}

static struct interned *add(lua_State *L, struct shared *shared, struct slice text, unsigned hash) {
    if (text.len >= SIZE_MAX - sizeof(struct interned)) luaM_toobig(L);
    struct interned *string = luaM_realloc_(L, NULL, 0, sizeof(*string) + text.len + 1);
    struct interned **bucket = bucket_of(shared, hash);
    *string = (struct interned){.next = *bucket,
                                .type = LUA_TSTRING,
                                .marks = shared->white & OBJECT_WHITES,
                                .hash = hash,
                                .len = text.len};
    memcpy(text_of(string), text.ptr, text.len);
    text_of(string)[text.len] = 0;
    *bucket = string;
    if (++shared->count > (unsigned)shared->size && shared->size <= INT_MAX / 2)
        luaS_resize(L, shared->size * 2);
    return string;
}

/* Returns the string with this text, which may be a new one. Raises an error without memory.
 * O(len). */
void *__wrap_luaS_newlstr(lua_State *L, const char *ptr, size_t len) {
    struct shared *shared = shared_of(L);
    struct slice text = slice_make(ptr, len);
    unsigned hash = plain_hash(text);
    struct crowd crowd = {0};
    struct interned *found = find(shared, text, hash, &crowd);
    if (!found) found = find_keyed(shared, text, is_crowd(shared, &crowd), &hash);
    return found ? keep(shared, found) : add(L, shared, text, hash);
}

bool machine_knows_strings(lua_State *L) {
    struct machine *machine = machine_of(L);
    const struct shared *shared = shared_of(L);
    struct slice text = SLICE("a string that nothing else has made");
    lua_pushlstring(L, text.ptr, text.len);
    struct interned *string = (struct interned *)lua_tostring(L, -1) - 1;
    lua_pop(L, 1);
    return shared->allocate == machine_allocate && shared->owner == machine &&
           string->type == LUA_TSTRING && string->len == text.len &&
           string->hash == plain_hash(text) && *bucket_of(shared, string->hash) == string;
}
