/* command_syntax: a recursive-descent parser with one function for each rule:
 *
 *      sequence := item { item }
 *      item     := ( '[' sequence ']' | [ TOKEN ] operand | TOKEN [ ':' word ] versions ) [ '...' ]
 *      operand  := word [ ':' type ] [ '=' display ] versions
 *                | '<' item { '|' item } '>' ':' word versions
 *                | '(' sequence ')' ':' word versions
 *      versions := [ '@' version ] [ '~' version ]
 *
 * Arguments are appended in preorder as they are parsed; the span of a choice or block is set when
 * it closes. The sequence inside [ ] must form one argument. Invariant: an argument's members fill
 * exactly span - 1 places. */
#include "admin/command_syntax.h"

enum { NESTING_MAX = 8 };

struct reader {
    const char *at;
    struct syntax_argument *arguments;
    size_t count;
    int depth;
};

static const char *const type_names[] = {
    [SYNTAX_STRING] = "string",         [SYNTAX_KEY] = "key",
    [SYNTAX_INTEGER] = "integer",       [SYNTAX_DOUBLE] = "double",
    [SYNTAX_PATTERN] = "pattern",       [SYNTAX_UNIX_TIME] = "unix-time",
    [SYNTAX_PURE_TOKEN] = "pure-token", [SYNTAX_ONEOF] = "oneof",
    [SYNTAX_BLOCK] = "block",
};

const char *command_syntax_type_name(enum syntax_type type) {
    return type_names[type];
}

static int read_sequence(struct reader *reader);

static char peek(struct reader *reader) {
    while (*reader->at == ' ') reader->at++;
    return *reader->at;
}

static bool accept(struct reader *reader, char c) {
    if (peek(reader) != c) return false;
    reader->at++;
    return true;
}

static bool accept_dots(struct reader *reader) {
    peek(reader);
    if (strncmp(reader->at, "...", 3) != 0) return false;
    reader->at += 3;
    return true;
}

/* Returns the text at the cursor up to the first of the characters `end`; it may be empty. */
static struct slice read_until(struct reader *reader, const char *end) {
    struct slice text = slice_make(reader->at, strcspn(reader->at, end));
    reader->at += text.len;
    return text;
}

/* Returns the next word, or an empty one at the end. */
static struct slice read_word(struct reader *reader) {
    peek(reader);
    return read_until(reader, " \n[]<>()|:=@~");
}

/* Reads what follows `mark`: a version, or a display name, which may contain a colon. Returns false
 * when nothing follows the mark. */
static bool read_marked(struct reader *reader, char mark, struct slice *text) {
    if (*reader->at != mark) return true;
    reader->at++;
    *text = read_until(reader, " \n[]<>()|=@~");
    return text->len > 0;
}

static bool read_versions(struct reader *reader, struct syntax_argument *argument) {
    return read_marked(reader, '@', &argument->since) &&
           read_marked(reader, '~', &argument->deprecated_since);
}

static bool is_value_name(char c) {
    return c >= 'a' && c <= 'z';
}

static struct syntax_argument *add_argument(struct reader *reader, enum syntax_type type,
                                            struct slice token) {
    if (reader->count == SYNTAX_ARGUMENTS_MAX) return NULL;
    struct syntax_argument *argument = &reader->arguments[reader->count++];
    *argument = (struct syntax_argument){.token = token, .type = type, .key_spec = -1, .span = 1};
    return argument;
}

static bool read_type(struct reader *reader, struct syntax_argument *argument) {
    struct slice type = read_word(reader);
    for (int i = SYNTAX_STRING; i <= SYNTAX_UNIX_TIME; i++) {
        if (!slice_equal(type, slice_of_cstr(type_names[i]))) continue;
        argument->type = (uint8_t)i;
        return true;
    }
    return false;
}

static bool read_value(struct reader *reader, struct slice token) {
    struct slice name = read_word(reader);
    struct syntax_argument *argument = add_argument(reader, SYNTAX_STRING, token);
    if (!argument) return false;
    argument->name = argument->display = name;
    if (*reader->at == ':') {
        reader->at++;
        if (!read_type(reader, argument)) return false;
    } else if (slice_is(name, "key")) {
        argument->type = SYNTAX_KEY;
    }
    return read_marked(reader, '=', &argument->display) && read_versions(reader, argument);
}

static bool read_item(struct reader *reader);

