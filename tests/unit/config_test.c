/* config: texts of values, reading files and command lines, all-or-nothing changes, rewriting. */
#include "config/config.h"

#include "base/files/file.h"
#include "base/memory/alloc.h"
#include "base/text/secret.h"
#include "config/config_table.h"
#include "config/title_template.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* A configuration with its source, new for each test. */
struct fixture {
    struct config config;
    struct config_source source;
};

static int setup(void **state) {
    struct fixture *fixture = mem_alloc_zeroed(sizeof(*fixture));
    config_init(&fixture->config);
    *state = fixture;
    return 0;
}

static int teardown(void **state) {
    struct fixture *fixture = *state;
    log_set_level(LOG_NOTHING);
    config_log_notes(&fixture->source);
    config_forget_users(&fixture->source);
    sds_free(fixture->source.path);
    config_free(&fixture->config);
    mem_free(fixture);
    return 0;
}

static const struct config_directive *row(const char *name) {
    const struct config_directive *directive = config_find(slice_of_cstr(name));
    assert_non_null(directive);
    return directive;
}

static void assert_value(const struct config *config, const char *name, const char *expected) {
    sds text = config_append_value(config, row(name), sds_new(SLICE("")));
    assert_string_equal(text, expected);
    sds_free(text);
}

static void accept(struct config *config, const char *name, const char *value, const char *shown) {
    struct slice text = slice_of_cstr(value);
    sds error = NULL;
    bool done = config_set(config, row(name), &text, 1, &error);
    if (!done) print_error("%s %s: %s\n", name, value, error);
    assert_true(done);
    assert_value(config, name, shown);
}

/* The value must be refused with this reason, and the old one stay. */
static void refuse(struct config *config, const char *name, const char *value, const char *why) {
    struct slice text = slice_of_cstr(value);
    sds before = config_append_value(config, row(name), sds_new(SLICE("")));
    sds error = NULL;
    assert_false(config_set(config, row(name), &text, 1, &error));
    assert_string_equal(error, why);
    assert_value(config, name, before);
    sds_free(error);
    sds_free(before);
}

/* --- Values --- */

static void defaults_are_those_of_redis(void **state) {
    struct config *config = &((struct fixture *)*state)->config;
    assert_value(config, "bind", "127.0.0.1 -::1");
    assert_value(config, "port", "6379");
    assert_value(config, "protected-mode", "yes");
    assert_value(config, "maxclients", "10000");
    assert_value(config, "loglevel", "notice");
    assert_value(config, "proto-max-bulk-len", "536870912");
    assert_value(config, "client-query-buffer-limit", "1073741824");
    assert_value(config, "client-output-buffer-limit",
                 "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60");
    assert_value(config, "list-max-listpack-size", "-2");
    assert_value(config, "save", "3600 1 300 100 60 10000");
    assert_value(config, "dbfilename", "dump.rdb");
    assert_value(config, "stop-writes-on-bgsave-error", "yes");
    assert_value(config, "appendonly", "no");
    assert_value(config, "maxmemory", "0");
    assert_value(config, "maxmemory-policy", "noeviction");
}

static void every_default_is_accepted(void **state) {
    struct config *config = &((struct fixture *)*state)->config;
    for (size_t i = 0; i < config_table_count; i++) {
        struct slice text = slice_of_cstr(config_table[i].default_text);
        sds error = NULL;
        assert_true(config_set(config, &config_table[i], &text, 1, &error));
        assert_ptr_equal(config_find(slice_of_cstr(config_table[i].name)), &config_table[i]);
    }
}

/* This also shows that each name, alias or not, is in the table once. */
static void a_directive_is_found_by_its_alias(void **state) {
    (void)state;
    size_t aliases = 0;
    for (size_t i = 0; i < config_table_count; i++) {
        const char *alias = config_table[i].alias;
        if (!alias) continue;
        assert_ptr_equal(config_find(slice_of_cstr(alias)), &config_table[i]);
        aliases++;
    }
    assert_true(aliases > 20);
    const struct config_directive *directive = row("List-Max-ZipList-Size");
    assert_string_equal(directive->name, "list-max-listpack-size");
    assert_string_equal(config_name_matched(directive, SLICE("LIST-max-ziplist-size")),
                        "list-max-ziplist-size");
    assert_null(config_name_matched(directive, SLICE("list-max-ziplist")));
}

static void a_name_and_its_alias_are_two_in_a_set_of_names(void **state) {
    (void)state;
    struct config_name_set set = {0};
    const struct config_directive *sized = row("list-max-listpack-size"), *hz = row("hz");
    assert_true(config_name_set_add(&set, sized, SLICE("list-max-ziplist-size")));
    assert_true(config_name_set_add(&set, sized, SLICE("list-max-listpack-size")));
    assert_true(config_name_set_add(&set, hz, SLICE("hz")));
    assert_false(config_name_set_add(&set, sized, SLICE("LIST-MAX-ZIPLIST-SIZE")));
    assert_false(config_name_set_add(&set, sized, SLICE("list-max-listpack-size")));
    assert_false(config_name_set_add(&set, hz, SLICE("HZ")));
}

