/* The cache of scripts: what is found in it, what it evicts, and that it gives all memory back. */
#include "script/script_cache.h"

#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "lua/machine.h"
#include "script/shebang.h"
#include "unit/in_range.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MB = 1 << 20, MAX = SCRIPT_CACHE_EVALUATED_MAX };

struct fixture {
    struct script_cache cache;
    struct machine *machine;
    uint64_t evictions;
};

static int begin(void **state) {
    struct fixture *fixture = malloc(sizeof(*fixture));
    *fixture = (struct fixture){.machine = machine_new(32 * MB, NULL)};
    machine_seal(fixture->machine);
    script_cache_init(&fixture->cache, fixture->machine, &fixture->evictions);
    *state = fixture;
    return 0;
}

static int end(void **state) {
    struct fixture *fixture = *state;
    script_cache_free(&fixture->cache);
    machine_free(fixture->machine);
    free(fixture);
    return 0;
}

static struct script *add(struct fixture *fixture, const char *text) {
    sds error = NULL;
    struct script *script = script_cache_add(&fixture->cache, slice_of_cstr(text), false, &error);
    assert_non_null(script);
    assert_null(error);
    return script;
}

/* Adds "return <number>". */
static struct script *add_number(struct fixture *fixture, int number) {
    char text[40];
    snprintf(text, sizeof(text), "return %d", number);
    return add(fixture, text);
}

static struct script *find_number(struct fixture *fixture, int number) {
    char text[40];
    snprintf(text, sizeof(text), "return %d", number);
    return script_cache_find_text(&fixture->cache, slice_of_cstr(text));
}

static void assert_returns(struct fixture *fixture, const struct script *script, int number) {
    assert_int_equal(machine_run(fixture->machine, script->function, NULL, NULL), MACHINE_DONE);
    assert_int_equal(lua_tonumber(machine_state(fixture->machine), 1), number);
    machine_finish(fixture->machine);
}

/* --- Finding --- */

static void scripts_are_found_by_text_and_by_sha(void **state) {
    struct fixture *fixture = *state;
    struct script_cache *cache = &fixture->cache;
    struct script *script = add(fixture, "return 2");
    assert_string_equal(script->sha, "7f923f79fe76194c868d7e1d0820de36700eb649");
    assert_string_equal(script->text, "return 2");
    assert_int_equal(script->flags, SCRIPT_IS_UNDECLARED);
    assert_ptr_equal(script_cache_find_text(cache, SLICE("return 2")), script);
    assert_null(script_cache_find_text(cache, SLICE("return 3")));
    assert_null(script_cache_find_text(cache, SLICE("return ")));
    assert_ptr_equal(
        script_cache_find_sha(cache, SLICE("7F923f79fe76194c868d7e1d0820de36700eB649")), script);
    assert_null(script_cache_find_sha(cache, SLICE("7F923f79fe76194c868d7e1d0820de36700eB64")));
    assert_null(script_cache_find_sha(cache, SLICE("0F923f79fe76194c868d7e1d0820de36700eB649")));
    assert_null(script_cache_find_sha(cache, SLICE("")));
    assert_returns(fixture, script, 2);
}

static void texts_of_any_bytes_are_kept_apart(void **state) {
    struct fixture *fixture = *state;
    struct script_cache *cache = &fixture->cache;
    sds error = NULL;
    const struct slice first = SLICE("return 1 -- \0a"), second = SLICE("return 1 -- \0b");
    struct script *one = script_cache_add(cache, first, false, &error);
    struct script *two = script_cache_add(cache, second, false, &error);
    assert_true(one && two && one != two);
    assert_ptr_equal(script_cache_find_text(cache, first), one);
    assert_ptr_equal(script_cache_find_text(cache, second), two);
    assert_int_equal(script_cache_count(cache), 2);
}

static void what_cannot_be_compiled_is_not_kept(void **state) {
    struct fixture *fixture = *state;
    struct script_cache *cache = &fixture->cache;
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        {"return +", "ERR Error compiling script (new function): user_script:1: unexpected symbol "
                     "near '+'"},
        {"#!lua flags=x\n", "ERR Unexpected flag in script shebang: x"},
        {"#!lua\nreturn +", "ERR Error compiling script (new function): user_script:2: unexpected "
                            "symbol near '+'"},
    };
    size_t memory = script_cache_memory(cache), used = mem_used();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sds error = NULL;
        machine_collect(fixture->machine);
        assert_null(script_cache_add(cache, slice_of_cstr(cases[i].text), false, &error));
        assert_string_equal(error, cases[i].error);
        sds_free(error);
    }
    assert_int_equal(script_cache_count(cache), 0);
    assert_int_equal(script_cache_memory(cache), memory);
    for (int i = 0; i < 12; i++) machine_collect(fixture->machine); /* its buffers get smaller */
    assert_uint_in_range(mem_used(), 0, used + 2000);
    assert_returns(fixture, add_number(fixture, 1), 1);
}

/* --- Eviction --- */

static void the_oldest_beyond_the_most_are_evicted(void **state) {
    struct fixture *fixture = *state;
    for (int i = 0; i < 3 * MAX; i++) {
        assert_returns(fixture, add_number(fixture, i), i);
        assert_int_equal(script_cache_count(&fixture->cache), i < MAX ? i + 1 : MAX);
        assert_int_equal(fixture->evictions, i < MAX ? 0 : i + 1 - MAX);
    }
    for (int i = 0; i < 3 * MAX; i++) {
        const struct script *script = find_number(fixture, i);
        assert_true(!script == (i < 2 * MAX));
        if (script) assert_returns(fixture, script, i);
    }
}

