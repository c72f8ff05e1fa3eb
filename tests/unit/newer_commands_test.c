/* Commands of newer servers, and what they are translated to. */
#include "persist/newer_commands.h"

#include "base/sds.h"
#include "table/command.h"
#include "table/families.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { WORDS_MAX = 32 };

/* Splits at single spaces. */
static size_t split(const char *text, struct slice *words) {
    size_t count = 0;
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = text + strcspn(text, " ");
        assert_true(count < WORDS_MAX);
        words[count++] = slice_make(text, (size_t)(end - text));
    }
    return count;
}

/* The commands, "; " between them; "-" if there is no translation. */
static sds translated(const char *text) {
    struct newer_translation translation;
    struct slice argv[WORDS_MAX];
    sds out = sds_new(SLICE(""));
    size_t argc = split(text, argv);
    if (!newer_translation_begin(&translation, argv, argc, 9)) return sds_append_cstr(out, "-");
    for (size_t i = 0; i < translation.count; i++) {
        size_t count;
        const struct slice *words = newer_translation_command(&translation, i, &count);
        if (i > 0) out = sds_append_cstr(out, ";");
        for (size_t j = 0; j < count; j++) {
            if (i + j > 0) out = sds_append_cstr(out, " ");
            out = sds_append(out, words[j]);
        }
    }
    newer_translation_end(&translation);
    return out;
}

struct example {
    const char *newer;
    const char *here;
};

static void check_all(const struct example *examples, size_t count) {
    for (size_t i = 0; i < count; i++) {
        sds found = translated(examples[i].newer);
        assert_string_equal(found, examples[i].here);
        sds_free(found);
    }
}

#define CHECK_ALL(examples) check_all(examples, sizeof(examples) / sizeof((examples)[0]))

static void conditions_of_strings_are_dropped(void **state) {
    (void)state;
    static const struct example examples[] = {
        {"SET k v IFEQ old", "SET k v"},
        {"set k v PXAT 99 ifne IFEQ", "set k v PXAT 99"},
        {"SET k v GET IFDEQ 00 KEEPTTL", "SET k v KEEPTTL"},
        {"SET k v IFDNE 00 EX 7", "SET k v EX 7"},
        {"SET ifeq get IFEQ ex", "SET ifeq get"},
        {"SET k v IFEQ", "-"},
        {"SET k v IFEQ old FROB", "-"},
        {"SET k v IFEQ old EX", "-"},
        {"SET k v FROB x", "-"},
        {"SET k v EX 1 GET", "-"},
        {"SET k v IFEQ a IFEQ b", "-"},
        {"SET k v IFEQ a IFDNE b", "-"},
        {"SET k v IFEQ a NX", "-"},
        {"SET k v XX IFEQ a", "-"},
        {"SET k v", "-"},
        {"DELEX k", "DEL k"},
        {"delex k IFEQ v", "DEL k"},
        {"DELEX k ifdne 00", "DEL k"},
        {"DELEX k IFEQ", "-"},
        {"DELEX k FROB v", "-"},
        {"DELEX k IFEQ v w", "-"},
        {"DELEX", "-"},
        {"DELIFEQ k v", "DEL k"},
        {"DELIFEQ k", "-"},
        {"DELIFEQ k v w", "-"},
    };
    CHECK_ALL(examples);
}

static void msetex_becomes_a_set_of_each_key(void **state) {
    (void)state;
    static const struct example examples[] = {
        {"MSETEX 1 a 1", "SET a 1"},
        {"MSETEX 2 a 1 b 2 NX EXAT 5", "SET a 1 EXAT 5; SET b 2 EXAT 5"},
        {"msetex 2 a 1 b 2 pxat 5 xx", "SET a 1 pxat 5; SET b 2 pxat 5"},
        {"MSETEX 1 a 1 KEEPTTL", "SET a 1 KEEPTTL"},
        {"MSETEX 1 nx px", "SET nx px"},
        {"MSETEX 2 a 1 b", "-"},
        {"MSETEX 1 a 1 b 2", "-"},
        {"MSETEX 0 a 1", "-"},
        {"MSETEX -1 a 1", "-"},
        {"MSETEX x a 1", "-"},
        {"MSETEX 9223372036854775807 a 1", "-"},
        {"MSETEX 1 a 1 EX", "-"},
        {"MSETEX 1 a 1 EX 1 PX 1", "-"},
        {"MSETEX 1 a 1 EX 1 KEEPTTL", "-"},
        {"MSETEX 1 a 1 NX XX", "-"},
        {"MSETEX 1 a 1 NX EX 5 NX", "-"},
        {"MSETEX 1", "-"},
    };
    CHECK_ALL(examples);
}

