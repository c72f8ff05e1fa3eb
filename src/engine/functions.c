#include "engine/functions.h"

#include "base/memory/alloc.h"
#include "persist/function_code.h"

#include <assert.h>
#include <string.h>

/* --- Functions --- */

static sds lower_case(struct slice name) {
    sds text = sds_new(name);
    for (size_t i = 0; i < name.len; i++) text[i] = ascii_lower(text[i]);
    return text;
}

static void free_function(struct function *function) {
    function->library->language->release(function->library->language->arg, function);
    sds_free(function->name);
    sds_free(function->key);
    sds_free(function->description);
    mem_free(function);
}

static size_t text_memory(sds text) {
    return text ? sds_allocated(text) : 0;
}

static size_t function_memory(const struct function *function) {
    return sizeof(*function) + text_memory(function->name) + text_memory(function->key) +
           text_memory(function->description);
}

static struct slice function_key(const void *item) {
    return sds_slice(((const struct function *)item)->key);
}

static const struct hashtable_type functions_by_key = {function_key};

static void *find(const struct hashtable *table, struct slice key) {
    hashtable_slot *slot = hashtable_find(table, key, hashtable_hash(key));
    return slot ? hashtable_item(*slot) : NULL;
}

static void insert(struct hashtable *table, struct function *function) {
    hashtable_insert(table, function, hashtable_hash(function_key(function)));
}

/* --- Libraries --- */

static struct slice library_name(const void *item) {
    return sds_slice(((const struct function_library *)item)->name);
}

static size_t library_memory(const struct function_library *library) {
    size_t memory = sizeof(*library) + text_memory(library->name) + text_memory(library->code) +
                    hashtable_allocated(library->by_key);
    for (size_t i = 0; i < library->function_count; i++)
        memory += function_memory(library->functions[i]);
    return memory;
}

struct function *function_library_add(struct function_library *library, struct slice name,
                                      sds description, uint32_t flags, int reference) {
    sds key = lower_case(name);
    if (find(library->by_key, sds_slice(key))) {
        sds_free(key);
        return NULL;
    }
    struct function *function = mem_alloc(sizeof(*function));
    *function = (struct function){.name = sds_new(name),
                                  .key = key,
                                  .description = description,
                                  .flags = flags,
                                  .reference = reference,
                                  .library = library};
    MEM_RESERVE(library->functions, library->function_capacity, library->function_count + 1);
    library->functions[library->function_count++] = function;
    insert(library->by_key, function);
    return function;
}

struct function_library *function_library_share(struct function_library *library) {
    library->references++;
    return library;
}

void function_library_release(struct function_library *library) {
    if (--library->references > 0) return;
    for (size_t i = 0; i < library->function_count; i++) free_function(library->functions[i]);
    hashtable_free(library->by_key);
    mem_free(library->functions);
    sds_free(library->name);
    sds_free(library->code);
    mem_free(library);
}

/* Returns the language that the code is written in, or NULL with *error set. */
static const struct function_language *language_of(const struct functions *functions,
                                                   const struct function_code *parsed, sds *error) {
    const struct function_language *language = functions->language;
    if (language && slice_equal_nocase(sds_slice(parsed->engine), slice_of_cstr(language->name)))
        return language;
    *error = sds_format("Engine '%s' not found", parsed->engine);
    return NULL;
}

static struct function_library *compile(const struct function_language *language,
                                        const struct function_code *parsed, struct slice code,
                                        unsigned flags, sds *error) {
    struct function_library *library = mem_alloc(sizeof(*library));
    *library = (struct function_library){.name = sds_new(sds_slice(parsed->name)),
                                         .code = sds_new(code),
                                         .language = language,
                                         .by_key = hashtable_new(&functions_by_key),
                                         .references = 1};
    if (language->compile(language->arg, library, parsed->body, flags, error)) {
        if (library->function_count > 0) return library;
        *error = sds_new(SLICE("No functions registered"));
    }
    function_library_release(library);
    return NULL;
}

static bool fail(sds *error, const char *format, sds name) {
    *error = sds_format(format, name);
    return false;
}

static bool library_may_be_added(const struct function_set *set, sds name, bool replaces,
                                 sds *error) {
    return replaces || !function_set_library(set, sds_slice(name)) ||
           fail(error, "Library '%s' already exists", name);
}

struct function_library *function_library_new(const struct functions *functions,
                                              const struct function_set *set, struct slice code,
                                              unsigned flags, sds *error) {
    struct function_code parsed;
    if (!function_code_parse(&parsed, code, error)) return NULL;
    struct function_library *library = NULL;
    const struct function_language *language = language_of(functions, &parsed, error);
    if (language && library_may_be_added(set, parsed.name, flags & FUNCTION_REPLACES, error))
        library = compile(language, &parsed, code, flags, error);
    function_code_free(&parsed);
    return library;
}

/* --- Sets --- */

