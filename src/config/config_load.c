/* config_load: the configuration file, standard input and the command line.
 *
 * The options of the command line are first converted to lines of a file (--bind a b → bind "a"
 * "b"), so that one parser is enough. Order: file, standard input, options; the last line of a
 * directive counts. */
#include "base/files/file.h"
#include "base/memory/alloc.h"
#include "base/text/secret.h"
#include "config/config.h"
#include "config/config_table.h"
#include "resp/parser.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { INCLUDE_DEPTH_MAX = 16 };

#define COMMAND_LINE "the command line"

/* Behind a comment, such lines would be left out silently. */
#define LONE_RETURN "Lines must end with a line feed, not with a carriage return alone"

struct loader {
    struct config *config;
    struct config_source *source;
    const char *name;                    /* a path or a description of what is being read */
    size_t line;                         /* number of the line being read; 0 on the command line */
    int depth;                           /* number of files that include this one */
    bool in_file;                        /* CONFIG REWRITE will write the outermost of them */
    struct config_directive_set present; /* directives that had a line */
    struct slice *words; /* words of the current line, without the directive's name */
    size_t word_count;
    size_t word_capacity;
    sds *error;
};

static bool load_path(struct loader *loader, const char *path);

/* --- Errors and notes --- */

static bool bad_line(struct loader *loader, struct slice line, const char *reason) {
    sds text = sds_new(SLICE("\n*** FATAL CONFIG FILE ERROR ***\n"));
    if (loader->line > 0)
        text = sds_append_format(text, "Reading the configuration file, at line %zu of %s\n",
                                 loader->line, loader->name);
    else
        text = sds_append_format(text, "Reading %s\n", loader->name);
    text = sds_append_cstr(text, ">>> '");
    text = secret_append_line(text, line);
    *loader->error = sds_append_format(text, "'\n%s\n", reason);
    return false;
}

static bool cannot_open(struct loader *loader, const char *path) {
    *loader->error =
        sds_format("Fatal error, can't open config file '%s': %s\n", path, strerror(errno));
    return false;
}

static sds current_place(const struct loader *loader) {
    sds place = sds_new(slice_of_cstr(loader->name));
    return loader->line > 0 ? sds_append_format(place, ":%zu", loader->line) : place;
}

/* Adds a note "path:line: 'name' is ignored: <why>", once for each name; for one of a family at
 * each line. */
static void note_ignored(struct loader *loader, const struct config_directive *directive,
                         struct slice name, const char *why) {
    struct config_source *source = loader->source;
    if (!(directive->flags & CONFIG_FAMILY)) {
        if (!config_name_set_add(&source->noted, directive, name)) return;
        name = slice_of_cstr(config_name_matched(directive, name));
    }
    sds text = sds_append(sds_append_cstr(current_place(loader), ": '"), name);
    text = sds_append_format(text, "' is ignored: %s", why);
    source->notes = mem_realloc(source->notes, (source->note_count + 1) * sizeof(*source->notes));
    source->notes[source->note_count++] =
        (struct config_note){text, directive->flags & CONFIG_MISSED ? LOG_WARNING : LOG_NOTICE};
}

void config_log_notes(struct config_source *source) {
    for (size_t i = 0; i < source->note_count; i++) {
        log_write(source->notes[i].level, "%s", source->notes[i].text);
        sds_free(source->notes[i].text);
    }
    mem_free(source->notes);
    source->notes = NULL;
    source->note_count = 0;
}

/* --- Lines --- */

static void add_word(struct loader *loader, struct slice word) {
    MEM_RESERVE(loader->words, loader->word_capacity, loader->word_count + 1);
    loader->words[loader->word_count++] = word;
}

static bool include_pattern(struct loader *loader, const char *pattern) {
    glob_t found;
    int status = glob(pattern, GLOB_ERR, NULL, &found);
    if (status == GLOB_NOMATCH) return true; /* it includes no file */
    if (status != 0) return cannot_open(loader, pattern);
    bool done = true;
    for (size_t i = 0; i < found.gl_pathc && done; i++) done = load_path(loader, found.gl_pathv[i]);
    globfree(&found);
    return done;
}