static void numbers(void **state) {
    struct config *config = &((struct fixture *)*state)->config;
    accept(config, "port", "0", "0");
    accept(config, "PORT", "65535", "65535");
    refuse(config, "port", "65536", "argument must be between 0 and 65535 inclusive");
    refuse(config, "port", "-1", "argument must be between 0 and 65535 inclusive");
    refuse(config, "port", "1x", "argument couldn't be parsed into an integer");
    refuse(config, "port", "", "argument couldn't be parsed into an integer");
    refuse(config, "port", "010", "argument couldn't be parsed into an integer");
    accept(config, "hz", "0", "1");
    accept(config, "hz", "1000", "500");
    refuse(config, "hz", "-1", "argument must be between 0 and 2147483647 inclusive");
    refuse(config, "hz", "2147483648", "argument must be between 0 and 2147483647 inclusive");
    refuse(config, "maxmemory-samples", "65", "argument must be between 1 and 64 inclusive");
    accept(config, "list-max-ziplist-size", "-5", "-5");
    assert_value(config, "list-max-listpack-size", "-5");
    accept(config, "unixsocketperm", "0770", "770");
    refuse(config, "unixsocketperm", "888", "argument couldn't be parsed as an octal number");
    refuse(config, "unixsocketperm", "1000", "argument must be between 0 and 777 inclusive");
    refuse(config, "unixsocketperm", "777777777777777777777",
           "argument couldn't be parsed as an octal number");
}

