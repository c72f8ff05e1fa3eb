/* functions: the libraries of functions that users have loaded, and their functions by name.
 *
 *      struct functions ── in force ──→ struct function_set ──→ libraries ──→ functions
 *
 * The code of a library is the truth: files and payloads hold nothing else, and its functions
 * follow from it. This module knows no language. Whoever can run code sets `language`; without one
 * nothing can be loaded, and a file with libraries is refused.
 *
 * Libraries never change, and are shared: by sets, and by those who run a function. A group of
 * changes that may fail is made in a copy of the set in force, which replaces it when all have
 * succeeded. */
#ifndef PACKLIST_ENGINE_FUNCTIONS_H
#define PACKLIST_ENGINE_FUNCTIONS_H

#include "base/slice.h"
#include "base/text/sds.h"
#include "ds/hashtable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct function {
    sds name;
    sds key;         /* the name in lower case: calls may write it in any case */
    sds description; /* or NULL */
    uint32_t flags;  /* the language's */
    int reference;   /* to the compiled function; the language's */
    struct function_library *library;
};

struct function_library {
    sds name;
    sds code; /* with the line that names the library */
    const struct function_language *language;
    struct function **functions; /* in the order in which they were registered */
    size_t function_count;
    size_t function_capacity;
    struct hashtable *by_key; /* the same */
    size_t references;        /* sets and running functions that share it */
};

/* How a library is loaded. */
enum function_load {
    FUNCTION_REPLACES = 1 << 0, /* it may take the place of one that has its name */
    /* The code was accepted before, perhaps by a faster machine: it comes from a file, or from the
     * primary. It is given more time. */
    FUNCTION_ACCEPTED = 1 << 1
};

/* What can run the code of libraries. */
struct function_language {
    const char *name; /* "LUA"; a library's code names it in any case */
    void *arg;        /* for the functions below */

    /* Runs the code of a new library (`body` is the code after its first line), which adds its
     * functions to it with function_library_add. `flags`: enum function_load. Returns false when
     * the code is bad; *error then gets a text without "ERR ", which the caller frees. */
    bool (*compile)(void *arg, struct function_library *library, struct slice body, unsigned flags,
                    sds *error);

    /* Frees what `compile` has made for a function. */
    void (*release)(void *arg, const struct function *function);
};

struct function_set {
    struct function_library **libraries; /* in the order in which they were loaded */
    size_t library_count;
    size_t library_capacity;
    struct hashtable *by_name;   /* libraries, by name */
    struct hashtable *functions; /* of all libraries, by key */
    size_t memory;               /* bytes of the libraries */
};

struct functions {
    struct function_set *set;                 /* in force; never NULL */
    const struct function_language *language; /* NULL: no code can be run */
};

/* Prepares an empty set. `language` is not touched. */
void functions_init(struct functions *functions);

/* Frees the set in force. */
void functions_free(struct functions *functions);

/* Puts another set in force, takes ownership of it, and frees the old one. O(libraries). */
void functions_replace(struct functions *functions, struct function_set *set);

/* --- Libraries --- */

/* Makes a library of its code, with one reference. `flags`: enum function_load. Returns NULL when
 * the code is bad; *error then gets a text without "ERR ", which the caller frees. `set` is the one
 * that it will be added to: a name that is taken is found before any code runs. */
struct function_library *function_library_new(const struct functions *functions,
                                              const struct function_set *set, struct slice code,
                                              unsigned flags, sds *error);

/* Adds a function to a library that is being compiled. `description` may be NULL: its ownership is
 * taken on success. Returns NULL when the library has such a function already. O(name). */
struct function *function_library_add(struct function_library *library, struct slice name,
                                      sds description, uint32_t flags, int reference);

/* Share the library; give up a share. The last one frees it. */
struct function_library *function_library_share(struct function_library *library);
void function_library_release(struct function_library *library);

/* --- Sets --- */

struct function_set *function_set_new(void);

/* Returns a set with the same libraries. O(functions). */
struct function_set *function_set_copy(const struct function_set *set);

void function_set_free(struct function_set *set);

/* Adds a library, and takes over a reference to it if that succeeds. With `replaces` it takes the
 * place of one that has its name. Returns false when a name is taken, and *error gets a text as
 * above; then nothing has changed. O(its functions). */
bool function_set_add(struct function_set *set, struct function_library *library, bool replaces,
                      sds *error);

/* Removes a library, and gives up the set's reference to it. Returns whether there was one.
 * O(libraries). */
bool function_set_remove(struct function_set *set, struct slice name);

/* Return the library of this name; the function of this name, in any case; or NULL. O(name). */
struct function_library *function_set_library(const struct function_set *set, struct slice name);
struct function *function_set_function(const struct function_set *set, struct slice name);

/* Return the number of functions, and the bytes of the set with its libraries, without what the
 * language holds. O(1). */
size_t function_set_count(const struct function_set *set);
size_t function_set_memory(const struct function_set *set);

/* Makes a library of the code and adds it to the set in force. `flags`: enum function_load. Returns
 * it, or NULL with *error as above; then nothing has changed. */
struct function_library *functions_load(struct functions *functions, struct slice code,
                                        unsigned flags, sds *error);

#endif
