/* functions: libraries and functions are found by name, as a model has them; what fails changes
 * nothing. */
#include "engine/functions.h"

#include "base/hash/hash.h"
#include "base/hash/random.h"
#include "base/memory/alloc.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* --- A language: each letter of the code behind the first line is a function --- */

static int live; /* functions that were compiled and not released */

static bool compile(void *arg, struct function_library *library, struct slice body, unsigned flags,
                    sds *error) {
    (void)arg;
    (void)flags;
    for (size_t i = 1; i < body.len; i++) {
        struct slice name = slice_make(body.ptr + i, 1);
        bool added = body.ptr[i] != '!' && function_library_add(library, name, NULL, 0, (int)i);
        if (!added) {
            *error = sds_new(SLICE("bad code"));
            return false;
        }
        live++;
    }
    return true;
}

static void release(void *arg, const struct function *function) {
    (void)arg;
    (void)function;
    live--;
}

static const struct function_language language = {
    .name = "LUA", .compile = compile, .release = release};

static struct functions new_functions(void) {
    struct functions functions = {.language = &language};
    functions_init(&functions);
    return functions;
}

static unsigned load_flags(bool replaces) {
    return replaces ? FUNCTION_REPLACES : 0;
}

static void assert_loaded(struct functions *functions, const char *code, bool replaces) {
    sds error = NULL;
    assert_non_null(functions_load(functions, slice_of_cstr(code), load_flags(replaces), &error));
    assert_null(error);
}

static void assert_refused(struct functions *functions, const char *code, bool replaces,
                           const char *expected) {
    sds error = NULL;
    size_t memory = functions->set->memory;
    int before = live;
    assert_null(functions_load(functions, slice_of_cstr(code), load_flags(replaces), &error));
    assert_string_equal(error, expected);
    assert_int_equal(functions->set->memory, memory);
    assert_int_equal(live, before);
    sds_free(error);
}

/* The name of the library that has the function, or "". */
static const char *home_of(const struct function_set *set, const char *name) {
    const struct function *function = function_set_function(set, slice_of_cstr(name));
    return function ? function->library->name : "";
}

static void functions_are_found_in_any_case_and_libraries_by_their_exact_name(void **state) {
    (void)state;
    struct functions functions = new_functions();
    assert_loaded(&functions, "#!lua name=one\nab", false);
    assert_loaded(&functions, "#!LUA name=One\ncD", false);
    assert_string_equal(home_of(functions.set, "A"), "one");
    assert_string_equal(home_of(functions.set, "d"), "One");
    assert_string_equal(home_of(functions.set, "x"), "");
    assert_string_equal(function_set_function(functions.set, SLICE("d"))->name, "D");
    assert_non_null(function_set_library(functions.set, SLICE("One")));
    assert_null(function_set_library(functions.set, SLICE("ONE")));
    assert_int_equal(function_set_count(functions.set), 4);
    functions_free(&functions);
    assert_int_equal(live, 0);
}

static void what_is_refused_changes_nothing(void **state) {
    (void)state;
    struct functions functions = new_functions();
    assert_loaded(&functions, "#!lua name=one\nab", false);
    assert_loaded(&functions, "#!lua name=two\ncd", false);
    assert_refused(&functions, "#!lua name=one\nx", false, "Library 'one' already exists");
    assert_refused(&functions, "#!lua name=six\nxA", false, "Function A already exists");
    assert_refused(&functions, "#!lua name=two\nca", true, "Function a already exists");
    assert_refused(&functions, "#!lua name=two\nxyX", true, "bad code");
    assert_refused(&functions, "#!lua name=two\nx!", true, "bad code");
    assert_refused(&functions, "#!lua name=two\n", true, "No functions registered");
    assert_refused(&functions, "#!js name=two\nx", true, "Engine 'js' not found");
    assert_refused(&functions, "x", true, "Missing library metadata");
    assert_string_equal(home_of(functions.set, "b"), "one");
    assert_string_equal(home_of(functions.set, "c"), "two");
    assert_loaded(&functions, "#!lua name=one\nbx", true);
    assert_string_equal(home_of(functions.set, "a"), "");
    assert_string_equal(home_of(functions.set, "x"), "one");
    assert_string_equal(functions.set->libraries[0]->name, "one");
    functions.language = NULL;
    assert_refused(&functions, "#!lua name=six\ny", false, "Engine 'lua' not found");
    functions_free(&functions);
    assert_int_equal(live, 0);
}