static void titles(void **state) {
    struct config *config = &((struct fixture *)*state)->config;
    static const char *const refused[] = {"", "{", "{title", "x {nosuch}", "{}", "{Title}", "a}{b"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        refuse(config, "proc-title-template", refused[i],
               "template format is invalid or contains unknown variables");
    accept(config, "proc-title-template", "}a {port}", "}a {port}");
    struct title_values values = {.title = "t", .port = "1"};
    sds title =
        title_template_expand(SLICE(" {title}:{port} {server-mode}{config-file} "), &values);
    assert_string_equal(title, "t:1");
    sds_free(title);
}

static void sizes(void **state) {
    struct config *config = &((struct fixture *)*state)->config;
    accept(config, "client-query-buffer-limit", "2gB", "2147483648");
    accept(config, "proto-max-bulk-len", "1048576b", "1048576");
    accept(config, "maxmemory", "18446744073709551615", "18446744073709551615");
    refuse(config, "maxmemory", "18446744073709551616", "argument must be a memory value");
    refuse(config, "proto-max-bulk-len", "1.5mb", "argument must be a memory value");
    refuse(config, "proto-max-bulk-len", "-5", "argument must be a memory value");
    refuse(config, "proto-max-bulk-len", "1",
           "argument must be between 1048576 and 34359738368 inclusive");
    refuse(config, "proto-max-bulk-len", "8589934592gb",
           "argument must be between 1048576 and 34359738368 inclusive");
}

static void words(void **state) {
    struct config *config = &((struct fixture *)*state)->config;
    accept(config, "protected-mode", "NO", "no");
    refuse(config, "protected-mode", "1", "argument must be 'yes' or 'no'");
    accept(config, "loglevel", "DEBUG", "debug");
    refuse(config, "loglevel", "loud",
           "argument(s) must be one of the following: debug, verbose, notice, warning, nothing");
    accept(config, "requirepass", "with \"quotes\" and blanks", "with \"quotes\" and blanks");
    accept(config, "requirepass", "", "");
}

static void lists_of_words(void **state) {
    struct config *config = &((struct fixture *)*state)->config;
    accept(config, "bind", "* -::*", "* -::*");
    accept(config, "bind", "", "");
    assert_int_equal(config->bind_count, 0);
    refuse(config, "bind", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17",
           "Too many bind addresses specified.");
    accept(config, "save", "900 1 300 10", "900 1 300 10");
    refuse(config, "save", "900", "Invalid save parameters");
    refuse(config, "save", "0 1", "Invalid save parameters");
    refuse(config, "save", "a b", "Invalid save parameters");
    accept(config, "save", "", "");
    accept(config, "shutdown-on-sigterm", "FORCE save now", "save now force");
    refuse(config, "shutdown-on-sigterm", "save nosave",
           "shutdown options SAVE and NOSAVE can't be used simultaneously");
    refuse(config, "shutdown-on-sigterm", "abort",
           "argument(s) must be one of the following: default, save, nosave, now, force, safe, "
           "failover");
    accept(config, "shutdown-on-sigterm", "default", "default");
    char many[256];
    memset(many, ' ', sizeof(many));
    for (size_t i = 0; i < sizeof(many); i += 2) many[i] = '1';
    many[sizeof(many) - 1] = '\0';
    refuse(config, "bind", many, "wrong number of arguments");
}

static void output_limits(void **state) {
    struct config *config = &((struct fixture *)*state)->config;
    const char *name = "client-output-buffer-limit";
    accept(config, name, "normal 1mb 2 3 pubsub 1 1 1",
           "normal 1048576 2 3 slave 268435456 67108864 60 pubsub 1 1 1");
    accept(config, name, "replica 1 2 4", "normal 1048576 2 3 slave 1 2 4 pubsub 1 1 1");
    accept(config, name, "", "normal 1048576 2 3 slave 1 2 4 pubsub 1 1 1");
    refuse(config, name, "normal 1 2", "Wrong number of arguments in buffer limit configuration.");
    refuse(config, name, "normal 9 9 9 master 1 2 4",
           "Invalid client class specified in buffer limit configuration.");
    const char *bad = "Error in hard, soft or soft_seconds setting in buffer limit configuration.";
    refuse(config, name, "normal 1mb 2 x", bad);
    refuse(config, name, "normal -1 2 3", bad);
    refuse(config, name, "normal 1 2 -3", bad);
}

static void a_copy_owns_its_values(void **state) {
    struct config *config = &((struct fixture *)*state)->config;
    struct config copy;
    accept(config, "requirepass", "secret", "secret");
    config_copy(&copy, config);
    accept(config, "requirepass", "other", "other");
    accept(config, "bind", "::1", "::1");
    assert_value(&copy, "requirepass", "secret");
    assert_value(&copy, "bind", "127.0.0.1 -::1");
    config_free(&copy);
}

/* --- Reading --- */

static void read_text(struct fixture *fixture, const char *text) {
    sds error = NULL;
    bool done =
        config_load_text(&fixture->config, &fixture->source, "file", slice_of_cstr(text), &error);
    if (!done) print_error("%s", error);
    assert_true(done);
}

static void refuse_text(struct fixture *fixture, const char *text, const char *expected) {
    sds error = NULL;
    assert_false(
        config_load_text(&fixture->config, &fixture->source, "file", slice_of_cstr(text), &error));
    assert_string_equal(error, expected);
    sds_free(error);
}

#define FATAL "\n*** FATAL CONFIG FILE ERROR ***\nReading the configuration file, at line "

static void a_file_is_read_line_by_line(void **state) {
    struct fixture *fixture = *state;
    read_text(fixture, "# a comment\r\n\n  PORT 7000 \r\n\tbind 127.0.0.1 '-::1' \n"
                       "requirepass \"a \\\"b\\\" \\x41\"\nport 7001\nclient-output-buffer-limit "
                       "normal 1 2 3\nclient-output-buffer-limit pubsub 4 5 6\nloglevel \"debug\"");
    assert_value(&fixture->config, "port", "7001");
    assert_value(&fixture->config, "bind", "127.0.0.1 -::1");
    assert_value(&fixture->config, "requirepass", "a \"b\" A");
    assert_value(&fixture->config, "loglevel", "debug");
    assert_value(&fixture->config, "client-output-buffer-limit",
                 "normal 1 2 3 slave 268435456 67108864 60 pubsub 4 5 6");
    assert_int_equal(fixture->source.note_count, 0);
}

static void a_bad_line_is_named(void **state) {
    struct fixture *fixture = *state;
    refuse_text(fixture, "port 1\n\n  hz x  \n",
                FATAL "3 of file\n>>> 'hz x'\nargument couldn't be parsed into an integer\n");
    refuse_text(fixture, "nosuch 1 2",
                FATAL "1 of file\n>>> 'nosuch 1 2'\nBad directive or wrong number of arguments\n");
    refuse_text(fixture, "hz 10 # ten",
                FATAL "1 of file\n>>> 'hz 10 # ten'\nwrong number of arguments\n");
    refuse_text(fixture, "hz", FATAL "1 of file\n>>> 'hz'\nwrong number of arguments\n");
    refuse_text(fixture, "hz \"10",
                FATAL "1 of file\n>>> 'hz \"10'\nUnbalanced quotes in configuration line\n");
    refuse_text(fixture, "\"\" 1",
                FATAL "1 of file\n>>> '(redacted)'\nBad directive or wrong number of arguments\n");
    refuse_text(fixture, "include a b",
                FATAL "1 of file\n>>> 'include a b'\nwrong number of arguments\n");
}

static void what_cannot_be_had_is_noted_once(void **state) {
    struct fixture *fixture = *state;
    read_text(
        fixture,
        "activerehashing yes\nrepl-backlog-size 1MB\nActiveRehashing no\nactiverehashing NO\n\n"
        "loadmodule a.so b\nmaxmemory 100mb\nmaxmemory-policy allkeys-lru\n");
    assert_int_equal(fixture->source.note_count, 2);
    const struct config_note *notes = fixture->source.notes;
    assert_string_equal(
        notes[0].text,
        "file:3: 'activerehashing' is ignored: tables are always rehashed step by step");
    assert_int_equal(notes[0].level, LOG_NOTICE);
    assert_string_equal(notes[1].text, "file:6: 'loadmodule' is ignored: there are no modules: "
                                       "their commands are unknown");
    assert_int_equal(notes[1].level, LOG_WARNING);
    assert_value(&fixture->config, "activerehashing", "yes");
    assert_value(&fixture->config, "maxmemory", "104857600");
    assert_value(&fixture->config, "maxmemory-policy", "allkeys-lru");
    refuse_text(fixture, "maxmemory-policy none",
                FATAL "1 of file\n>>> 'maxmemory-policy none'\nargument(s) must be one of the "
                      "following: volatile-lru, volatile-lfu, volatile-random, volatile-ttl, "
                      "volatile-lrm, allkeys-lru, allkeys-lfu, allkeys-random, allkeys-lrm, "
                      "noeviction\n");
    refuse(&fixture->config, "activerehashing", "no", "tables are always rehashed step by step");
    accept(&fixture->config, "ACTIVEDEFRAG", "No", "no");
}

static void renames_add_up_and_stay_in_the_file(void **state) {
    struct fixture *fixture = *state;
    static const char text[] = "rename-command SET xset\nrename-command CONFIG \"\"\n";
    sds error = NULL;
    assert_true(
        config_load_text(&fixture->config, &fixture->source, "file", slice_of_cstr(text), &error));
    assert_string_equal(fixture->config.renamed_commands, " \"SET\" \"xset\" \"CONFIG\" \"\"");
    /* Other lines may have come from the command line. */
    const char other[] = "rename-command GET xget\n";
    sds rewritten = config_rewrite_text(&fixture->config, SLICE(""), slice_of_cstr(other), true);
    assert_int_equal(strncmp(rewritten, other, strlen(other)), 0);
    assert_null(strstr(rewritten + strlen(other), "rename-command"));
    sds_free(rewritten);
}

static void what_protects_and_cannot_be_had_is_an_error(void **state) {
    struct fixture *fixture = *state;
    static const char *const lines[] = {
        "socket-mark-id 7",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        sds error = NULL;
        assert_false(config_load_text(&fixture->config, &fixture->source, "file",
                                      slice_of_cstr(lines[i]), &error));
        sds shown = secret_append_line(sds_new(SLICE("")), slice_of_cstr(lines[i]));
        assert_non_null(strstr(error, shown));
        sds_free(shown);
        assert_non_null(strstr(error, "Remove the line"));
        sds_free(error);
    }
    read_text(fixture, "tls-replication no\ntls-port 0\nreplicaof \"\"\nmin-replicas-to-write 0\n");
    assert_int_equal(fixture->source.note_count, 0);
}

static bool load(struct fixture *fixture, sds *error, ...) {
    char *argv[16];
    int argc = 0;
    va_list args;
    va_start(args, error);
    while ((argv[argc] = va_arg(args, char *)) != NULL) argc++;
    va_end(args);
    *error = NULL;
    sds_free(fixture->source.path);
    return config_load(&fixture->config, &fixture->source, argc, argv, error);
}

/* Their rules are for others to read. */
static void lines_of_users_are_kept_with_their_place(void **state) {
    struct fixture *fixture = *state;
    struct config_source *source = &fixture->source;
    sds error = NULL;
    read_text(fixture, "port 1\nuser a on >x \"(~a +get)\"\n\nUSER 'b c' \"\\x00\"\n");
    assert_int_equal(source->user_count, 2);
    assert_string_equal(source->users[0].place, "file:2");
    assert_string_equal(source->users[0].words, " \"a\" \"on\" \">x\" \"(~a +get)\"");
    assert_string_equal(source->users[1].place, "file:4");
    assert_string_equal(source->users[1].words, " \"b c\" \"\\x00\"");
    assert_true(source->users[0].is_elsewhere);
    config_forget_users(source);
    assert_int_equal(source->user_count, 0);
    assert_true(load(fixture, &error, "--user", "default", "on", "nopass", NULL));
    assert_int_equal(source->user_count, 1);
    assert_string_equal(source->users[0].place, "the command line");
    assert_string_equal(source->users[0].words, " \"default\" \"on\" \"nopass\"");
    config_forget_users(source);
    assert_false(load(fixture, &error, "--user", NULL));
    sds_free(error);
}

static void secrets_are_in_no_error(void **state) {
    struct fixture *fixture = *state;
    static const char *const lines[] = {"user a \"on >sesame", "requirepass sesame x",
                                        "\tprimaryauth sesame x", "tls-key-file-pass sesame x"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        sds error = NULL;
        assert_false(config_load_text(&fixture->config, &fixture->source, "file",
                                      slice_of_cstr(lines[i]), &error));
        assert_null(strstr(error, "sesame"));
        sds_free(error);
    }
}

static void users_are_rewritten_in_their_place(void **state) {
    struct fixture *fixture = *state;
    static const char users[] = "user  on\nuser a on #1 (~a +get)\nuser b\\ ~\"\nuser z off\n";
    static const char old[] = "user z on\n# 1\nuser gone on\nuser a on >x\n# 2\nuser a off\nuser\n";
    static const char expected[] =
        "user z off\n# 1\nuser a on #1 (~a +get)\n# 2\n\n# Generated by CONFIG REWRITE\n"
        "user \"\" on\nuser \"b\\\\\" \"~\\\"\"\n";
    sds text =
        config_rewrite_text(&fixture->config, slice_of_cstr(users), slice_of_cstr(old), false);
    assert_string_equal(text, expected);
    sds again = config_rewrite_text(&fixture->config, slice_of_cstr(users), sds_slice(text), false);
    assert_string_equal(again, expected);
    sds_free(again);
    sds_free(text);
}

/* Any text is accepted or refused. An accepted one can be written and read again. */
static void every_prefix_of_a_file_is_safe(void **state) {
    struct fixture *fixture = *state;
    static const char text[] = "port 1\nbind a 'b' \"c\\x00\"\n#\nsave 1 1\nuser x\n include y\n";
    for (size_t len = 0; len < sizeof(text); len++) {
        sds error = NULL;
        struct slice prefix = slice_make(text, len);
        bool done = config_load_text(&fixture->config, &fixture->source, "file", prefix, &error);
        assert_true(done == (error == NULL));
        sds_free(error);
    }
}

/* --- Command line --- */

static void options_are_directives(void **state) {
    struct fixture *fixture = *state;
    sds error;
    assert_true(load(fixture, &error, "--port", "7777", "--bind", "127.0.0.1", "-::1",
                     "--list-max-listpack-size", "-3", "--hz 20", "--requirepass", "--x \"y",
                     NULL));
    assert_value(&fixture->config, "port", "7777");
    assert_value(&fixture->config, "bind", "127.0.0.1 -::1");
    assert_value(&fixture->config, "list-max-listpack-size", "-3");
    assert_value(&fixture->config, "hz", "20");
    assert_value(&fixture->config, "requirepass", "--x \"y");
    assert_string_equal(fixture->source.path, "");
}

static void save_may_stand_alone(void **state) {
    struct fixture *fixture = *state;
    sds error;
    assert_true(load(fixture, &error, "--save", "--port", "1", NULL));
    assert_value(&fixture->config, "port", "1");
    assert_value(&fixture->config, "save", "");
    assert_true(load(fixture, &error, "--save", "", "--port", "2", "--save", NULL));
    assert_value(&fixture->config, "port", "2");
    assert_value(&fixture->config, "save", "");
}

static void save_points_of_several_lines_count_together(void **state) {
    struct fixture *fixture = *state;
    sds error;
    read_text(fixture, "save 900 1\nhz 10\nsave 300 10 60 100\n");
    assert_value(&fixture->config, "save", "900 1 300 10 60 100");
    read_text(fixture, "save 900 1\nsave \"\"\nsave 5 6\n");
    assert_value(&fixture->config, "save", "5 6");
    read_text(fixture, "save 900 1\nsave \"\"\n");
    assert_value(&fixture->config, "save", "");
    assert_true(load(fixture, &error, "--save", "1", "2", "--save", "3", "4", NULL));
    assert_value(&fixture->config, "save", "1 2 3 4");
    refuse_text(fixture, "save 1 2\nsave 3",
                FATAL "2 of file\n>>> 'save 3'\nInvalid save parameters\n");
}

static void a_file_must_be_there(void **state) {
    struct fixture *fixture = *state;
    sds error;
    assert_false(load(fixture, &error, "/nonexistent/x.conf", NULL));
    assert_string_equal(error, "Fatal error, can't open config file '/nonexistent/x.conf': No such "
                               "file or directory\n");
    sds_free(error);
}

/* Makes `text` the standard input. */
static void feed_stdin(const char *text) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
    close(ends[1]);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
}