/* Script 0 is used when only MAX - 1 others are newer, first by its text, then by its SHA-1. */
static void a_use_by_text_or_sha_makes_a_script_the_newest(void **state) {
    struct fixture *fixture = *state;
    for (int i = 0; i < MAX; i++) add_number(fixture, i);
    const char *sha = find_number(fixture, 0)->sha;
    for (int i = MAX; i < 3 * MAX - 2; i++) {
        add_number(fixture, i);
        if (i == 2 * MAX - 2) assert_non_null(find_number(fixture, 0));
    }
    assert_non_null(script_cache_find_sha(&fixture->cache, slice_make(sha, SCRIPT_SHA_LENGTH)));
    for (int i = 0; i < MAX - 1; i++) add_number(fixture, -1 - i);
    assert_non_null(find_number(fixture, 0));
    assert_null(find_number(fixture, 3 * MAX - 3));
}

static void kept_scripts_are_never_evicted_and_evict_none(void **state) {
    struct fixture *fixture = *state;
    struct script_cache *cache = &fixture->cache;
    for (int i = 0; i < MAX; i++) add_number(fixture, i);
    for (int i = MAX; i < 2 * MAX; i++) {
        char text[40];
        sds error = NULL;
        snprintf(text, sizeof(text), "return %d", i);
        assert_non_null(script_cache_add(cache, slice_of_cstr(text), true, &error));
        script_cache_keep(cache, find_number(fixture, i)); /* is kept already */
    }
    assert_int_equal(fixture->evictions, 0);
    script_cache_keep(cache, find_number(fixture, 0));
    for (int i = 0; i < 3 * MAX; i++) add_number(fixture, -1 - i);
    assert_returns(fixture, find_number(fixture, 0), 0);
    assert_null(find_number(fixture, 1));
    for (int i = MAX; i < 2 * MAX; i++) assert_returns(fixture, find_number(fixture, i), i);
    assert_int_equal(cache->evaluated_count, MAX);
    assert_int_equal(script_cache_count(cache), 2 * MAX + 1);
}

/* --- Memory --- */

/* Comments make texts long, but take nothing from the machine. */
static void memory_is_counted(void **state) {
    enum { TEXT = 10000 };
    struct fixture *fixture = *state;
    struct script_cache *cache = &fixture->cache;
    for (int i = 0; i < 2 * MAX; i++) add_number(fixture, i);
    machine_collect(fixture->machine);
    size_t few = script_cache_memory(cache), used = mem_used();
    char text[TEXT + 32];
    for (int i = 0; i < MAX; i++) {
        snprintf(text, sizeof(text), "return %d --%*d", i, TEXT - 20, 7);
        add(fixture, text);
    }
    size_t texts = MAX * (TEXT - 20);
    machine_collect(fixture->machine);
    assert_uint_in_range(script_cache_memory(cache) - few, texts, texts + texts / 3);
    assert_uint_in_range(mem_used() - used, texts, texts + texts / 2);
    for (int i = 0; i < MAX; i++) add_number(fixture, i);
    assert_uint_in_range(script_cache_memory(cache), few / 2, few * 2);
    assert_uint_in_range(mem_used(), 0, used + texts / 8 + 100000);
}

/* Distinct scripts without end take no more memory than the first ones. */
static void distinct_scripts_take_no_more_memory(void **state) {
    struct fixture *fixture = *state;
    int count = getenv("PACKLIST_SOAK") ? 1000000 : 30000;
    size_t first = 0;
    char text[200];
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof(text), "local t%d = {'%d'} return t%d[1] .. 'text %d'", i, i, i, i);
        struct script *script = add(fixture, text);
        assert_int_equal(machine_run(fixture->machine, script->function, NULL, NULL), MACHINE_DONE);
        machine_finish(fixture->machine);
        size_t memory = machine_memory(fixture->machine) + script_cache_memory(&fixture->cache);
        if (i < 10000)
            first = memory > first ? memory : first;
        else
            assert_uint_in_range(memory, 1, first + first / 4);
    }
    assert_int_equal(fixture->evictions, count - MAX);
}

static int asked;

static bool goes_on_until_third(struct machine *machine) {
    (void)machine;
    return ++asked < 3;
}

static void the_sha_of_a_long_text_can_be_stopped(void **state) {
    (void)state;
    char whole[SCRIPT_SHA_LENGTH + 1], part[SCRIPT_SHA_LENGTH + 1];
    char *text = calloc(10, MB);
    asked = 0;
    assert_true(script_sha1(slice_make(text, 10 * MB), whole, goes_on_until_third, NULL));
    assert_int_equal(asked, 3);
    assert_true(script_sha1(slice_make(text, 3 * MB), part, NULL, NULL));
    assert_string_equal(whole, part);
    assert_true(script_sha1(slice_make(text, 10 * MB), whole, NULL, NULL));
    assert_string_equal(whole, "8c206a1a87599f532ce68675536f0b1546900d7a");
    free(text);
}

#define test(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void) {
    hash_init();
    const struct CMUnitTest tests[] = {
        test(scripts_are_found_by_text_and_by_sha),
        test(texts_of_any_bytes_are_kept_apart),
        test(what_cannot_be_compiled_is_not_kept),
        test(the_oldest_beyond_the_most_are_evicted),
        test(a_use_by_text_or_sha_makes_a_script_the_newest),
        test(kept_scripts_are_never_evicted_and_evict_none),
        test(memory_is_counted),
        test(distinct_scripts_take_no_more_memory),
        test(the_sha_of_a_long_text_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
