/* The commands of append-only files against the table of commands. */
#include "persist/aof_allowed.h"

#include "client/client_commands.h"
#include "server/server_commands.h"
#include "table/families.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* The same rule as in recovery/aof_load.c. */
static bool may_stand_in_file(const struct command *command) {
    if (command->run == migrate_command) return false;
    return command->flags & COMMAND_WRITE || command->run == select_command;
}

static void the_commands_are_those_of_the_table_that_a_server_loads(void **state) {
    (void)state;
    size_t count, loaded = 0;
    const struct command *commands = command_all(&count);
    for (size_t i = 0; i < count; i++) {
        const struct command *command = &commands[i];
        bool may = may_stand_in_file(command);
        assert_int_equal(aof_command_arity(slice_of_cstr(command->name)), may ? command->arity : 0);
        loaded += may;
    }
    assert_true(loaded > 50);
}

/* Is the command known with this name or names, and so many arguments with them? */
static bool is_known(const char *name, const char *subcommand, size_t argc) {
    struct slice argv[300] = {slice_of_cstr(name)};
    if (subcommand) argv[1] = slice_of_cstr(subcommand);
    return aof_command_is_known(argv, argc);
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
    assert_false(is_known("", NULL, 0));
    assert_false(is_known("get", NULL, 2));
    assert_true(is_known("Function", "LOAD", 3));
    assert_true(is_known("function", "delete", 3));
    assert_false(is_known("function", "delete", 4));
    assert_false(is_known("function", "list", 2));
    assert_false(is_known("function", NULL, 1));
}

int main(void) {
    command_table_init(command_families);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_commands_are_those_of_the_table_that_a_server_loads),
        cmocka_unit_test(arities_are_checked_and_names_known_in_any_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