static void standard_input_comes_before_the_options(void **state) {
    struct fixture *fixture = *state;
    sds error;
    feed_stdin("port 1\nhz 20\n");
    assert_true(load(fixture, &error, "--port", "2", "-", NULL));
    assert_value(&fixture->config, "port", "2");
    assert_value(&fixture->config, "hz", "20");
    feed_stdin("hz 21");
    assert_true(load(fixture, &error, "-", "--timeout", "3", NULL));
    assert_value(&fixture->config, "hz", "21");
    assert_value(&fixture->config, "timeout", "3");
    feed_stdin("\nhz x\n");
    assert_false(load(fixture, &error, "-", NULL));
    assert_non_null(strstr(error, "at line 2 of standard input\n>>> 'hz x'\n"));
    sds_free(error);
}

static void bad_options_are_named(void **state) {
    struct fixture *fixture = *state;
    sds error;
    assert_false(load(fixture, &error, "--port", "1", "2", NULL));
    assert_string_equal(error, "\n*** FATAL CONFIG FILE ERROR ***\nReading the command line\n>>> "
                               "'port \"1\" \"2\"'\nwrong number of arguments\n");
    sds_free(error);
    assert_false(load(fixture, &error, "--hz", "--port", "1", NULL));
    assert_non_null(strstr(error, ">>> 'hz \"--port\" \"1\"'\nwrong number of arguments\n"));
    sds_free(error);
    assert_false(load(fixture, &error, "-hz", "1", NULL));
    assert_non_null(strstr(error, "Bad directive or wrong number of arguments\n"));
    sds_free(error);
}

