#include "server/settings/user_files.h"

#include "base/files/file.h"
#include "base/files/new_file.h"
#include "base/memory/alloc.h"
#include "base/text/secret.h"
#include "engine/engine.h"
#include "resp/parser.h"
#include "users/users.h"

#include <errno.h>
#include <stdlib.h>

/* The most bytes of an ACL file: some 500,000 users with a password and a few rules. */
enum { ACL_FILE_MAX = 64 * 1024 * 1024 };

/* What an error quotes of a name. */
enum { NAME_SHOWN_MAX = 128 };

/* --- The ACL file --- */

/* The path stays the same when the server's directory changes. */
static sds absolute_path(const struct engine *engine) {
    const char *path = engine->config.aclfile;
    if (path[0] == '/') return sds_new(slice_of_cstr(path));
    return sds_format("%s/%s", engine->config.dir, path);
}

/* The log ends at a NUL. */
static void show_nuls(sds text) {
    for (size_t i = 0; i < sds_len(text); i++)
        if (text[i] == 0) text[i] = '?';
}

/* Logs whether requirepass is in force, beside users from elsewhere. */
static void note_password(const struct engine *engine, const char *where) {
    struct slice password = sds_slice(engine->config.requirepass);
    const struct users *users = engine->users;
    if (password.len == 0) return;
    if (user_needs_no_password(users->default_user))
        log_warning("requirepass has no effect: clients need no password, because %s says "
                    "'nopass' of the user default. Remove the one or the other.",
                    where);
    else if (users_log_in(users, SLICE(DEFAULT_USER), password))
        log_notice("requirepass is a password of the user default");
    else
        log_notice("requirepass is no password of the user default, because of what %s says of it",
                   where);
}

bool user_files_load(struct engine *engine, sds *error) {
    const char *name = engine->config.aclfile;
    sds text = file_read_plain(engine->config_source.acl_path, ACL_FILE_MAX);
    if (!text) {
        *error = sds_format("Error loading ACLs, opening file '%s': %s", name, strerror(errno));
        return false;
    }
    bool done = users_load(engine->users, slice_of_cstr(name),
                           sds_slice(engine->config.requirepass), sds_slice(text), error);
    if (done)
        note_password(engine, name);
    else
        show_nuls(*error);
    secret_free(text);
    return done;
}

bool user_files_save(struct engine *engine) {
    const char *path = engine->config_source.acl_path;
    sds text = users_file_text(engine->users);
    bool done = new_file_replace(path, sds_slice(text));
    if (!done) log_warning("Can't write the ACL file %s: %s", path, strerror(errno));
    secret_free(text);
    return done;
}

/* --- Lines of the configuration --- */

/* Splits the words in place. The caller frees the array. */
static struct slice *split_words(sds text, size_t *count) {
    char *at = text, *end = text + sds_len(text);
    struct slice *words = NULL, word;
    size_t capacity = 0;
    *count = 0;
    while (resp_split_next(&at, end, &word) == RESP_SPLIT_ARGUMENT) {
        MEM_RESERVE(words, capacity, *count + 1);
        words[(*count)++] = word;
    }
    return words;
}

/* Shows the name up to a blank, which no name has: the rules follow it, if a quote is missing. */
static bool refuse_line(const struct config_user *line, struct slice name, const char *why,
                        sds *error) {
    size_t shown = 0;
    while (shown < name.len && shown < NAME_SHOWN_MAX && name.ptr[shown] != ' ') shown++;
    name.len = shown;
    *error = sds_append_cstr(sds_new(sds_slice(line->place)), ": Error in user declaration '");
    *error = sds_append_cstr(sds_append_cstr(sds_append(*error, name), "': "), why);
    show_nuls(*error);
    return false;
}

/* Gives the line the user's name as its words. */
static bool apply_line(struct engine *engine, struct config_user *line, bool *has_default,
                       sds *error) {
    size_t count;
    struct slice *words = split_words(line->words, &count);
    struct slice name = words[0];
    struct rule_error why;
    bool is_default = slice_equal(name, SLICE(DEFAULT_USER)), done = false;
    if (is_default ? *has_default : users_find(engine->users, name) != NULL) {
        refuse_line(line, name,
                    "Duplicate user found. A user can only be defined once in config files", error);
    } else if (users_define(engine->users, name, words + 1, count - 1, &why)) {
        done = true;
        line->generation = engine->users->generation;
    } else {
        sds text = rule_error_text(&why);
        show_nuls(text);
        refuse_line(line, name, text, error);
        sds_free(why.rule);
        sds_free(text);
    }
    *has_default |= is_default;
    sds kept = sds_new(name);
    secret_free(line->words);
    line->words = kept;
    mem_free(words);
    return done;
}

