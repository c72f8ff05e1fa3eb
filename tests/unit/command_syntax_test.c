/* command_syntax: parses the notation to the tree that COMMAND DOCS shows. */
#include "admin/command_syntax.h"

#include "base/text/sds.h"
#include "table/families.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* The tree as text, so that a test reads as one line: name:type, =TOKEN, (display) if it is not the
 * name, >since, <deprecated since, ? optional, * multiple, + token each time, @ key specification,
 * members in { }. */
static sds print_arguments(sds out, const struct syntax_argument *arguments, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct syntax_argument *argument = arguments;
        if (i > 0) out = sds_append_cstr(out, " ");
        out = sds_append(out, argument->name);
        const char *type = command_syntax_type_name((enum syntax_type)argument->type);
        out = sds_append_format(out, ":%s", type);
        if (argument->token.len > 0) out = sds_append(sds_append_cstr(out, "="), argument->token);
        if (argument->members == 0 && !slice_equal(argument->display, argument->name))
            out =
                sds_append_format(out, "(%.*s)", (int)argument->display.len, argument->display.ptr);
        if (argument->since.len > 0) out = sds_append(sds_append_cstr(out, ">"), argument->since);
        if (argument->deprecated_since.len > 0)
            out = sds_append(sds_append_cstr(out, "<"), argument->deprecated_since);
        if (argument->flags & SYNTAX_OPTIONAL) out = sds_append_cstr(out, "?");
        if (argument->flags & SYNTAX_MULTIPLE) out = sds_append_cstr(out, "*");
        if (argument->flags & SYNTAX_MULTIPLE_TOKEN) out = sds_append_cstr(out, "+");
        if (argument->key_spec >= 0) out = sds_append_format(out, "@%d", argument->key_spec);
        if (argument->members > 0) {
            out = print_arguments(sds_append_cstr(out, "{"), argument + 1, argument->members);
            out = sds_append_cstr(out, "}");
        }
        arguments += argument->span;
    }
    return out;
}

static void check(const char *text, const char *expected) {
    struct syntax_argument arguments[SYNTAX_ARGUMENTS_MAX];
    size_t total = 0;
    int count = command_syntax_parse(text, arguments, &total);
    assert_true(count >= 0);
    sds printed = print_arguments(sds_new(SLICE("")), arguments, (size_t)count);
    assert_string_equal(printed, expected);
    sds_free(printed);
    size_t spans = 0;
    for (const struct syntax_argument *at = arguments; count-- > 0; at += at->span)
        spans += at->span;
    assert_int_equal(spans, total);
}

static void values_and_types(void **state) {
    (void)state;
    check("", "");
    check("key", "key:key@0");
    check(" key  index:integer timeout:double ", "key:key@0 index:integer timeout:double");
    check("source:key destination:key", "source:key@0 destination:key@1");
    check("pattern:pattern at:unix-time old-name", "pattern:pattern at:unix-time old-name:string");
}

static void tokens_stand_alone_or_introduce(void **state) {
    (void)state;
    check("[NX]", "NX:pure-token=NX?");
    check("[COUNT count:integer] [GET]", "count:integer=COUNT? GET:pure-token=GET?");
    check("TYPE <A | B>:kind", "kind:oneof=TYPE{A:pure-token=A B:pure-token=B}");
    check("<* | id>:where", "where:oneof{*:pure-token=* id:string}");
    check("<=:equal | ~:near>:how", "how:oneof{equal:pure-token== near:pure-token=~}");
}

static void groups_nest(void **state) {
    (void)state;
    check("<LEFT|RIGHT>:where", "where:oneof{LEFT:pure-token=LEFT RIGHT:pure-token=RIGHT}");
    check("[<EX seconds:integer | KEEPTTL>:expiration]",
          "expiration:oneof?{seconds:integer=EX KEEPTTL:pure-token=KEEPTTL}");
    check("[(protover:integer [AUTH (username password):auth] [SETNAME clientname]):arguments]",
          "arguments:block?{protover:integer auth:block=AUTH?{username:string password:string} "
          "clientname:string=SETNAME?}");
}

static void repetition_is_one_argument(void **state) {
    (void)state;
    check("key ...", "key:key*@0");
    check("key [key ...]", "key:key*@0");
    check("[element ...]", "element:string?*");
    check("key element [element ...]", "key:key@0 element:string*");
    check("[ID id:integer [id ...]]", "id:integer=ID?*");
    check("[PREFIX prefix [PREFIX prefix ...]]", "prefix:string=PREFIX?*+");
    check("[GET (a b):c [GET (a b):c ...]]", "c:block=GET?*+{a:string b:string}");
    check("(parameter value):data ...", "data:block*{parameter:string value:string}");
    check("numkeys:integer key [key ...] last:key", "numkeys:integer key:key*@0 last:key@1");
    check("key [other ...]", "key:key@0 other:string?*");
}

static void names_may_be_others(void **state) {
    (void)state;
    check("[ALPHA:sorting] addr=ip:port", "sorting:pure-token=ALPHA? addr:string(ip:port)");
    check("BY by-pattern:pattern=pattern", "by-pattern:pattern=BY(pattern)");
    check("<key | \"\":empty-string>:selector",
          "selector:oneof{key:key@0 empty-string:pure-token}");
}

