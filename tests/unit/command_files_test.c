/* The commands that may stand in append-only files. */
#include "commands/commands.h"
#include "main/command_bodies.h"
#include "requests/client_commands.h"
#include "server/migrate/migrate.h"
#include "table/command.h"
#include "table/families.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static bool may_stand_in_file(const struct command *command) {
    if (command->run == migrate_command) return false;
    return command->flags & COMMAND_WRITE || command->run == select_command ||
           command->run == pfcount_command; /* it may store its result */
}

static void the_commands_of_files_are_those_that_write(void **state) {
    (void)state;
    size_t count, allowed = 0;
    const struct command *commands = command_all(&count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(command_may_be_in_file(&commands[i]), may_stand_in_file(&commands[i]));
        allowed += may_stand_in_file(&commands[i]);
    }
    assert_true(allowed > 50);
}

/* Is the command known with this name or names, and so many arguments with them? */
static bool is_known(const char *name, const char *subcommand, size_t argc) {
    struct slice argv[300] = {slice_of_cstr(name)};
    if (subcommand) argv[1] = slice_of_cstr(subcommand);
    return command_find_in_file(argv, argc);
}

static void arities_are_checked_and_names_known_in_any_case(void **state) {
    (void)state;
    assert_true(is_known("GetSet", NULL, 3));
    assert_false(is_known("getset", NULL, 2));
    assert_false(is_known("getset", NULL, 4));
    assert_true(is_known("RPUSH", NULL, 3));
    assert_true(is_known("RPUSH", NULL, 300));
    assert_false(is_known("RPUSH", NULL, 2));
    assert_false(is_known("XADD", NULL, 4));
    assert_false(is_known("", NULL, 1));
    assert_false(is_known("get", NULL, 2));
    assert_true(is_known("Function", "LOAD", 3));
    assert_true(is_known("function", "delete", 3));
    assert_false(is_known("function", "delete", 4));
    assert_false(is_known("function", "list", 2));
    assert_false(is_known("function", NULL, 1));
}

int main(void) {
    command_table_init(command_families, command_bodies);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_commands_of_files_are_those_that_write),
        cmocka_unit_test(arities_are_checked_and_names_known_in_any_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
