/* script_cache: compiled scripts, found by their text and by its SHA-1.
 *
 *      EVAL ──────────────── text ──┐
 *      EVALSHA, SCRIPT … ─── SHA-1 ─┴→ script: text, flags, compiled function
 *
 * Scripts that SCRIPT LOAD has added stay until SCRIPT FLUSH. Those that came with EVAL stand in a
 * chain in the order of their last use; beyond SCRIPT_CACHE_EVALUATED_MAX the first one is
 * evicted. */
#ifndef PACKLIST_SCRIPT_SCRIPT_CACHE_H
#define PACKLIST_SCRIPT_SCRIPT_CACHE_H

#include "base/slice.h"
#include "base/text/sds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct machine;

enum {
    SCRIPT_SHA_LENGTH = 40,
#ifdef TINY_LIMITS
    SCRIPT_CACHE_EVALUATED_MAX = 5
#else
    SCRIPT_CACHE_EVALUATED_MAX = 500
#endif
};

struct script {
    sds text;
    char sha[SCRIPT_SHA_LENGTH + 1]; /* SHA-1 of the text, in lower case */
    int function;                    /* machine_compile */
    uint32_t flags;                  /* enum script_flag */
    bool is_loaded;                  /* by SCRIPT LOAD; else it is in the chain */
    struct script *prev;
    struct script *next;
};

struct script_cache {
    struct machine *machine; /* that has compiled them */
    struct hashtable *by_text;
    struct hashtable *by_sha;
    struct script *last_found; /* clients often repeat a script */
    struct script *first;      /* the chain */
    struct script *last;
    size_t evaluated_count; /* scripts in the chain */
    size_t memory;          /* bytes of the scripts, without what the machine holds */
    uint64_t *evictions;    /* counter */
};

/* `evictions` counts the scripts that are evicted. */
void script_cache_init(struct script_cache *cache, struct machine *machine, uint64_t *evictions);

/* Frees all scripts, but does not release their functions: their machine is freed, too. */
void script_cache_free(struct script_cache *cache);

size_t script_cache_count(const struct script_cache *cache);

/* Returns bytes of the scripts and the tables. O(1). */
size_t script_cache_memory(const struct script_cache *cache);

/* Return the script, which becomes the one that was used last, or NULL. `sha` may be in any case.
 * O(length). */
struct script *script_cache_find_text(struct script_cache *cache, struct slice text);
struct script *script_cache_find_sha(struct script_cache *cache, struct slice sha);

/* Compiles a text that is not in the cache and adds it. With `is_loaded`, for SCRIPT LOAD, it
 * stays; otherwise it may evict another script. Returns NULL on failure, with an error line in
 * *error, which the caller frees. Not while a script runs. */
struct script *script_cache_add(struct script_cache *cache, struct slice text, bool is_loaded,
                                sds *error);

/* SCRIPT LOAD: the script stays. O(1). */
void script_cache_keep(struct script_cache *cache, struct script *script);

/* Writes the SHA-1 of the bytes in lower-case hexadecimal digits, with a terminator. Returns false
 * when the system's library refuses to compute it. Calls `goes_on`, which may be NULL, after each
 * megabyte: when it returns false the SHA-1 is that of a part. O(bytes). */
bool script_sha1(struct slice bytes, char hex[SCRIPT_SHA_LENGTH + 1],
                 bool (*goes_on)(struct machine *machine), struct machine *machine);

#endif
