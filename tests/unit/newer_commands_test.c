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
    if (!newer_translation_begin(&translation, argv, argc)) return sds_append_cstr(out, "-");
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

static void keys_are_restored(void **state) {
    (void)state;
    static const struct example examples[] = {
        {"RESTORE-ASKING k 0 payload REPLACE", "RESTORE k 0 payload REPLACE"},
        {"RESTORE-ASKING k 0", "-"},
    };
    CHECK_ALL(examples);
}

static void whatever_is_translated_may_stand_in_a_file(void **state) {
    (void)state;
    static const char *const words[] = {"RESTORE-ASKING", "XADD", "SET", "k",   "0", "2",
                                        "IDMP",           "IDLE", "f",   "NONE"};
    struct random random = random_of_this_run();
    size_t translations = 0;
    for (int round = 0; round < 200000; round++) {
        struct slice argv[8];
        struct newer_translation translation;
        size_t argc = 1 + random_below(&random, 8);
        for (size_t i = 0; i < argc; i++)
            argv[i] =
                slice_of_cstr(words[random_below(&random, i ? sizeof(words) / sizeof(*words) : 5)]);
        if (!newer_translation_begin(&translation, argv, argc)) continue;
        for (size_t i = 0; i < translation.count; i++) {
            size_t count;
            const struct slice *command = newer_translation_command(&translation, i, &count);
            struct newer_translation again;
            assert_non_null(command_find_in_file(command, count));
            assert_false(newer_translation_begin(&again, command, count));
        }
        newer_translation_end(&translation);
        translations++;
    }
    assert_true(translations > 100);
}

int main(void) {
    command_table_init(command_families, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_restored),
        cmocka_unit_test(whatever_is_translated_may_stand_in_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
