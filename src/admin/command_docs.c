/* command_docs: COMMAND DOCS, from which redis-cli makes its hints, and COMMAND HELP.
 *
 * A row of the table has its arguments and changes in the notation of admin/command_syntax.h, which
 * is parsed to a tree and replied as maps. */
#include "admin/admin_commands.h"
#include "admin/command_syntax.h"
#include "engine/call.h"
#include "table/command.h"

#include <ctype.h>

/* --- Arguments --- */

static void reply_lower_case(struct reply *reply, struct slice text) {
    char lower[64];
    size_t len = text.len < sizeof(lower) ? text.len : sizeof(lower);
    for (size_t i = 0; i < len; i++) lower[i] = (char)tolower((unsigned char)text.ptr[i]);
    reply_bulk(reply, slice_make(lower, len));
}

/* Replies the argument's name or display name. */
static void reply_argument_name(struct reply *reply, const struct syntax_argument *argument,
                                struct slice name) {
    if (argument->type == SYNTAX_PURE_TOKEN)
        reply_lower_case(reply, name);
    else
        reply_bulk(reply, name);
}

/* Replies a field, unless its text is empty. */
static void reply_field(struct reply *reply, const char *name, struct slice text) {
    if (text.len == 0) return;
    reply_bulk_cstr(reply, name);
    reply_bulk(reply, text);
}

static void reply_argument_flags(struct reply *reply, unsigned flags) {
    static const char *const names[] = {"optional", "multiple", "multiple_token"};
    reply_set(reply, (size_t)__builtin_popcount(flags));
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (flags & 1u << i) reply_status(reply, slice_of_cstr(names[i]));
}

/* Replies the fields of one argument. Its members, if any, are announced and must follow. */
static void reply_argument(struct reply *reply, const struct syntax_argument *argument) {
    bool is_group = argument->members > 0;
    bool has_token = argument->token.len > 0 || argument->type == SYNTAX_PURE_TOKEN;
    reply_map(reply,
              (size_t)(3 + (argument->key_spec >= 0) + has_token + (argument->since.len > 0) +
                       (argument->deprecated_since.len > 0) + (argument->flags != 0)));
    reply_bulk_cstr(reply, "name");
    reply_argument_name(reply, argument, argument->name);
    reply_bulk_cstr(reply, "type");
    reply_bulk_cstr(reply, command_syntax_type_name((enum syntax_type)argument->type));
    if (!is_group) {
        reply_bulk_cstr(reply, "display_text");
        reply_argument_name(reply, argument, argument->display);
    }
    if (argument->key_spec >= 0) {
        reply_named_integer(reply, "key_spec_index", argument->key_spec);
    }
    if (has_token) {
        reply_named_text(reply, "token", argument->token);
    }
    reply_field(reply, "since", argument->since);
    reply_field(reply, "deprecated_since", argument->deprecated_since);
    if (argument->flags != 0) {
        reply_bulk_cstr(reply, "flags");
        reply_argument_flags(reply, argument->flags);
    }
    if (!is_group) return;
    reply_bulk_cstr(reply, "arguments");
    reply_array(reply, argument->members);
}

/* --- Changes --- */

/* The contents of a command's notes. */
struct past {
    struct slice deprecated_since, replaced_by; /* empty: not deprecated */
    size_t changes;
    bool is_internal;
};

static struct past read_past(const char *syntax) {
    struct past past = {0};
    struct syntax_note note;
    for (const char *at = syntax; command_syntax_next_note(&at, &note);) {
        if (note.kind == '@') past.changes++;
        if (note.kind == '!') past.is_internal = true;
        if (note.kind != '~') continue;
        past.deprecated_since = note.version;
        past.replaced_by = note.text;
    }
    return past;
}

static size_t past_fields(const struct past *past) {
    bool is_deprecated = past->deprecated_since.len > 0;
    return (is_deprecated || past->is_internal) + 2 * is_deprecated + (past->changes > 0);
}

static void reply_history(struct reply *reply, const char *syntax, size_t changes) {
    struct syntax_note note;
    reply_bulk_cstr(reply, "history");
    reply_set(reply, changes);
    for (const char *at = syntax; command_syntax_next_note(&at, &note);) {
        if (note.kind != '@') continue;
        reply_array(reply, 2);
        reply_bulk(reply, note.version);
        reply_bulk(reply, note.text);
    }
}

