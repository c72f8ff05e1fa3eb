/* The table of commands, with rows of this test only: it depends on no real command. */
#include "table/command.h"

#include "table/secret.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void run_nothing(struct call *call) {
    (void)call;
}

static const struct command first_rows[] = {
    {.name = "expire", .group = "generic", .arity = 2, .flags = COMMAND_WRITE, .syntax = "key"},
    {.name = "expiretime", .group = "generic", .arity = -2, .flags = COMMAND_READONLY},
};

static const struct command second_rows[] = {
    {.name = "config", .group = "generic", .arity = -2, .flags = COMMAND_CONTAINER},
    {.name = "config|get", .group = "generic", .arity = 3, .flags = COMMAND_SUBCOMMAND},
    {.name = "config|set",
     .group = "generic",
     .arity = 4,
     .flags = COMMAND_SUBCOMMAND,
     .secrets = SECRETS_OF_CONFIG_SET},
    {.name = "get", .group = "generic", .arity = 2},
};

static const struct command_body bodies[] = {
    {"config|set", run_nothing}, {"config|get", run_nothing}, {"get", run_nothing},
    {"expiretime", run_nothing}, {"expire", run_nothing},     {NULL, NULL},
};

static const struct command_family first = {first_rows, 2};
static const struct command_family second = {second_rows, 4};
static const struct command_family *const families[] = {&first, &second, NULL};

static int set_up(void **state) {
    (void)state;
    command_table_init(families, bodies);
    return 0;
}

static const char *name_of(const struct command *command) {
    return command ? command->name : "";
}

static void commands_are_found_by_their_names_in_any_case(void **state) {
    (void)state;
    assert_string_equal(name_of(command_find(SLICE("EXPIRE"))), "expire");
    assert_string_equal(name_of(command_find(SLICE("ExpireTime"))), "expiretime");
    assert_string_equal(name_of(command_find(SLICE("get"))), "get");
    assert_null(command_find(SLICE("expireti")));
    assert_null(command_find(SLICE("expiretimes")));
    assert_null(command_find(SLICE("get\0")));
    assert_null(command_find(SLICE("get ")));
    assert_null(command_find_cached(command_find(SLICE("get")), SLICE("get\0\0")));
    assert_null(command_find(SLICE("")));
}

static void functions_are_bound_by_name(void **state) {
    (void)state;
    size_t count;
    const struct command *commands = command_all(&count);
    for (size_t i = 0; i < count; i++)
        assert_true(commands[i].flags & COMMAND_CONTAINER ? !commands[i].run : !!commands[i].run);
}

static void subcommands_are_found_in_their_container_only(void **state) {
    (void)state;
    const struct command *config = command_find(SLICE("config"));
    assert_string_equal(name_of(command_find_subcommand(config, SLICE("SET"))), "config|set");
    assert_null(command_find_subcommand(config, SLICE("get2")));
    assert_null(command_find(SLICE("config|get")));
    assert_null(command_find_cached(config + 1, SLICE("config|get")));
    /* The row after the last subcommand belongs to another command. */
    assert_null(command_find_subcommand(config, SLICE("")));
}

static void the_families_stand_one_behind_the_other(void **state) {
    (void)state;
    size_t count;
    const struct command *all = command_all(&count);
    assert_int_equal(count, 6);
    for (size_t i = 0; i < count; i++) assert_int_equal(command_index(&all[i]), i);
    assert_int_equal(command_index(command_find(SLICE("get"))), 5);
}

static void a_row_may_leave_its_syntax_out(void **state) {
    (void)state;
    assert_string_equal(command_find(SLICE("expire"))->syntax, "key");
    assert_string_equal(command_find(SLICE("get"))->syntax, "");
}

static void a_second_init_replaces_the_table(void **state) {
    (void)state;
    static const struct command_family *const only_second[] = {&second, NULL};
    size_t count;
    command_table_init(only_second, NULL);
    command_all(&count);
    assert_int_equal(count, 4);
    assert_null(command_find(SLICE("expire")));
    assert_int_equal(command_index(command_find(SLICE("get"))), 3);
}

