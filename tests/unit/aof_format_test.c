/* Parsing commands of a file: complete ones are returned, incomplete ones need more bytes, and
 * damage is reported with its place. */
#include "persist/command_reader.h"

#include "unit/guard.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void check_command(struct command_parser *parser, const char *text, size_t argc,
                          const char *last) {
    assert_int_equal(command_parse(parser, text, strlen(text)), COMMAND_ITEM_COMMAND);
    assert_int_equal(parser->argc, argc);
    assert_true(slice_equal(parser->argv[argc - 1], slice_of_cstr(last)));
}

static void commands_are_found(void **state) {
    (void)state;
    struct command_parser parser = {0};
    check_command(&parser, "*1\r\n$4\r\nPING\r\n", 1, "PING");
    check_command(&parser, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\n\r\n*1\r\nrest", 3, "\r\n*1");
    assert_int_equal(parser.consumed, 30);
    check_command(&parser, "*2\r\n$3\r\nGET\r\n$0\r\n\r\n", 2, "");
    command_parser_free(&parser);
}

static void annotations_are_lines(void **state) {
    (void)state;
    struct command_parser parser = {0};
    const char *text = "#TS:123\r\n*1\r\n";
    assert_int_equal(command_parse(&parser, text, strlen(text)), COMMAND_ITEM_ANNOTATION);
    assert_true(slice_equal(parser.argv[0], SLICE("#TS:123")));
    assert_int_equal(parser.consumed, 9);
    command_parser_free(&parser);
}

/* Wherever the bytes end, the parser asks for more and reads no byte after the end. */
static void every_prefix_needs_more_bytes(void **state) {
    (void)state;
    static const char *const texts[] = {"*3\r\n$5\r\nRPUSH\r\n$1\r\nk\r\n$12\r\nabcdefghijkl\r\n",
                                        "#TS:1700000000\r\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct command_parser parser = {0};
        size_t whole = strlen(texts[i]);
        struct guard guard = guard_new(whole);
        for (size_t len = 0; len < whole; len++) {
            const char *bytes = (const char *)guard_place(&guard, texts[i], len);
            assert_int_equal(command_parse(&parser, bytes, len), COMMAND_ITEM_MORE);
        }
        assert_int_not_equal(command_parse(&parser, texts[i], whole), COMMAND_ITEM_MORE);
        assert_int_equal(parser.consumed, whole);
        guard_free(&guard);
        command_parser_free(&parser);
    }
}

static void check_bad(const char *text, size_t at, const char *error) {
    struct command_parser parser = {0};
    assert_int_equal(command_parse(&parser, text, strlen(text)), COMMAND_ITEM_BAD);
    assert_string_equal(parser.error, error);
    assert_int_equal(parser.error_at, at);
    command_parser_free(&parser);
}

static void damage_is_reported_with_its_place(void **state) {
    (void)state;
    const char *number = "a count or length is not a number in range";
    const char *line = "a line does not end where it should";
    check_bad("SET a b\r\n", 0, "no command begins here");
    check_bad("*0\r\n", 4, "a command has no arguments");
    check_bad("*-1\r\n", 1, number);
    check_bad("*\r\n", 1, number);
    check_bad("*01\r\n", 3, number);
    check_bad("*99999999999\r\n", 12, number);
    check_bad("*1\r\n$99999999999999999999999\r\n", 25, number);
    check_bad("*1\n$4\r\nPING\r\n", 2, line);
    check_bad("*1\r\r$4\r\nPING\r\n", 3, line);
    check_bad("*1\r\n$3\r\nPING\r\n", 11, line);
    check_bad("*1\r\n:3\r\n", 4, "no argument begins here");
    check_bad("*2\r\n$4\r\nPING\r\n*1\r\n", 14, "no argument begins here");
    check_bad("#TS:1\n", 0, "an annotation does not end as it should");
}

static void announced_counts_take_no_memory(void **state) {
    (void)state;
    struct command_parser parser = {0};
    const char *text = "*2000000000\r\n$9000000000000000000\r\nabc";
    assert_int_equal(command_parse(&parser, text, strlen(text)), COMMAND_ITEM_MORE);
    assert_int_equal(parser.capacity, 0);
    command_parser_free(&parser);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_are_found),
        cmocka_unit_test(annotations_are_lines),
        cmocka_unit_test(every_prefix_needs_more_bytes),
        cmocka_unit_test(damage_is_reported_with_its_place),
        cmocka_unit_test(announced_counts_take_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