static int compare_lines(const void *a, const void *b) {
    return slice_compare(sds_slice(((const struct config_user *)a)->words),
                         sds_slice(((const struct config_user *)b)->words));
}

/* Keeps the lines that are not in the file of CONFIG REWRITE, in the order of their names. */
static void keep_elsewhere(struct config_source *source) {
    size_t kept = 0;
    for (size_t i = 0; i < source->user_count; i++) {
        struct config_user *line = &source->users[i];
        if (line->is_elsewhere) {
            source->users[kept++] = *line;
        } else {
            sds_free(line->place);
            sds_free(line->words);
        }
    }
    source->user_count = kept;
    if (kept > 0) qsort(source->users, kept, sizeof(*source->users), compare_lines);
}

static bool apply_lines(struct engine *engine, sds *error) {
    struct config_source *source = &engine->config_source;
    bool has_default = false, done = true;
    for (size_t i = 0; i < source->user_count && done; i++)
        done = apply_line(engine, &source->users[i], &has_default, error);
    if (done) keep_elsewhere(source);
    return done;
}

/* --- CONFIG REWRITE --- */

/* Returns whether the user's line is in another file; says so if that is not what the user is
 * now. */
static bool is_elsewhere(const struct engine *engine, const struct user *user) {
    const struct config_source *source = &engine->config_source;
    struct config_user key = {.words = user->name}, *line = NULL;
    if (source->user_count > 0)
        line = bsearch(&key, source->users, source->user_count, sizeof(key), compare_lines);
    if (line && line->generation != user->generation)
        log_warning("CONFIG REWRITE does not write the user '%s', which has changed: its line is "
                    "at %s",
                    user->name, line->place);
    return line;
}

/* Returns whether the default user is what requirepass alone makes of it. */
static bool default_is_plain(const struct engine *engine) {
    struct users plain;
    users_init(&plain, false);
    users_set_default_password(&plain, sds_slice(engine->config.requirepass));
    bool same = user_is_same(engine->users->default_user, plain.default_user);
    users_free(&plain);
    return same;
}

static void warn_of_deleted(const struct engine *engine) {
    const struct config_source *source = &engine->config_source;
    for (size_t i = 0; i < source->user_count; i++)
        if (!users_find(engine->users, sds_slice(source->users[i].words)))
            log_warning(
                "CONFIG REWRITE does not remove the user '%s', who was deleted: the line is "
                "at %s",
                source->users[i].words, source->users[i].place);
}

static sds lines_to_write(const struct engine *engine) {
    struct user **sorted = users_sorted(engine->users);
    warn_of_deleted(engine);
    sds text = sds_new(SLICE(""));
    for (size_t i = 0; i < users_count(engine->users); i++) {
        const struct user *user = sorted[i];
        if (is_elsewhere(engine, user)) continue;
        if (user == engine->users->default_user && default_is_plain(engine)) continue;
        text = sds_append_cstr(user_append(text, user, RULES_STORED), "\n");
    }
    mem_free(sorted);
    return text;
}

bool user_files_rewrite_config(struct engine *engine, const char *path, bool all) {
    bool has_file = engine->config_source.acl_path;
    sds users = has_file ? sds_new(SLICE("")) : lines_to_write(engine);
    bool done = config_rewrite_file(&engine->config, sds_slice(users), path, all);
    int saved_errno = errno;
    secret_free(users);
    errno = saved_errno;
    return done;
}

/* --- The start --- */

static bool load_file(struct engine *engine, sds *error) {
    sds why = NULL;
    engine->config_source.acl_path = absolute_path(engine);
    if (user_files_load(engine, &why)) return true;
    *error = sds_append(sds_new(SLICE("Aborting startup because of ACL errors: ")), sds_slice(why));
    sds_free(why);
    return false;
}

static bool refuse_both(const struct engine *engine, sds *error) {
    *error = sds_format(
        "There are users in the configuration (%s), and there is an aclfile (%s). Define users in "
        "one of the two: remove the lines user, or the line aclfile.",
        engine->config_source.users[0].place, engine->config.aclfile);
    return false;
}

bool user_files_start(struct engine *engine, sds *error) {
    const struct config *config = &engine->config;
    bool has_file = sds_len(config->aclfile) > 0;
    bool has_lines = engine->config_source.user_count > 0;
    if (has_file && has_lines) return refuse_both(engine, error);
    users_init(engine->users, config->acl_pubsub_default);
    users_set_default_password(engine->users, sds_slice(config->requirepass));
    bool done = has_file ? load_file(engine, error) : apply_lines(engine, error);
    if (done && has_lines) note_password(engine, "a line of the configuration");
    if (!done) users_free(engine->users);
    return done;
}