static void increx_becomes_what_it_has_done(void **state) {
    (void)state;
    static const struct example examples[] = {
        {"INCREX k", "INCRBY k 1"},
        {"INCREX k BYINT -5 LBOUND 0 UBOUND 9", "INCRBY k -5"},
        {"INCREX k UBOUND inf BYFLOAT 1.5", "-"},
        {"INCREX k BYINT 1 BYINT 2", "-"},
        {"INCREX k EX 1 PX 1", "-"},
        {"INCREX k EX 1 PERSIST", "-"},
        {"INCREX k PERSIST EX 1", "-"},
        {"INCREX k PERSIST ENX", "-"},
        {"INCREX k EX 1 ENX ENX", "-"},
        {"INCREX k XX", "-"},
        {"INCREX k EX 60", "INCRBY k 1; EXPIRE k 60"},
        {"INCREX k PX 60 ENX", "INCRBY k 1; PEXPIRE k 60 NX"},
        {"INCREX k enx exat 60", "INCRBY k 1; EXPIREAT k 60 NX"},
        {"INCREX k PXAT 60 BYINT 2", "INCRBY k 2; PEXPIREAT k 60"},
        {"INCREX k PERSIST", "INCRBY k 1; PERSIST k"},
        {"INCREX k UBOUND 5 SATURATE", "-"},
        {"INCREX k ENX", "-"},
        {"INCREX k BYINT", "-"},
        {"INCREX", "-"},
    };
    CHECK_ALL(examples);
}

static void keys_are_moved_and_restored(void **state) {
    (void)state;
    static const struct example examples[] = {
        {"MOVE k 3 REPLACE", "SELECT 3; DEL k; SELECT 9; MOVE k 3"},
        {"MOVE k 3 replace x", "-"},
        {"MOVE k 9 REPLACE", "-"},
        {"MOVE k 3 FROB", "-"},
        {"MOVE k 3", "-"},
        {"RESTORE-ASKING k 0 payload REPLACE", "RESTORE k 0 payload REPLACE"},
        {"RESTORE-ASKING k 0", "-"},
    };
    CHECK_ALL(examples);
}

static void streams_have_no_groups_and_no_producers(void **state) {
    (void)state;
    static const struct example examples[] = {
        {"XADD k KEEPREF MAXLEN = 3 5-1 f v", "XADD k MAXLEN = 3 5-1 f v"},
        {"XADD k NOMKSTREAM MINID 2-0 LIMIT 5 delref 5-1 f v",
         "XADD k NOMKSTREAM MINID 2-0 LIMIT 5 5-1 f v"},
        {"XADD k MAXLEN ~ 3 ACKED 5-1 keepref v", "XADD k MAXLEN ~ 3 5-1 keepref v"},
        {"XADD k IDMP p i 5-1 f v", "XADD k 5-1 f v"},
        {"XADD k IDMPAUTO p MAXLEN 2 5-1 f v", "XADD k MAXLEN 2 5-1 f v"},
        {"XADD k MAXLEN = 3 5-1 f v", "-"},
        {"XADD k 5-1 acked v", "-"},
        {"XADD acked 5-1 f v w x", "-"},
        {"XTRIM k MAXLEN = 3 ACKED", "XTRIM k MAXLEN = 3"},
        {"XTRIM k DELREF MINID 3-0", "XTRIM k MINID 3-0"},
        {"XTRIM k MAXLEN = 3", "-"},
        {"XTRIM k MAXLEN =", "-"},
        {"XDELEX k IDS 2 1-1 2-1", "XDEL k 1-1 2-1"},
        {"XDELEX k ACKED ids 1 1-1", "XDEL k 1-1"},
        {"XDELEX k KEEPREF IDS 2 1-1", "-"},
        {"XDELEX k IDS 0", "-"},
        {"XDELEX k FROB IDS 1 1-1", "-"},
        {"XDELEX k DELREF DELREF IDS 1 1-1", "-"},
        {"XCFGSET k IDMP-DURATION 5", ""},
        {"XIDMPRECORD k p i 1-1", ""},
    };
    CHECK_ALL(examples);
}

static void whatever_is_translated_may_stand_in_a_file(void **state) {
    (void)state;
    static const char *const words[] = {
        "SET",    "MSETEX", "DELEX",  "DELIFEQ", "INCREX", "MOVE",   "XADD", "XTRIM",   "XDELEX",
        "k",      "1",      "2",      "IFEQ",    "IFDNE",  "NX",     "EX",   "KEEPTTL", "GET",
        "BYINT",  "ENX",    "UBOUND", "REPLACE", "MAXLEN", "=",      "~",    "LIMIT",   "KEEPREF",
        "DELREF", "IDMP",   "IDS",    "PERSIST", "PXAT",   "XCFGSET"};
    struct random random = random_of_this_run();
    size_t translations = 0;
    for (int round = 0; round < 200000; round++) {
        struct slice argv[8];
        struct newer_translation translation;
        size_t argc = 1 + random_below(&random, 8);
        for (size_t i = 0; i < argc; i++)
            argv[i] =
                slice_of_cstr(words[random_below(&random, i ? sizeof(words) / sizeof(*words) : 9)]);
        if (!newer_translation_begin(&translation, argv, argc, 0)) continue;
        for (size_t i = 0; i < translation.count; i++) {
            size_t count;
            const struct slice *command = newer_translation_command(&translation, i, &count);
            struct newer_translation again;
            assert_non_null(command_find_in_file(command, count));
            assert_false(newer_translation_begin(&again, command, count, 0));
        }
        newer_translation_end(&translation);
        translations++;
    }
    assert_true(translations > 100);
}

int main(void) {
    command_table_init(command_families, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_of_strings_are_dropped),
        cmocka_unit_test(msetex_becomes_a_set_of_each_key),
        cmocka_unit_test(increx_becomes_what_it_has_done),
        cmocka_unit_test(keys_are_moved_and_restored),
        cmocka_unit_test(streams_have_no_groups_and_no_producers),
        cmocka_unit_test(whatever_is_translated_may_stand_in_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