struct function_set *function_set_new(void) {
    static const struct hashtable_type by_name = {library_name};
    struct function_set *set = mem_alloc_zeroed(sizeof(*set));
    set->by_name = hashtable_new(&by_name);
    set->functions = hashtable_new(&functions_by_key);
    return set;
}

void function_set_free(struct function_set *set) {
    hashtable_free(set->by_name);
    hashtable_free(set->functions);
    for (size_t i = 0; i < set->library_count; i++) function_library_release(set->libraries[i]);
    mem_free(set->libraries);
    mem_free(set);
}

struct function_library *function_set_library(const struct function_set *set, struct slice name) {
    return find(set->by_name, name);
}

struct function *function_set_function(const struct function_set *set, struct slice name) {
    enum { USUAL = 64 };
    char key[USUAL];
    if (name.len <= USUAL) {
        for (size_t i = 0; i < name.len; i++) key[i] = ascii_lower(name.ptr[i]);
        return find(set->functions, slice_make(key, name.len));
    }
    sds longer = lower_case(name);
    struct function *function = find(set->functions, sds_slice(longer));
    sds_free(longer);
    return function;
}

size_t function_set_count(const struct function_set *set) {
    return hashtable_count(set->functions);
}

size_t function_set_memory(const struct function_set *set) {
    return set->memory + sizeof(*set) + set->library_capacity * sizeof(*set->libraries) +
           hashtable_allocated(set->by_name) + hashtable_allocated(set->functions);
}

static void take_out(struct hashtable *table, struct slice key) {
    uint64_t hash = hashtable_hash(key);
    hashtable_delete(table, hashtable_find(table, key, hash), hash);
}

/* Makes the library and its functions known by name; `place` is where the set points to it. */
static void link_library(struct function_set *set, struct function_library **place,
                         struct function_library *library) {
    *place = library;
    hashtable_insert(set->by_name, library, hashtable_hash(library_name(library)));
    for (size_t i = 0; i < library->function_count; i++)
        insert(set->functions, library->functions[i]);
    set->memory += library_memory(library);
}

/* The opposite; gives up the set's reference. */
static void unlink_library(struct function_set *set, struct function_library *library) {
    set->memory -= library_memory(library);
    take_out(set->by_name, library_name(library));
    for (size_t i = 0; i < library->function_count; i++)
        take_out(set->functions, function_key(library->functions[i]));
    function_library_release(library);
}

static struct function_library **new_place(struct function_set *set) {
    MEM_RESERVE(set->libraries, set->library_capacity, set->library_count + 1);
    return &set->libraries[set->library_count++];
}

static struct function_library **place_of(const struct function_set *set,
                                          const struct function_library *library) {
    struct function_library **place = set->libraries;
    while (*place != library) place++;
    return place;
}

/* Returns whether no library but `old` has a function with a name of these. */
static bool functions_may_be_added(const struct function_set *set,
                                   const struct function_library *library,
                                   const struct function_library *old, sds *error) {
    for (size_t i = 0; i < library->function_count; i++) {
        const struct function *function = library->functions[i],
                              *other = find(set->functions, function_key(function));
        if (other && other->library != old)
            return fail(error, "Function %s already exists", function->name);
    }
    return true;
}

bool function_set_add(struct function_set *set, struct function_library *library, bool replaces,
                      sds *error) {
    struct function_library *old = function_set_library(set, library_name(library));
    if (!library_may_be_added(set, library->name, replaces, error) ||
        !functions_may_be_added(set, library, old, error))
        return false;
    struct function_library **place = old ? place_of(set, old) : new_place(set);
    if (old) unlink_library(set, old);
    link_library(set, place, library);
    return true;
}

bool function_set_remove(struct function_set *set, struct slice name) {
    struct function_library *library = function_set_library(set, name);
    if (!library) return false;
    struct function_library **place = place_of(set, library),
                            **end = set->libraries + set->library_count--;
    memmove(place, place + 1, (size_t)(end - place - 1) * sizeof(struct function_library *));
    unlink_library(set, library);
    return true;
}

struct function_set *function_set_copy(const struct function_set *set) {
    struct function_set *copy = function_set_new();
    for (size_t i = 0; i < set->library_count; i++)
        link_library(copy, new_place(copy), function_library_share(set->libraries[i]));
    return copy;
}

/* --- In force --- */

void functions_init(struct functions *functions) {
    functions->set = function_set_new();
}

void functions_free(struct functions *functions) {
    function_set_free(functions->set);
    functions->set = NULL;
}

void functions_replace(struct functions *functions, struct function_set *set) {
    function_set_free(functions->set);
    functions->set = set;
}

struct function_library *functions_load(struct functions *functions, struct slice code,
                                        unsigned flags, sds *error) {
    struct function_library *library =
        function_library_new(functions, functions->set, code, flags, error);
    if (!library) return NULL;
    if (function_set_add(functions->set, library, flags & FUNCTION_REPLACES, error)) return library;
    function_library_release(library);
    return NULL;
}