static bool include(struct loader *loader, struct slice line) {
    if (loader->word_count != 1) return bad_line(loader, line, "wrong number of arguments");
    if (loader->depth >= INCLUDE_DEPTH_MAX)
        return bad_line(loader, line, "include is not possible here: files are nested too deep");
    /* The words of the included lines overwrite this line's. */
    sds path = sds_new(loader->words[0]);
    bool done = strpbrk(path, "*?[") ? include_pattern(loader, path) : load_path(loader, path);
    sds_free(path);
    return done;
}

/* --- Users --- */

static void add_user(struct loader *loader) {
    struct config_source *source = loader->source;
    sds words = sds_new(SLICE(""));
    for (size_t i = 0; i < loader->word_count; i++) {
        words = secret_reserve(words, SDS_QUOTED_MAX * loader->words[i].len + sizeof(" \"\""));
        words = sds_append_quoted(sds_append_cstr(words, " "), loader->words[i]);
    }
    source->users = mem_realloc(source->users, (source->user_count + 1) * sizeof(*source->users));
    source->users[source->user_count++] =
        (struct config_user){.place = current_place(loader),
                             .words = words,
                             .is_elsewhere = !loader->in_file || loader->depth != 1};
}

void config_forget_users(struct config_source *source) {
    for (size_t i = 0; i < source->user_count; i++) {
        sds_free(source->users[i].place);
        secret_free(source->users[i].words);
    }
    mem_free(source->users);
    source->users = NULL;
    source->user_count = 0;
}

/* --- Directives --- */

/* `name` is the directive's name as the line has it. */
static bool set_directive(struct loader *loader, const struct config_directive *directive,
                          struct slice name, struct slice line) {
    sds reason = NULL;
    bool again = !config_directive_set_add(&loader->present, directive);
    if (directive->kind == CONFIG_USER) add_user(loader);
    if (config_set_line(loader->config, directive, loader->words, loader->word_count, again,
                        &reason))
        return true;
    bool ignored = directive->kind == CONFIG_FIXED && !(directive->flags & CONFIG_PROTECTS);
    if (ignored)
        note_ignored(loader, directive, name, reason);
    else
        bad_line(loader, line, reason);
    sds_free(reason);
    return ignored;
}

/* Returns whether an empty value of the directive gives config_set no words at all. */
static bool needs_words(const struct config_directive *directive) {
    return directive->kind == CONFIG_FIXED || directive->kind == CONFIG_USER ||
           directive->kind == CONFIG_RENAMES;
}

static bool run_directive(struct loader *loader, struct slice name, struct slice line) {
    if (slice_is(name, "include")) return include(loader, line);
    const struct config_directive *directive = config_find(name);
    bool has_nothing = directive && needs_words(directive) && loader->word_count == 0;
    if (!directive || has_nothing)
        return bad_line(loader, line, "Bad directive or wrong number of arguments");
    return set_directive(loader, directive, name, line);
}

