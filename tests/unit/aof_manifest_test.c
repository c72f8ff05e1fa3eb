/* The manifest of an append-only file: parsing, errors, and the changes of a rewrite. */
#include "persist/aof_manifest.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void parse(struct aof_manifest *manifest, const char *text) {
    sds error = NULL;
    *manifest = (struct aof_manifest){0};
    if (!aof_manifest_parse(manifest, slice_of_cstr(text), &error)) fail_msg("%s", error);
}

static void check_text(const struct aof_manifest *manifest, const char *expected) {
    sds text = aof_manifest_format(manifest);
    assert_string_equal(text, expected);
    sds_free(text);
}

/* Parses a manifest and compares its text with `expected`. */
static void check(const char *text, const char *expected) {
    struct aof_manifest manifest;
    parse(&manifest, text);
    check_text(&manifest, expected);
    aof_manifest_free(&manifest);
}

static void check_refused(const char *text, const char *expected) {
    struct aof_manifest manifest = {0};
    sds error = NULL;
    assert_false(aof_manifest_parse(&manifest, slice_of_cstr(text), &error));
    assert_string_equal(error, expected);
    assert_int_equal(manifest.count, 0);
    assert_null(manifest.files);
    sds_free(error);
}

static void manifests_are_read_and_written(void **state) {
    (void)state;
    const char *text = "file a.aof.2.base.rdb seq 2 type b\n"
                       "file a.aof.1.incr.aof seq 1 type h\n"
                       "file a.aof.2.incr.aof seq 2 type i\n"
                       "file a.aof.3.incr.aof seq 3 type i\n";
    check(text, text);
}

static void comments_and_unknown_pairs_are_skipped(void **state) {
    (void)state;
    check("# a comment\nfile x seq 7 type i startoffset 12 endoffset 14\n",
          "file x seq 7 type i\n");
    check("type b seq 3 file y\n", "file y seq 3 type b\n");
}

static void names_with_special_bytes_are_quoted(void **state) {
    (void)state;
    const char *text = "file \"my file\\n\\x01\\\"\" seq 1 type i\n";
    struct aof_manifest manifest;
    parse(&manifest, text);
    assert_string_equal(manifest.files[0].name, "my file\n\x01\"");
    check_text(&manifest, text);
    aof_manifest_free(&manifest);
}

static void bad_lines_are_refused_with_their_number(void **state) {
    (void)state;
    check_refused("", "line 1: no file is named");
    check_refused("# only a comment\n", "line 2: no file is named");
    check_refused("file a seq 1 type i", "line 1: the line does not end");
    check_refused("\n", "line 1: a line needs a file, a seq and a type");
    check_refused("file a seq 1\n", "line 1: a line needs a file, a seq and a type");
    check_refused("file a seq 1 type\n", "line 1: a key has no value");
    check_refused("file a seq x type i\n", "line 1: the sequence number is not a positive number");
    check_refused("file a seq 0 type i\n", "line 1: the sequence number is not a positive number");
    check_refused("file a seq 4611686018427387904 type i\n",
                  "line 1: the sequence number leaves none for what follows");
    check_refused("file a seq 1 type x\n",
                  "line 1: Unknown AOF file type: it is none of b, h and i");
    check_refused("file a seq 1 type base\n",
                  "line 1: Unknown AOF file type: it is none of b, h and i");
    check_refused("file \"a seq 1 type i\n", "line 1: the quotes are not balanced");
    check_refused("file a seq 1 type i\nfile b seq 1 type i\n",
                  "line 2: the sequence numbers do not ascend");
    check_refused("file a seq 1 type b\nfile b seq 2 type b\n",
                  "line 2: there is a second base file");
}

static void files_are_plain_names(void **state) {
    (void)state;
    static const char *const names[] = {"../a", "/etc/passwd", "a/b",        ".",
                                        "..",   "\"\"",        "\"a\\x00b\""};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        sds text = sds_append_format(sds_new(SLICE("")), "file %s seq 1 type i\n", names[i]);
        check_refused(text, "line 1: the file is not a plain name");
        sds_free(text);
    }
}

static void check_name(size_t len, const char *error) {
    char name[300];
    memset(name, '\xff', len);
    sds text = sds_append_format(sds_new(SLICE("")), "file %.*s seq 1 type i\n", (int)len, name);
    if (error) {
        check_refused(text, error);
    } else {
        struct aof_manifest manifest, again;
        parse(&manifest, text);
        sds quoted = aof_manifest_format(&manifest);
        parse(&again, quoted);
        assert_string_equal(again.files[0].name, manifest.files[0].name);
        sds_free(quoted);
        aof_manifest_free(&again);
        aof_manifest_free(&manifest);
    }
    sds_free(text);
}

