#include "script/script_cache.h"

#include "base/chain.h"
#include "base/memory/alloc.h"
#include "ds/hashtable.h"
#include "lua/machine.h"
#include "persist/digest.h"
#include "script/shebang.h"

/* --- SHA-1 --- */

enum { SHA_PIECE = 1 << 20 };

bool script_sha1(struct slice bytes, char hex[SCRIPT_SHA_LENGTH + 1],
                 bool (*goes_on)(struct machine *machine), struct machine *machine) {
    struct digest digest;
    if (!digest_start(&digest)) return false;
    for (size_t at = 0; at < bytes.len; at += SHA_PIECE) {
        size_t left = bytes.len - at;
        digest_sum_piece(&digest, slice_make(bytes.ptr + at, left < SHA_PIECE ? left : SHA_PIECE));
        if (left > SHA_PIECE && goes_on && !goes_on(machine)) break;
    }
    digest_sum_end(&digest);
    digest_end(&digest);
    sds text = digest_append(sds_new(SLICE("")), digest.bytes);
    memcpy(hex, text, SCRIPT_SHA_LENGTH + 1);
    sds_free(text);
    return true;
}

/* --- Tables --- */

static struct slice text_of(const void *item) {
    return sds_slice(((const struct script *)item)->text);
}

static struct slice sha_of(const void *item) {
    return slice_make(((const struct script *)item)->sha, SCRIPT_SHA_LENGTH);
}

static const struct hashtable_type by_text = {.key = text_of};
static const struct hashtable_type by_sha = {.key = sha_of};

static struct script *find(const struct hashtable *table, struct slice key) {
    hashtable_slot *slot = hashtable_find(table, key, hashtable_hash(key));
    return slot ? hashtable_item(*slot) : NULL;
}

static void insert(struct hashtable *table, struct script *script, struct slice key) {
    hashtable_insert(table, script, hashtable_hash(key));
}

static void take_out(struct hashtable *table, struct slice key) {
    uint64_t hash = hashtable_hash(key);
    hashtable_delete(table, hashtable_find(table, key, hash), hash);
}

void script_cache_init(struct script_cache *cache, struct machine *machine, uint64_t *evictions) {
    *cache = (struct script_cache){.machine = machine,
                                   .evictions = evictions,
                                   .by_text = hashtable_new(&by_text),
                                   .by_sha = hashtable_new(&by_sha)};
}

static size_t size_of(const struct script *script) {
    return sizeof(*script) + sds_allocated(script->text);
}

static void free_script(struct script *script) {
    sds_free(script->text);
    mem_free(script);
}

void script_cache_free(struct script_cache *cache) {
    struct hashtable_iter iter;
    hashtable_iter_start(&iter, cache->by_sha);
    for (struct script *script; (script = hashtable_iter_next(&iter));) free_script(script);
    hashtable_free(cache->by_text);
    hashtable_free(cache->by_sha);
}

size_t script_cache_count(const struct script_cache *cache) {
    return hashtable_count(cache->by_sha);
}

size_t script_cache_memory(const struct script_cache *cache) {
    return cache->memory + hashtable_allocated(cache->by_text) + hashtable_allocated(cache->by_sha);
}

/* --- The chain --- */

static void link_last(struct script_cache *cache, struct script *script) {
    CHAIN_APPEND(cache->first, cache->last, script, prev, next);
    cache->evaluated_count++;
}

static void unlink_script(struct script_cache *cache, struct script *script) {
    CHAIN_REMOVE(cache->first, cache->last, script, prev, next);
    cache->evaluated_count--;
}

static struct script *note_use(struct script_cache *cache, struct script *script) {
    if (!script || script->is_loaded || script == cache->last) return script;
    unlink_script(cache, script);
    link_last(cache, script);
    return script;
}

static void evict_first(struct script_cache *cache) {
    struct script *script = cache->first;
    unlink_script(cache, script);
    take_out(cache->by_text, text_of(script));
    take_out(cache->by_sha, sha_of(script));
    if (cache->last_found == script) cache->last_found = NULL;
    machine_release(cache->machine, script->function);
    cache->memory -= size_of(script);
    ++*cache->evictions;
    free_script(script);
}

/* --- Finding and adding --- */

/* Notes that a script was found, and how: `script` may be NULL. */
static struct script *note_found(struct script_cache *cache, struct script *script) {
    if (script) cache->last_found = script;
    return note_use(cache, script);
}

struct script *script_cache_find_text(struct script_cache *cache, struct slice text) {
    struct script *last = cache->last_found;
    if (last && slice_equal(text_of(last), text)) return note_use(cache, last);
    return note_found(cache, find(cache->by_text, text));
}

struct script *script_cache_find_sha(struct script_cache *cache, struct slice sha) {
    char lower[SCRIPT_SHA_LENGTH];
    struct script *last = cache->last_found;
    if (last && slice_equal(sha_of(last), sha)) return note_use(cache, last);
    if (sha.len != SCRIPT_SHA_LENGTH) return NULL;
    for (size_t i = 0; i < SCRIPT_SHA_LENGTH; i++) lower[i] = ascii_lower(sha.ptr[i]);
    return note_found(cache, find(cache->by_sha, slice_make(lower, SCRIPT_SHA_LENGTH)));
}

/* The first line stays empty, so that the numbers of the others are right. */
static int compile(struct machine *machine, struct slice text, size_t shebang_size, sds *error) {
    struct slice code = slice_make(text.ptr + shebang_size, text.len - shebang_size);
    int function = machine_compile(machine, "@user_script", code);
    if (function != LUA_NOREF) {
        machine_shorten_globals(machine, function);
        return function;
    }
    const char *message = lua_tostring(machine_state(machine), -1);
    *error = sds_append_format(sds_new(SLICE("ERR Error compiling script (new function): ")), "%s",
                               message ? message : "unknown error");
    machine_finish(machine);
    return LUA_NOREF;
}

struct script *script_cache_add(struct script_cache *cache, struct slice text, bool is_loaded,
                                sds *error) {
    struct shebang shebang;
    char sha[SCRIPT_SHA_LENGTH + 1];
    *error = shebang_read(text, &shebang);
    if (*error) return NULL;
    if (!script_sha1(text, sha, NULL, NULL)) {
        *error = sds_new(SLICE("ERR The system's library refuses to compute SHA-1"));
        return NULL;
    }
    int function = compile(cache->machine, text, shebang.size, error);
    if (function == LUA_NOREF) return NULL;
    struct script *script = mem_alloc(sizeof(*script));
    *script = (struct script){.text = sds_new(text),
                              .function = function,
                              .flags = shebang.flags,
                              .is_loaded = is_loaded};
    memcpy(script->sha, sha, sizeof(sha));
    insert(cache->by_text, script, text_of(script));
    insert(cache->by_sha, script, sha_of(script));
    cache->memory += size_of(script);
    if (is_loaded) return script;
    if (cache->evaluated_count == SCRIPT_CACHE_EVALUATED_MAX) evict_first(cache);
    link_last(cache, script);
    return script;
}

void script_cache_keep(struct script_cache *cache, struct script *script) {
    if (script->is_loaded) return;
    unlink_script(cache, script);
    script->is_loaded = true;
}