/* Replies as many fields as past_fields counts. */
static void reply_past(struct reply *reply, const char *syntax, const struct past *past) {
    bool is_deprecated = past->deprecated_since.len > 0;
    if (is_deprecated || past->is_internal) {
        reply_bulk_cstr(reply, "doc_flags");
        reply_set(reply, (size_t)is_deprecated + past->is_internal);
        if (is_deprecated) reply_status(reply, SLICE("deprecated"));
        if (past->is_internal) reply_status(reply, SLICE("syscmd"));
    }
    reply_field(reply, "deprecated_since", past->deprecated_since);
    reply_field(reply, "replaced_by", past->replaced_by);
    if (past->changes > 0) reply_history(reply, syntax, past->changes);
}

/* --- Commands --- */

/* The notation numbers the keys. The command decides to which specification each belongs: one for
 * all keys, one for each, or those of SORT, whose patterns have one too. */
static void fit_key_spec(struct syntax_argument *argument, const struct key_positions *keys) {
    bool is_sort = keys->shape == KEYS_OF_SORT;
    if (is_sort && argument->type == SYNTAX_PATTERN) argument->key_spec = 1;
    if (argument->type != SYNTAX_KEY || argument->key_spec == 0) return;
    if (is_sort)
        argument->key_spec = 2;
    else if (keys->other_use == 0 && keys->shape != KEYS_OF_MIGRATE)
        argument->key_spec = 0;
}

/* Replies the full name and the map of a command without its subcommands, which `more`
 * announces. */
static void reply_docs_of_one(struct reply *reply, const struct command *command, bool more) {
    struct syntax_argument arguments[SYNTAX_ARGUMENTS_MAX];
    size_t total = 0;
    int count = command_syntax_parse(command->syntax, arguments, &total);
    struct past past = read_past(command->syntax);
    reply_bulk_cstr(reply, command->name);
    reply_map(reply, 4 + past_fields(&past) + (count > 0) + more);
    reply_field(reply, "summary", slice_of_cstr(command->summary));
    reply_field(reply, "since", slice_of_cstr(command->since));
    reply_field(reply, "group", slice_of_cstr(command->group));
    reply_field(reply, "complexity", slice_of_cstr(command->complexity));
    reply_past(reply, command->syntax, &past);
    if (count <= 0) return;
    reply_bulk_cstr(reply, "arguments");
    reply_array(reply, (size_t)count);
    for (size_t i = 0; i < total; i++) { /* members follow their argument (preorder) */
        fit_key_spec(&arguments[i], &command->keys);
        reply_argument(reply, &arguments[i]);
    }
}

static void reply_docs(struct reply *reply, const struct command *command) {
    size_t count = command_subcommand_count(command);
    reply_docs_of_one(reply, command, count > 0);
    if (count == 0) return;
    reply_bulk_cstr(reply, "subcommands");
    reply_map(reply, count);
    for (size_t i = 1; i <= count; i++) reply_docs_of_one(reply, command + i, false);
}

/* Unknown names are omitted. */
void command_docs_command(struct call *call) {
    size_t total, count = 0;
    const struct command *all = command_all(&total);
    size_t mark = reply_begin(call->reply);
    for (size_t i = 0; call->argc == 2 && i < total; i++) {
        if (!command_is_listed(&all[i])) continue;
        reply_docs(call->reply, &all[i]);
        count++;
    }
    for (size_t i = 2; i < call->argc; i++) {
        const struct command *command = command_find_full(call->argv[i]);
        if (!command) continue;
        reply_docs(call->reply, command);
        count++;
    }
    reply_map_end(call->reply, mark, count);
}

COMMAND_FORM(command_help_command, call_help,
             "(no subcommand)\n"
             "    Describe all commands.\n"
             "COUNT\n"
             "    Return the number of commands.\n"
             "DOCS [<command-name> ...]\n"
             "    Document the named commands, or all: summary, arguments, history.\n"
             "GETKEYS <full-command>\n"
             "    Return the keys among the arguments of a command.\n"
             "GETKEYSANDFLAGS <full-command>\n"
             "    Return the keys among the arguments of a command, and what is done with each.\n"
             "INFO [<command-name> ...]\n"
             "    Describe the named commands, or all: arity, flags, key positions.\n"
             "LIST [FILTERBY (MODULE <name>|ACLCAT <category>|PATTERN <pattern>)]\n"
             "    Return the names of all commands, or of those that pass the filter.\n")