/* `line` has no blanks around it and is not empty; `copy` has the same bytes, writable. */
static bool run_line(struct loader *loader, struct slice line, char *copy) {
    char *at = copy;
    char *end = copy + line.len;
    struct slice name = SLICE("");
    struct slice word;
    enum resp_split status = resp_split_next(&at, end, &name);
    loader->word_count = 0;
    if (status == RESP_SPLIT_ARGUMENT)
        while ((status = resp_split_next(&at, end, &word)) == RESP_SPLIT_ARGUMENT)
            add_word(loader, word);
    if (status == RESP_SPLIT_UNBALANCED)
        return bad_line(loader, line, "Unbalanced quotes in configuration line");
    return run_directive(loader, name, line);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct slice trim(struct slice line) {
    while (line.len > 0 && is_blank(line.ptr[0])) line = slice_make(line.ptr + 1, line.len - 1);
    while (line.len > 0 && is_blank(line.ptr[line.len - 1])) line.len--;
    return line;
}

/* Reads every line of `text`, and counts them, except those of the command line. */
static bool load_lines(struct loader *loader, struct slice text) {
    bool counted = strcmp(loader->name, COMMAND_LINE) != 0;
    for (size_t number = 1; text.len > 0; number++) {
        struct slice line = trim(slice_take_until(&text, '\n'));
        if (line.len == 0) continue;
        loader->line = counted ? number : 0;
        if (memchr(line.ptr, '\r', line.len)) return bad_line(loader, line, LONE_RETURN);
        if (line.ptr[0] == '#') continue;
        sds copy = sds_new(line);
        bool done = run_line(loader, line, copy);
        secret_free(copy);
        if (!done) return false;
    }
    return true;
}

/* Reads the lines of a text that has its own name, inside whatever is being read. Takes over the
 * text. */
static bool load_named(struct loader *loader, const char *name, sds text) {
    const char *outer_name = loader->name;
    size_t outer_line = loader->line;
    loader->name = name;
    loader->depth++;
    bool done = load_lines(loader, sds_slice(text));
    loader->depth--;
    loader->name = outer_name;
    loader->line = outer_line;
    secret_free(text);
    return done;
}

static bool load_path(struct loader *loader, const char *path) {
    sds text = file_read(path);
    return text ? load_named(loader, path, text) : cannot_open(loader, path);
}

static bool load_stdin(struct loader *loader) {
    sds text = file_read_all(STDIN_FILENO);
    return text ? load_named(loader, "standard input", text) : cannot_open(loader, "-");
}

/* --- Command line --- */

static bool is_option(const char *argument) {
    return argument[0] == '-' && argument[1] == '-';
}

/* Writes the options as lines of a configuration file. */
static sds write_options(int argc, char **argv) {
    sds lines = sds_new(SLICE(""));
    bool wants_value = false;
    for (int i = 0; i < argc; i++) {
        if (is_option(argv[i]) && !wants_value) {
            if (i > 0) lines = sds_append_cstr(lines, "\n");
            lines = sds_append_cstr(secret_reserve(lines, strlen(argv[i])), argv[i] + 2);
            /* `--save` before another option means no save points; "--hz 5" in one argument
             * contains its value. */
            bool is_last = i + 1 == argc || is_option(argv[i + 1]);
            if (strcasecmp(argv[i], "--save") == 0 && is_last)
                lines = sds_append_cstr(lines, " \"\"");
            else
                wants_value = strchr(argv[i], ' ') == NULL;
        } else {
            lines = secret_reserve(lines, SDS_QUOTED_MAX * strlen(argv[i]) + sizeof(" \"\""));
            lines = sds_append_cstr(lines, " ");
            lines = sds_append_quoted(lines, slice_of_cstr(argv[i]));
            wants_value = false;
        }
    }
    return lines;
}

/* Returns the absolute path, because CONFIG REWRITE must find the file from any directory. */
static sds absolute_path(const char *path) {
    char resolved[PATH_MAX];
    return sds_new(slice_of_cstr(realpath(path, resolved) ? resolved : path));
}

static bool is_stdin(const char *argument) {
    return strcmp(argument, "-") == 0;
}

static bool load_all(struct loader *loader, int argc, char **argv) {
    loader->source->path = sds_new(SLICE(""));
    bool from_stdin = argc > 0 && is_stdin(argv[0]);
    bool from_none = argc > 0 && argv[0][0] == 0; /* "", as a script has it that may name a file */
    bool from_file = argc > 0 && argv[0][0] != '-' && !from_none;
    if (from_file) {
        loader->in_file = true;
        if (!load_path(loader, argv[0])) return false;
        loader->in_file = false;
        sds_free(loader->source->path);
        loader->source->path = absolute_path(argv[0]);
    }
    bool has_source = from_file || from_stdin || from_none;
    argc -= has_source;
    argv += has_source;
    if (argc > 0 && is_stdin(argv[argc - 1])) {
        from_stdin = true;
        argc--;
    }
    if (from_stdin && !load_stdin(loader)) return false;
    return load_named(loader, COMMAND_LINE, write_options(argc, argv));
}

bool config_load(struct config *config, struct config_source *source, int argc, char **argv,
                 sds *error) {
    struct loader loader = {.config = config, .source = source, .name = "", .error = error};
    bool done = load_all(&loader, argc, argv);
    mem_free(loader.words);
    return done;
}

bool config_load_text(struct config *config, struct config_source *source, const char *name,
                      struct slice text, sds *error) {
    struct loader loader = {
        .config = config, .source = source, .name = "", .depth = INCLUDE_DEPTH_MAX, .error = error};
    bool done = load_named(&loader, name, sds_new(text));
    mem_free(loader.words);
    return done;
}