/* --- Files --- */

static void write_path(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void files_include_others(void **state) {
    struct fixture *fixture = *state;
    char directory[] = "/tmp/packlist-config-XXXXXX";
    assert_non_null(mkdtemp(directory));
    int top = open(".", O_RDONLY);
    assert_int_equal(chdir(directory), 0);
    write_path("main.conf", "port 1\ninclude more-*.conf\ninclude none-*.conf\ninclude hz.conf\n");
    write_path("more-1.conf", "port 2\n");
    write_path("more-2.conf", "timeout 3\n");
    write_path("hz.conf", "hz 4\n");
    sds error;
    assert_true(load(fixture, &error, "main.conf", "--timeout", "5", NULL));
    assert_value(&fixture->config, "port", "2");
    assert_value(&fixture->config, "timeout", "5");
    assert_value(&fixture->config, "hz", "4");
    assert_int_equal(fixture->source.path[0], '/');

    write_path("hz.conf", "\nhz four\n");
    assert_false(load(fixture, &error, "main.conf", NULL));
    assert_string_equal(error,
                        FATAL "2 of hz.conf\n>>> 'hz four'\nargument couldn't be parsed into "
                              "an integer\n");
    sds_free(error);
    write_path("hz.conf", "include hz.conf\n");
    assert_false(load(fixture, &error, "main.conf", NULL));
    assert_non_null(strstr(error, "include is not possible here: files are nested too deep"));
    sds_free(error);
    assert_false(load(fixture, &error, directory, NULL));
    assert_non_null(strstr(error, "Is a directory"));
    sds_free(error);

    write_path("hz.conf", "# kept\nhz 4\n");
    assert_int_equal(chmod("hz.conf", 0640), 0);
    assert_int_equal(symlink("hz.conf", "link.conf"), 0);
    accept(&fixture->config, "hz", "6", "6");
    assert_true(config_rewrite_file(&fixture->config, SLICE(""), "link.conf", false));
    sds text = file_read("hz.conf");
    assert_non_null(strstr(text, "# kept\nhz 6\n"));
    sds_free(text);
    struct stat facts;
    assert_int_equal(stat("hz.conf", &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    assert_false(config_rewrite_file(&fixture->config, SLICE(""), "/nonexistent/x.conf", false));

    const char *names[] = {"main.conf", "more-1.conf", "more-2.conf", "hz.conf", "link.conf"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        assert_int_equal(unlink(names[i]), 0);
    assert_int_equal(fchdir(top), 0);
    close(top);
    assert_int_equal(rmdir(directory), 0); /* and no temporary file was left */
}

/* Tests run in the top directory of the repository. */
static void redis_conf_has_every_directive_at_its_default(void **state) {
    struct fixture *fixture = *state;
    struct config defaults;
    sds error;
    assert_true(load(fixture, &error, "redis.conf", NULL));
    assert_int_equal(fixture->source.note_count, 0);
    sds text = file_read("redis.conf");
    config_init(&defaults);
    for (size_t i = 0; i < config_table_count; i++) {
        assert_true(config_same_value(&fixture->config, &defaults, &config_table[i]));
        if (config_table[i].flags & (CONFIG_HIDDEN | CONFIG_FILE_ONLY)) continue;
        if (config_table[i].kind == CONFIG_FIXED) continue;
        sds line = sds_append_format(sds_new(SLICE("")), "\n%s ", config_table[i].name);
        sds comment = sds_append_format(sds_new(SLICE("")), "\n# %s ", config_table[i].name);
        if (!strstr(text, line) && !strstr(text, comment)) fail_msg("%s", config_table[i].name);
        sds_free(line);
        sds_free(comment);
    }
    config_free(&defaults);
    sds_free(text);
}

/* --- Several changes at once --- */

/* What the effects found: the port each time one was applied; the effect of `failing` fails. */
struct effects {
    const struct config *config;
    const char *failing;
    int64_t ports[8];
    bool are_undone[8];
    size_t count;
};

static bool record(const struct config_directive *directive, bool is_undo, void *arg, sds *error) {
    struct effects *effects = arg;
    assert_true(effects->count < 8);
    effects->are_undone[effects->count] = is_undo;
    effects->ports[effects->count++] = effects->config->port;
    if (!effects->failing || strcmp(effects->failing, directive->name) != 0) return true;
    *error = sds_new(SLICE("it failed"));
    return false;
}

static void changes_are_applied_once_per_effect(void **state) {
    struct config *config = &((struct fixture *)*state)->config;
    struct config_change changes[] = {{row("port"), SLICE("7000")},
                                      {row("bind"), SLICE("::1")},
                                      {row("timeout"), SLICE("5")},
                                      {row("hz"), SLICE("10")}};
    struct effects effects = {.config = config};
    size_t culprit;
    sds error = NULL;
    assert_true(config_change_all(config, changes, 4, record, &effects, &culprit, &error));
    assert_int_equal(effects.count, 1); /* hz has not changed */
    assert_int_equal(effects.ports[0], 7000);
    assert_value(config, "bind", "::1");
    assert_value(config, "timeout", "5");
}

static void a_bad_value_changes_nothing(void **state) {
    struct config *config = &((struct fixture *)*state)->config;
    struct config_change changes[] = {{row("requirepass"), SLICE("secret")},
                                      {row("port"), SLICE("7000")},
                                      {row("hz"), SLICE("x")}};
    struct effects effects = {.config = config};
    size_t culprit;
    sds error = NULL;
    assert_false(config_change_all(config, changes, 3, record, &effects, &culprit, &error));
    assert_int_equal(culprit, 2);
    assert_string_equal(error, "argument couldn't be parsed into an integer");
    assert_int_equal(effects.count, 0);
    assert_value(config, "requirepass", "");
    assert_value(config, "port", "6379");
    sds_free(error);
}

static void a_failing_effect_is_rolled_back(void **state) {
    struct config *config = &((struct fixture *)*state)->config;
    struct config_change changes[] = {{row("port"), SLICE("7000")},
                                      {row("requirepass"), SLICE("secret")},
                                      {row("hz"), SLICE("20")},
                                      {row("loglevel"), SLICE("debug")}};
    /* In the order of enum config_effect: port, loglevel, requirepass, hz. */
    struct effects effects = {.config = config, .failing = "requirepass"};
    size_t culprit;
    sds error = NULL;
    assert_false(config_change_all(config, changes, 4, record, &effects, &culprit, &error));
    assert_int_equal(culprit, 1);
    assert_string_equal(error, "it failed");
    /* The three up to requirepass with the new values, then again with the old ones. */
    assert_int_equal(effects.count, 6);
    assert_int_equal(effects.ports[2], 7000);
    assert_int_equal(effects.ports[3], 6379);
    assert_int_equal(effects.ports[5], 6379);
    for (size_t i = 0; i < 6; i++) assert_int_equal(effects.are_undone[i], i >= 3);
    assert_value(config, "port", "6379");
    assert_value(config, "requirepass", "");
    assert_value(config, "hz", "10");
    sds_free(error);
}

/* --- Rewriting --- */

static void assert_rewritten(const struct config *config, const char *old, const char *expected) {
    sds text = config_rewrite_text(config, SLICE(""), slice_of_cstr(old), false);
    assert_string_equal(text, expected);
    sds again = config_rewrite_text(config, SLICE(""), sds_slice(text), false);
    assert_string_equal(again, expected);
    sds_free(again);
    sds_free(text);
}

static void lines_in_force_stay_as_they_are(void **state) {
    struct fixture *fixture = *state;
    static const char text[] = "# comment\n\n  PORT   7000\nproto-max-bulk-len 524288kb\r\n"
                               "io-threads 2\nappendonly yes\nhz 9\nhz 20\n# end\n"
                               "list-max-ziplist-size 128\n";
    read_text(fixture, text);
    assert_rewritten(&fixture->config, text, text);
}

static void save_points_are_one_line(void **state) {
    struct fixture *fixture = *state;
    read_text(fixture, "save 900 1\nsave 300 10\n");
    assert_rewritten(&fixture->config, "save 900 1\n#\nsave 300 10\n",
                     "save 900 1\n#\nsave 300 10\n");
    accept(&fixture->config, "save", "1 2 3 4", "1 2 3 4");
    assert_rewritten(&fixture->config, "save 900 1\n#\nsave 300 10\n", "save 1 2 3 4\n#\n");
    accept(&fixture->config, "save", "", "");
    assert_rewritten(&fixture->config, "save 900 1\n", "save \"\"\n");
}

static void changed_lines_are_replaced_in_place(void **state) {
    struct fixture *fixture = *state;
    accept(&fixture->config, "port", "7000", "7000");
    accept(&fixture->config, "bind", "127.0.0.1 ::1", "127.0.0.1 ::1");
    accept(&fixture->config, "requirepass", "a \"b\n", "a \"b\n");
    accept(&fixture->config, "proto-max-bulk-len", "3mb", "3145728");
    accept(&fixture->config, "list-max-listpack-size", "7", "7");
    accept(&fixture->config, "unixsocketperm", "700", "700");
    assert_rewritten(&fixture->config,
                     "# first\nport 1\nbind 1\n# between\nbind 2\nrequirepass x\n"
                     "proto-max-bulk-len 1mb\nlist-max-ziplist-size 3\nunixsocketperm 7",
                     "# first\nport 7000\nbind 127.0.0.1 ::1\n# between\n"
                     "requirepass \"a \\\"b\\n\"\nproto-max-bulk-len 3mb\n"
                     "list-max-listpack-size 7\nunixsocketperm 700\n");
}

static void new_values_are_appended(void **state) {
    struct fixture *fixture = *state;
    accept(&fixture->config, "timeout", "5", "5");
    accept(&fixture->config, "list-compress-depth", "1", "1");
    assert_rewritten(&fixture->config, "# x\ntimeout 5",
                     "# x\ntimeout 5\n\n# Generated by CONFIG REWRITE\nlist-compress-depth 1\n");
    assert_rewritten(&fixture->config, "",
                     "# Generated by CONFIG REWRITE\ntimeout 5\nlist-compress-depth 1\n");
    assert_rewritten(&fixture->config, "# Generated by CONFIG REWRITE\ntimeout 4\n",
                     "# Generated by CONFIG REWRITE\ntimeout 5\nlist-compress-depth 1\n");
}

static void a_value_back_at_its_default_is_written(void **state) {
    struct fixture *fixture = *state;
    assert_rewritten(&fixture->config, "hz 20\nrequirepass x\nbind 1\n",
                     "hz 10\nrequirepass \"\"\nbind 127.0.0.1 -::1\n");
    accept(&fixture->config, "bind", "", "");
    accept(&fixture->config, "client-output-buffer-limit", "normal 1mb 10 1",
           "normal 1048576 10 1 slave 268435456 67108864 60 pubsub 33554432 8388608 60");
    assert_rewritten(
        &fixture->config,
        "bind 1\nclient-output-buffer-limit normal 1 1 1\nclient-output-buffer-limit pubsub 1 1 "
        "1\n",
        "bind \"\"\nclient-output-buffer-limit normal 1mb 10 1 replica 256mb 64mb 60 pubsub 32mb "
        "8mb 60\n");
}

static void what_is_rewritten_reads_back(void **state) {
    struct fixture *fixture = *state;
    struct config *config = &fixture->config;
    accept(config, "requirepass", "\"' # \\x", "\"' # \\x");
    accept(config, "bind", "-::1 127.0.0.1", "-::1 127.0.0.1");
    accept(config, "client-query-buffer-limit", "1048577", "1048577");
    accept(config, "loglevel", "warning", "warning");
    accept(config, "enable-debug-command", "local", "local");
    sds text = config_rewrite_text(config, SLICE(""), SLICE(""), false);
    struct fixture other = {0};
    config_init(&other.config);
    read_text(&other, text);
    for (size_t i = 0; i < config_table_count; i++)
        assert_true(config_same_value(config, &other.config, &config_table[i]));
    config_free(&other.config);
    sds_free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(defaults_are_those_of_redis),
        TEST(every_default_is_accepted),
        TEST(a_directive_is_found_by_its_alias),
        TEST(a_name_and_its_alias_are_two_in_a_set_of_names),
        TEST(numbers),
        TEST(titles),
        TEST(sizes),
        TEST(words),
        TEST(lists_of_words),
        TEST(output_limits),
        TEST(a_copy_owns_its_values),
        TEST(a_file_is_read_line_by_line),
        TEST(a_bad_line_is_named),
        TEST(what_cannot_be_had_is_noted_once),
        TEST(renames_add_up_and_stay_in_the_file),
        TEST(what_protects_and_cannot_be_had_is_an_error),
        TEST(lines_of_users_are_kept_with_their_place),
        TEST(users_are_rewritten_in_their_place),
        TEST(secrets_are_in_no_error),
        TEST(every_prefix_of_a_file_is_safe),
        TEST(options_are_directives),
        TEST(save_may_stand_alone),
        TEST(save_points_of_several_lines_count_together),
        TEST(bad_options_are_named),
        TEST(a_file_must_be_there),
        TEST(standard_input_comes_before_the_options),
        TEST(files_include_others),
        TEST(redis_conf_has_every_directive_at_its_default),
        TEST(changes_are_applied_once_per_effect),
        TEST(a_bad_value_changes_nothing),
        TEST(a_failing_effect_is_rolled_back),
        TEST(lines_in_force_stay_as_they_are),
        TEST(save_points_are_one_line),
        TEST(changed_lines_are_replaced_in_place),
        TEST(new_values_are_appended),
        TEST(a_value_back_at_its_default_is_written),
        TEST(what_is_rewritten_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