static void names_are_as_long_as_file_systems_have_them(void **state) {
    (void)state;
    check_name(255, NULL);
    check_name(256, "line 1: the file is not a plain name");
}

static void lines_are_bounded(void **state) {
    (void)state;
    sds text = sds_new(SLICE("file "));
    for (int i = 0; i < 4000; i++) text = sds_append(text, SLICE("a"));
    text = sds_append(text, SLICE(" seq 1 type i\n"));
    check_refused(text, "line 1: the line is too long");
    sds_free(text);
}

/* A rewrite begins with a new increment. It ends with a new base, and makes the older files
 * history. */
static void a_rewrite_makes_history(void **state) {
    (void)state;
    struct aof_manifest manifest = {0}, copy;
    aof_manifest_add_incr(&manifest, "a");
    check_text(&manifest, "file a.1.incr.aof seq 1 type i\n");
    aof_manifest_add_incr(&manifest, "a");
    aof_manifest_add_incr(&manifest, "a");
    aof_manifest_add_base(&manifest, "a", true);
    aof_manifest_retire_incrs(&manifest, 1);
    check_text(&manifest, "file a.1.base.rdb seq 1 type b\n"
                          "file a.1.incr.aof seq 1 type h\n"
                          "file a.2.incr.aof seq 2 type h\n"
                          "file a.3.incr.aof seq 3 type i\n");
    aof_manifest_copy(&copy, &manifest);
    aof_manifest_add_base(&manifest, "a", false);
    aof_manifest_retire_incrs(&manifest, 0);
    aof_manifest_drop_history(&manifest);
    check_text(&manifest, "file a.2.base.aof seq 2 type b\n");
    assert_null(aof_manifest_last(&manifest));
    assert_string_equal(aof_manifest_add_incr(&manifest, "a")->name, "a.4.incr.aof");
    assert_string_equal(aof_manifest_base(&manifest)->name, "a.2.base.aof");
    assert_int_equal(copy.count, 4);
    assert_string_equal(aof_manifest_last(&copy)->name, "a.3.incr.aof");
    aof_manifest_free(&copy);
    aof_manifest_free(&manifest);
}

static void names_of_the_history_are_not_reused(void **state) {
    (void)state;
    struct aof_manifest manifest;
    parse(&manifest, "file a.2.base.rdb seq 2 type b\n"
                     "file a.1.base.rdb seq 1 type h\n"
                     "file a.4.incr.aof seq 4 type h\n"
                     "file a.3.incr.aof seq 3 type h\n");
    assert_string_equal(aof_manifest_add_incr(&manifest, "a")->name, "a.5.incr.aof");
    assert_string_equal(aof_manifest_add_base(&manifest, "a", true)->name, "a.3.base.rdb");
    aof_manifest_free(&manifest);
    parse(&manifest, "file a.7.base.rdb seq 7 type h\n"
                     "file a.2.base.rdb seq 2 type b\n"
                     "file a.9.incr.aof seq 9 type i\n");
    assert_string_equal(aof_manifest_add_base(&manifest, "a", true)->name, "a.8.base.rdb");
    assert_string_equal(aof_manifest_add_incr(&manifest, "a")->name, "a.10.incr.aof");
    aof_manifest_free(&manifest);
}

static void an_old_file_becomes_the_base(void **state) {
    (void)state;
    struct aof_manifest manifest = {0};
    aof_manifest_adopt_base(&manifest, "appendonly.aof");
    aof_manifest_add_incr(&manifest, "appendonly.aof");
    check_text(&manifest, "file appendonly.aof seq 1 type b\n"
                          "file appendonly.aof.1.incr.aof seq 1 type i\n");
    aof_manifest_free(&manifest);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(manifests_are_read_and_written),
        cmocka_unit_test(comments_and_unknown_pairs_are_skipped),
        cmocka_unit_test(names_with_special_bytes_are_quoted),
        cmocka_unit_test(bad_lines_are_refused_with_their_number),
        cmocka_unit_test(files_are_plain_names),
        cmocka_unit_test(names_are_as_long_as_file_systems_have_them),
        cmocka_unit_test(lines_are_bounded),
        cmocka_unit_test(a_rewrite_makes_history),
        cmocka_unit_test(names_of_the_history_are_not_reused),
        cmocka_unit_test(an_old_file_becomes_the_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