static void arguments_have_versions(void **state) {
    (void)state;
    check("[count:integer@6.2.0] x~2.8.12", "count:integer>6.2.0? x:string<2.8.12");
    check("[<NX@2.6.12 | XX>:condition@7.0.0 ...]",
          "condition:oneof>7.0.0?*{NX:pure-token=NX>2.6.12 XX:pure-token=XX}");
    check("AUTH2 (a b):c@6.0.0~7.0.0", "c:block=AUTH2>6.0.0<7.0.0{a:string b:string}");
    check("old=ip:port@1.0.0 new", "old:string(ip:port)>1.0.0 new:string");
}

static void notes_follow_the_arguments(void **state) {
    (void)state;
    const char *at = "key [b]\n@6.0.0 Takes b.\n~6.2.0 `C` with `D`\n!";
    struct syntax_note note;
    check(at, "key:key@0 b:string?");
    assert_true(command_syntax_next_note(&at, &note));
    assert_true(note.kind == '@' && slice_is(note.version, "6.0.0"));
    assert_true(slice_equal(note.text, SLICE("Takes b.")));
    assert_true(command_syntax_next_note(&at, &note));
    assert_true(note.kind == '~' && slice_is(note.version, "6.2.0"));
    assert_true(slice_equal(note.text, SLICE("`C` with `D`")));
    assert_true(command_syntax_next_note(&at, &note));
    assert_true(note.kind == '!' && note.version.len == 0 && note.text.len == 0);
    assert_false(command_syntax_next_note(&at, &note));
    static const char *const bad[] = {"", "key", "key\n", "\n@", "\n@6.0.0", "\n~6.0.0 ", "\nkey"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        at = bad[i];
        assert_false(command_syntax_next_note(&at, &note));
    }
}

/* Returns the number of lines after the arguments. */
static size_t count_lines(const char *text) {
    size_t count = 0;
    for (; *text; text++) count += *text == '\n';
    return count;
}

static void malformed_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "[",     "[key",  "key]",  "<A|B>",    "<A|B>:",      "<A|B:x",
        "<>:x",  "(a b",  "(a b)", "():x",     "a:nonsense",  "[a b]",
        "...",   "a | b", "key:",  ":integer", "<A (b c)>:x", "[[[[[[[[[a]]]]]]]]]",
        "[...]", "a@",    "a~ b",  "a=",       "<A | B>:c@",  "A:",
    };
    struct syntax_argument arguments[SYNTAX_ARGUMENTS_MAX];
    size_t total;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        assert_int_equal(command_syntax_parse(texts[i], arguments, &total), -1);
}

static void too_many_arguments_are_refused(void **state) {
    (void)state;
    struct syntax_argument arguments[SYNTAX_ARGUMENTS_MAX];
    sds text = sds_new(SLICE(""));
    size_t total;
    for (size_t i = 0; i < SYNTAX_ARGUMENTS_MAX; i++) text = sds_append_cstr(text, "a ");
    assert_int_equal(command_syntax_parse(text, arguments, &total), SYNTAX_ARGUMENTS_MAX);
    text = sds_append_cstr(text, "a");
    assert_int_equal(command_syntax_parse(text, arguments, &total), -1);
    sds_free(text);
}

/* The keys in a row's syntax are those that its key positions find. */
static void every_command_is_written_in_the_notation(void **state) {
    (void)state;
    size_t count;
    command_table_init(command_families, NULL);
    const struct command *all = command_all(&count);
    assert_true(count > 50);
    for (size_t i = 0; i < count; i++) {
        struct syntax_argument arguments[SYNTAX_ARGUMENTS_MAX];
        size_t total = 0;
        int keys = 0;
        if (command_syntax_parse(all[i].syntax, arguments, &total) < 0)
            fail_msg("%s: %s", all[i].name, all[i].syntax);
        struct syntax_note note;
        size_t notes = 0;
        for (const char *at = all[i].syntax; command_syntax_next_note(&at, &note);) notes++;
        if (notes != count_lines(all[i].syntax)) fail_msg("%s: notes", all[i].name);
        for (size_t j = 0; j < total; j++) keys += arguments[j].key_spec >= 0;
        const struct key_positions *positions = &all[i].keys;
        if (positions->use & KEY_CHANNEL) continue;
        int specifications = command_has_keys(&all[i]) + (positions->other_use != 0) +
                             (positions->shape == KEYS_OF_MIGRATE) +
                             (positions->shape == KEYS_OF_GEORADIUS);
        /* Keys with names of their own may share a specification. */
        int sharing = positions->last > 0 ? positions->last - positions->first : 0;
        if (specifications == 1) specifications += sharing;
        if (keys != specifications) fail_msg("%s: keys", all[i].name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_types),
        cmocka_unit_test(tokens_stand_alone_or_introduce),
        cmocka_unit_test(groups_nest),
        cmocka_unit_test(repetition_is_one_argument),
        cmocka_unit_test(names_may_be_others),
        cmocka_unit_test(arguments_have_versions),
        cmocka_unit_test(notes_follow_the_arguments),
        cmocka_unit_test(malformed_is_refused),
        cmocka_unit_test(too_many_arguments_are_refused),
        cmocka_unit_test(every_command_is_written_in_the_notation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
