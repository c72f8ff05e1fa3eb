/* command_reader: the items are those that were written, in whatever pieces the file is read. For a
 * file that is cut off, the reader knows up to where it is complete. */
#include "persist/command_reader.h"

#include "base/memory/alloc.h"
#include "base/text/sds.h"
#include "unit/rdb_io.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* --- Random files --- */

enum { ITEMS_MAX = 60 };

/* The items of the file: the kind of each, its end, and up to where the file is complete then. */
struct model {
    sds bytes;
    size_t count;
    enum command_read kinds[ITEMS_MAX];
    size_t args[ITEMS_MAX];
    size_t ends[ITEMS_MAX];
    size_t whole[ITEMS_MAX];
};

static sds append_command(sds out, size_t argc, const struct slice *argv) {
    out = sds_append_format(out, "*%zu\r\n", argc);
    for (size_t i = 0; i < argc; i++) {
        out = sds_append_format(out, "$%zu\r\n", argv[i].len);
        out = sds_append(out, argv[i]);
        out = sds_append_cstr(out, "\r\n");
    }
    return out;
}

static void add_random_command(struct model *model, struct random *random) {
    static char text[3000];
    struct slice argv[4];
    memset(text, 'x', sizeof(text));
    size_t argc = 1 + random_below(random, 4);
    for (size_t i = 0; i < argc; i++) {
        size_t max = random_below(random, 8) ? 12 : sizeof(text);
        argv[i] = slice_make(text, random_below(random, max));
    }
    model->bytes = append_command(model->bytes, argc, argv);
    model->args[model->count] = argc;
}

static struct model model_random(struct random *random) {
    struct model model = {.bytes = sds_new(SLICE(""))};
    bool in_multi = false;
    size_t whole = 0, count = random_below(random, ITEMS_MAX);
    for (; model.count < count; model.count++) {
        enum command_read kind = COMMAND_READ_COMMAND;
        size_t roll = random_below(random, 10);
        if (roll == 0) kind = COMMAND_READ_ANNOTATION;
        if (roll < 4 && roll > 0) kind = in_multi ? COMMAND_READ_EXEC : COMMAND_READ_MULTI;
        model.args[model.count] = 1;
        if (kind == COMMAND_READ_ANNOTATION)
            model.bytes = sds_append_cstr(model.bytes, "#TS:1700000000\r\n");
        else if (kind == COMMAND_READ_MULTI)
            model.bytes = append_command(model.bytes, 1, (struct slice[]){SLICE("MULTI")});
        else if (kind == COMMAND_READ_EXEC)
            model.bytes = append_command(model.bytes, 1, (struct slice[]){SLICE("exec")});
        else
            add_random_command(&model, random);
        if (kind == COMMAND_READ_MULTI || kind == COMMAND_READ_EXEC) in_multi = !in_multi;
        if (!in_multi) whole = sds_len(model.bytes);
        model.kinds[model.count] = kind;
        model.ends[model.count] = sds_len(model.bytes);
        model.whole[model.count] = whole;
    }
    return model;
}

/* Reads the first `size` bytes of the file, which begin at `offset` of a larger one. */
static void assert_reads(const struct model *model, size_t size, uint64_t offset,
                         struct random *random) {
    struct rdb_io io = rdb_io_new(random);
    struct command_reader reader;
    size_t end = 0, whole = 0, i = 0;
    io.bytes = sds_append(io.bytes, slice_make(model->bytes, size));
    command_reader_start(&reader, rdb_io_source(&io), offset);
    for (; i < model->count && model->ends[i] <= size; i++) {
        assert_int_equal(command_reader_next(&reader), model->kinds[i]);
        assert_int_equal(reader.parser.argc, model->args[i]);
        assert_int_equal(reader.offset, offset + end);
        end = model->ends[i];
        whole = model->whole[i];
        assert_int_equal(reader.next_offset, offset + end);
        assert_int_equal(reader.whole, offset + whole);
    }
    assert_int_equal(command_reader_next(&reader),
                     whole == size ? COMMAND_READ_END : COMMAND_READ_CUT);
    assert_int_equal(reader.whole, offset + whole);
    assert_int_equal(command_reader_rest(&reader).len, size - end);
    command_reader_end(&reader);
    sds_free(io.bytes);
}

static void files_are_read_and_cuts_are_noticed(void **state) {
    struct random *random = *state;
    for (int round = 0; round < 300; round++) {
        struct model model = model_random(random);
        size_t size = sds_len(model.bytes);
        assert_reads(&model, size, random_below(random, 1000), random);
        for (int i = 0; i < 20; i++)
            assert_reads(&model, random_below(random, size + 1), 0, random);
        sds_free(model.bytes);
    }
}

/* --- Errors --- */

static void assert_ends(const char *bytes, enum command_read expected, const char *error,
                        uint64_t at) {
    struct random random;
    random_seed(&random, 1);
    struct rdb_io io = rdb_io_new(&random);
    struct command_reader reader;
    enum command_read read;
    io.bytes = sds_append_cstr(io.bytes, bytes);
    command_reader_start(&reader, rdb_io_source(&io), 100);
    while ((read = command_reader_next(&reader)) <= COMMAND_READ_ANNOTATION) continue;
    assert_int_equal(read, expected);
    if (error) {
        assert_string_equal(reader.error, error);
        assert_int_equal(reader.error_offset, 100 + at);
    }
    command_reader_end(&reader);
    sds_free(io.bytes);
}

#define GOOD  "*1\r\n$4\r\nPING\r\n"
#define MULTI "*1\r\n$5\r\nMULTI\r\n"
#define EXEC  "*1\r\n$4\r\nEXEC\r\n"

static void errors_are_reported_with_their_place(void **state) {
    (void)state;
    assert_ends("", COMMAND_READ_END, NULL, 0);
    assert_ends(GOOD "x", COMMAND_READ_BAD, "no command begins here", 14);
    assert_ends(GOOD "*1\r\n#", COMMAND_READ_BAD, "no argument begins here", 18);
    assert_ends(MULTI GOOD MULTI, COMMAND_READ_BAD, "MULTI inside MULTI", 29);
    assert_ends(MULTI EXEC GOOD EXEC, COMMAND_READ_BAD, "EXEC without MULTI", 43);
    assert_ends(MULTI GOOD, COMMAND_READ_CUT, NULL, 0);
    /* With arguments these are other commands. */
    assert_ends("*2\r\n$5\r\nMULTI\r\n$1\r\nx\r\n", COMMAND_READ_END, NULL, 0);
}

static void a_source_that_fails_is_reported(void **state) {
    struct random *random = *state;
    struct rdb_io io = rdb_io_new(random);
    struct command_reader reader;
    io.fail_at = 0;
    command_reader_start(&reader, rdb_io_source(&io), 0);
    errno = 0;
    assert_int_equal(command_reader_next(&reader), COMMAND_READ_FAILED);
    assert_int_equal(errno, EIO);
    command_reader_end(&reader);
    sds_free(io.bytes);
}

int main(void) {
    struct random random = random_of_this_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(files_are_read_and_cuts_are_noticed, &random),
        cmocka_unit_test(errors_are_reported_with_their_place),
        cmocka_unit_test_prestate(a_source_that_fails_is_reported, &random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