/* Reads the members and the name of a choice or block, after its opening bracket. */
static bool read_group(struct reader *reader, enum syntax_type type, struct slice token) {
    struct syntax_argument *group = add_argument(reader, type, token);
    if (!group || ++reader->depth > NESTING_MAX) return false;
    size_t start = reader->count;
    int members = 0;
    if (type == SYNTAX_BLOCK) {
        members = read_sequence(reader);
        if (members < 1 || !accept(reader, ')')) return false;
    } else {
        do {
            if (!read_item(reader)) return false;
            members++;
        } while (accept(reader, '|'));
        if (!accept(reader, '>')) return false;
    }
    if (!accept(reader, ':')) return false;
    group->name = read_word(reader);
    group->members = (uint8_t)members;
    group->span = (uint16_t)(reader->count - start + 1);
    reader->depth--;
    return group->name.len > 0 && read_versions(reader, group);
}

static bool read_operand(struct reader *reader, struct slice token) {
    if (accept(reader, '<')) return read_group(reader, SYNTAX_ONEOF, token);
    if (accept(reader, '(')) return read_group(reader, SYNTAX_BLOCK, token);
    return is_value_name(peek(reader)) && read_value(reader, token);
}

static bool starts_operand(char c) {
    return c == '<' || c == '(' || is_value_name(c);
}

static bool read_token(struct reader *reader) {
    struct slice token = read_word(reader);
    if (token.len == 0 && (*reader->at == '=' || *reader->at == '~'))
        token = slice_make(reader->at++, 1);
    if (token.len == 0) return false;
    if (starts_operand(peek(reader))) return read_operand(reader, token);
    bool is_empty_word = slice_is(token, "\"\"");
    struct syntax_argument *argument =
        add_argument(reader, SYNTAX_PURE_TOKEN, is_empty_word ? SLICE("") : token);
    if (!argument) return false;
    argument->name = token;
    if (*reader->at == ':') {
        reader->at++;
        argument->name = read_word(reader);
    }
    argument->display = argument->name;
    return argument->name.len > 0 && read_versions(reader, argument);
}

static bool read_optional(struct reader *reader) {
    if (++reader->depth > NESTING_MAX) return false;
    if (read_sequence(reader) != 1 || !accept(reader, ']')) return false;
    reader->depth--;
    return true;
}

static bool read_item(struct reader *reader) {
    size_t start = reader->count;
    if (accept(reader, '[')) {
        if (!read_optional(reader)) return false;
        reader->arguments[start].flags |= SYNTAX_OPTIONAL;
    } else if (starts_operand(peek(reader))) {
        if (!read_operand(reader, SLICE(""))) return false;
    } else if (strncmp(reader->at, "...", 3) == 0 || !read_token(reader)) {
        return false;
    }
    if (accept_dots(reader)) reader->arguments[start].flags |= SYNTAX_MULTIPLE;
    return true;
}

/* `key [key ...]` is one argument: merges the second into the first if it only repeats it. */
static bool fold_repetition(struct reader *reader, size_t first, size_t second) {
    const struct syntax_argument *repeat = &reader->arguments[second];
    struct syntax_argument *argument = &reader->arguments[first];
    if (repeat->flags != (SYNTAX_OPTIONAL | SYNTAX_MULTIPLE)) return false;
    if (argument->span != repeat->span || !slice_equal(repeat->name, argument->name)) return false;
    argument->flags |= SYNTAX_MULTIPLE;
    if (repeat->token.len > 0) argument->flags |= SYNTAX_MULTIPLE_TOKEN;
    reader->count = second;
    return true;
}

/* Reads items up to a closing bracket or the end. Returns the number of arguments, -1 when
 * malformed. */
static int read_sequence(struct reader *reader) {
    int items = 0;
    size_t previous = 0;
    for (char c = peek(reader); c != '\0' && c != '\n' && c != ']' && c != ')'; c = peek(reader)) {
        size_t start = reader->count;
        if (!read_item(reader)) return -1;
        if (items > 0 && fold_repetition(reader, previous, start)) continue;
        previous = start;
        items++;
    }
    return items;
}

int command_syntax_parse(const char *text, struct syntax_argument arguments[SYNTAX_ARGUMENTS_MAX],
                         size_t *total) {
    struct reader reader = {.at = text, .arguments = arguments};
    int items = read_sequence(&reader);
    char end = peek(&reader);
    if (items < 0 || (end != '\0' && end != '\n')) return -1;
    int8_t key_spec = 0;
    for (size_t i = 0; i < reader.count; i++)
        if (arguments[i].type == SYNTAX_KEY) arguments[i].key_spec = key_spec++;
    *total = reader.count;
    return items;
}

bool command_syntax_next_note(const char **at, struct syntax_note *note) {
    const char *line = strchr(*at, '\n');
    if (!line) return false;
    struct reader reader = {.at = line + 2};
    *note = (struct syntax_note){.kind = line[1]};
    *at = line + 1;
    if (note->kind == '!') return true;
    if (note->kind != '@' && note->kind != '~') return false;
    note->version = read_word(&reader);
    peek(&reader);
    note->text = read_until(&reader, "\n");
    return note->version.len > 0 && note->text.len > 0;
}