static void a_library_lives_as_long_as_it_is_shared(void **state) {
    (void)state;
    struct functions functions = new_functions();
    assert_loaded(&functions, "#!lua name=one\na", false);
    struct function *running = function_set_function(functions.set, SLICE("a"));
    function_library_share(running->library);
    assert_true(function_set_remove(functions.set, SLICE("one")));
    assert_false(function_set_remove(functions.set, SLICE("one")));
    assert_string_equal(home_of(functions.set, "a"), "");
    assert_int_equal(functions.set->memory, 0);
    assert_int_equal(live, 1);
    assert_string_equal(running->name, "a");
    function_library_release(running->library);
    assert_int_equal(live, 0);
    functions_free(&functions);
}

/* --- A model: the library that each of ten functions belongs to --- */

enum { LIBRARIES = 6, FUNCTIONS = 10 };
struct model {
    char home[FUNCTIONS]; /* the library's digit, or 0 */
};

static void assert_like_model(const struct function_set *set, const struct model *model) {
    size_t functions = 0, libraries = 0, memory = 0;
    for (int i = 0; i < FUNCTIONS; i++) {
        char name[] = {(char)('a' + i), 0}, home[] = {model->home[i], 0};
        assert_string_equal(home_of(set, name), home);
        functions += home[0] != 0;
    }
    for (int i = 0; i < LIBRARIES; i++) {
        char name[] = {(char)('0' + i), 0};
        bool expected = memchr(model->home, name[0], FUNCTIONS);
        assert_int_equal(function_set_library(set, slice_of_cstr(name)) != NULL, expected);
        libraries += expected;
    }
    assert_int_equal(function_set_count(set), functions);
    assert_int_equal(set->library_count, libraries);
    for (size_t i = 0; i < set->library_count; i++)
        memory += sds_allocated(set->libraries[i]->code);
    assert_true(set->memory >= memory);
}

static bool model_load(struct model *model, char library, const char *names, bool replaces) {
    struct model next = *model;
    for (int i = 0; i < FUNCTIONS; i++) {
        if (model->home[i] == library && !replaces) return false;
        if (model->home[i] == library) next.home[i] = 0;
        if (!strchr(names, 'a' + i)) continue;
        if (next.home[i]) return false;
        next.home[i] = library;
    }
    *model = next;
    return true;
}

static void model_remove(struct model *model, char library) {
    for (int i = 0; i < FUNCTIONS; i++)
        if (model->home[i] == library) model->home[i] = 0;
}

static void random_names(struct random *random, char *names) {
    uint64_t bits = random_next(random) & random_next(random);
    size_t count = 0;
    for (int i = 0; i < FUNCTIONS; i++)
        if (bits >> i & 1) names[count++] = (char)('a' + i);
    if (count == 0) names[count++] = 'a';
    names[count] = 0;
}

static void changes_are_those_of_a_model(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    struct functions functions = new_functions();
    struct model model = {0};
    for (int i = 0; i < 5000; i++) {
        char library = (char)('0' + random_below(&random, LIBRARIES)), names[FUNCTIONS + 1];
        char code[64];
        sds error = NULL;
        if (random_below(&random, 4) == 0) {
            function_set_remove(functions.set, slice_make(&library, 1));
            model_remove(&model, library);
        } else {
            bool replaces = random_below(&random, 2);
            random_names(&random, names);
            snprintf(code, sizeof(code), "#!lua name=%c\n%s", library, names);
            bool loaded =
                functions_load(&functions, slice_of_cstr(code), load_flags(replaces), &error);
            assert_int_equal(loaded, model_load(&model, library, names, replaces));
            assert_int_equal(loaded, error == NULL);
            sds_free(error);
        }
        if (random_below(&random, 10) == 0)
            functions_replace(&functions, function_set_copy(functions.set));
        assert_like_model(functions.set, &model);
        assert_int_equal(live, function_set_count(functions.set));
    }
    functions_free(&functions);
    assert_int_equal(live, 0);
}

int main(void) {
    hash_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_found_in_any_case_and_libraries_by_their_exact_name),
        cmocka_unit_test(what_is_refused_changes_nothing),
        cmocka_unit_test(a_library_lives_as_long_as_it_is_shared),
        cmocka_unit_test(changes_are_those_of_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