static void categories_are_those_of_the_row_its_group_and_its_flags(void **state) {
    (void)state;
    static const struct command rows[] = {
        {.name = "a", .group = "generic", .categories = CATEGORY_LIST},
        {.name = "b",
         .group = "generic",
         .categories = CATEGORY_LIST,
         .flags = COMMAND_FAST | COMMAND_READONLY | COMMAND_PUBSUB},
        {.name = "c",
         .group = "generic",
         .categories = CATEGORY_LIST,
         .flags = COMMAND_WRITE | COMMAND_BLOCKING | COMMAND_ADMIN},
        {.name = "d", .group = "sorted-set", .flags = COMMAND_CONTAINER},
        {.name = "d|e", .group = "sorted-set", .flags = COMMAND_SUBCOMMAND},
    };
    static const struct command_family family = {rows, 5};
    static const struct command_family *const only_these[] = {&family, NULL};
    size_t count;
    command_table_init(only_these, NULL);
    const struct command *all = command_all(&count);
    assert_int_equal(command_categories(&all[0]), CATEGORY_LIST | CATEGORY_SLOW);
    assert_int_equal(command_categories(&all[1]),
                     CATEGORY_LIST | CATEGORY_FAST | CATEGORY_READ | CATEGORY_PUBSUB);
    assert_int_equal(command_categories(&all[2]), CATEGORY_LIST | CATEGORY_SLOW | CATEGORY_WRITE |
                                                      CATEGORY_BLOCKING | CATEGORY_ADMIN |
                                                      CATEGORY_DANGEROUS);
    assert_int_equal(command_categories(&all[3]), CATEGORY_SLOW);
    assert_int_equal(command_categories(&all[4]), CATEGORY_SORTED_SET | CATEGORY_SLOW);
    assert_int_equal(command_category_find(SLICE("SortedSet")), CATEGORY_SORTED_SET);
    assert_int_equal(command_category_find(SLICE("@list")), 0);
}

static void a_long_unknown_name_is_judged_by_its_head(void **state) {
    (void)state;
    char name[SECRET_NAME_MAX + 2];
    memset(name, 'x', sizeof(name));
    assert_false(secret_may_follow(slice_make(name, SECRET_NAME_MAX)));
    assert_false(secret_may_follow(slice_make(name, SECRET_NAME_MAX + 1)));
    assert_int_equal(secret_shown_name(slice_make(name, sizeof(name))).len, sizeof(name));
    name[SECRET_NAME_MAX - 1] = ' ';
    assert_false(secret_may_follow(slice_make(name, sizeof(name))));
    assert_int_equal(secret_shown_name(slice_make(name, sizeof(name))).len, sizeof(name));
}

static bool is_hidden(const struct command *command, const struct slice *argv, size_t argc,
                      size_t index) {
    return secret_shown(command, argv, argc, index).ptr != argv[index].ptr;
}

static void the_row_decides_which_arguments_are_secret(void **state) {
    (void)state;
    const struct command *config = command_find(SLICE("config"));
    const struct slice argv[] = {SLICE("config"), SLICE("x"), SLICE("requirepass"), SLICE("word")};
    const struct command *set = command_find_subcommand(config, SLICE("set"));
    assert_true(is_hidden(set, argv, 4, 3));
    assert_false(is_hidden(set, argv, 4, 2));
    assert_false(is_hidden(command_find_subcommand(config, SLICE("get")), argv, 4, 3));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(commands_are_found_by_their_names_in_any_case, set_up),
        cmocka_unit_test_setup(functions_are_bound_by_name, set_up),
        cmocka_unit_test_setup(subcommands_are_found_in_their_container_only, set_up),
        cmocka_unit_test_setup(the_families_stand_one_behind_the_other, set_up),
        cmocka_unit_test_setup(a_row_may_leave_its_syntax_out, set_up),
        cmocka_unit_test_setup(a_second_init_replaces_the_table, set_up),
        cmocka_unit_test_setup(categories_are_those_of_the_row_its_group_and_its_flags, set_up),
        cmocka_unit_test_setup(a_long_unknown_name_is_judged_by_its_head, set_up),
        cmocka_unit_test_setup(the_row_decides_which_arguments_are_secret, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
