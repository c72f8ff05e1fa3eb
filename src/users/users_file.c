/* users_file: the text of ACL files, read and written. */
#include "users/users_internal.h"

#include "base/alloc.h"

#include <stdlib.h>

/* What an error quotes of a name, and how many errors are told. */
enum { NAME_SHOWN_MAX = 128, ERRORS_MAX = 100 };

struct loading {
    struct users *users;    /* those that the file has defined so far */
    struct user **in_order; /* as they stand in the file; the default user last if it does not */
    size_t count;
    size_t capacity;
    bool has_default; /* the file names the default user */
    struct slice path;
    size_t line;
    sds errors;
    size_t error_count;
    struct slice *words; /* of the line */
    size_t word_capacity;
};

static struct slice trim(struct slice text) {
    while (text.len > 0 && rule_is_blank(text.ptr[0]))
        text = slice_make(text.ptr + 1, text.len - 1);
    while (text.len > 0 && rule_is_blank(text.ptr[text.len - 1])) text.len--;
    return text;
}

/* Splits a line at single spaces. Returns the number of words. */
static size_t split(struct loading *loading, struct slice line) {
    size_t count = 0;
    while (line.len > 0) {
        MEM_RESERVE(loading->words, loading->word_capacity, count + 1);
        loading->words[count++] = slice_take_until(&line, ' ');
    }
    return count;
}

/* --- Errors --- */

static void append_place(struct loading *loading) {
    loading->error_count++;
    loading->errors = sds_append(loading->errors, loading->path);
    loading->errors = sds_append_format(loading->errors, ":%zu", loading->line);
}

static struct slice shown_name(struct slice name) {
    return slice_make(name.ptr, name.len < NAME_SHOWN_MAX ? name.len : NAME_SHOWN_MAX);
}

static void report_name(struct loading *loading, struct slice name) {
    append_place(loading);
    loading->errors = sds_append(loading->errors, SLICE(": username '"));
    loading->errors = sds_append(loading->errors, shown_name(name));
    loading->errors = sds_append(loading->errors, SLICE("' contains invalid characters. "));
}

static void report_duplicate(struct loading *loading, struct slice name) {
    loading->error_count++;
    loading->errors = sds_append(loading->errors, SLICE("WARNING: Duplicate user '"));
    loading->errors = sds_append(loading->errors, shown_name(name));
    loading->errors = sds_append_format(loading->errors, "' found on line %zu. ", loading->line);
}

/* Frees what the error owns. */
static void report_rule(struct loading *loading, struct rule_error *error) {
    append_place(loading);
    if (error->unmatched) {
        loading->errors =
            sds_append(loading->errors, SLICE(": Unmatched parenthesis in selector definition '"));
        loading->errors = sds_append(loading->errors, sds_slice(error->rule));
        loading->errors = sds_append(loading->errors, SLICE("'. "));
    } else {
        loading->errors = sds_append(loading->errors, SLICE(": Error in applying operation '"));
        loading->errors = sds_append(loading->errors, sds_slice(error->rule));
        loading->errors = sds_append_format(loading->errors, "': %s. ", error->why);
    }
    sds_free(error->rule);
}

/* --- Reading --- */

static bool is_duplicate(struct loading *loading, struct slice name) {
    if (!slice_equal(name, SLICE(DEFAULT_USER))) return users_find(loading->users, name);
    bool again = loading->has_default;
    loading->has_default = true;
    return again;
}

static void append_user(struct loading *loading, struct user *user) {
    MEM_RESERVE(loading->in_order, loading->capacity, loading->count + 1);
    loading->in_order[loading->count++] = user;
}

static void load_user(struct loading *loading, struct slice name, size_t rules) {
    bool all_channels = loading->users->all_channels;
    struct rights *rights = rights_new(all_channels);
    struct rule_error error;
    size_t at = 0;
    while (loading->error_count < ERRORS_MAX &&
           !rights_apply(rights, all_channels, loading->words + 2, rules, &at, &error))
        report_rule(loading, &error);
    append_user(loading, users_put(loading->users, name, rights));
}

static void load_line(struct loading *loading, struct slice line) {
    loading->line++;
    line = trim(line);
    if (line.len == 0 || line.ptr[0] == '#') return;
    size_t count = split(loading, line);
    if (count < 2 || !slice_equal(loading->words[0], SLICE("user"))) {
        append_place(loading);
        loading->errors = sds_append(
            loading->errors, SLICE(" should start with user keyword followed by the username. "));
        return;
    }
    struct slice name = loading->words[1];
    if (rule_has_blank(name))
        report_name(loading, name);
    else if (is_duplicate(loading, name))
        report_duplicate(loading, name);
    else
        load_user(loading, name, count - 2);
}

static int compare_addresses(const void *a, const void *b) {
    uintptr_t left = (uintptr_t) * (struct user *const *)a,
              right = (uintptr_t) * (struct user *const *)b;
    return (left > right) - (left < right);
}

/* Makes the users the loaded ones, whose rights it takes away. It goes through both in the order in
 * which they lie in memory: in that of the table, nearly each user would be a miss of the cache. */
static void take_over(struct users *users, const struct loading *loading) {
    struct user **before = users_list(users);
    qsort(before, users_count(users), sizeof(*before), compare_addresses);
    for (size_t i = users_count(users); i-- > 0;)
        if (!users_find(loading->users, sds_slice(before[i]->name))) users_remove(users, before[i]);
    mem_free(before);
    for (size_t i = 0; i < loading->count; i++) {
        struct user *loaded = loading->in_order[i];
        const struct user *user = users_find(users, sds_slice(loaded->name));
        if (user && user_is_same(user, loaded)) continue;
        users_put(users, sds_slice(loaded->name), (struct rights *)(uintptr_t)loaded->rights);
        loaded->rights = NULL;
    }
}

bool users_load(struct users *users, struct slice path, struct slice default_password,
                struct slice text, sds *errors) {
    struct users loaded;
    users_init(&loaded, users->all_channels);
    users_set_default_password(&loaded, default_password);
    struct loading loading = {.users = &loaded, .path = path, .errors = sds_new(SLICE(""))};
    while (text.len > 0 && loading.error_count < ERRORS_MAX)
        load_line(&loading, slice_take_until(&text, '\n'));
    bool done = loading.error_count == 0;
    if (done) {
        if (!loading.has_default) append_user(&loading, loaded.default_user);
        take_over(users, &loading);
        sds_free(loading.errors);
    } else {
        if (loading.error_count >= ERRORS_MAX)
            loading.errors = sds_append(loading.errors, SLICE("There may be more errors. "));
        *errors = sds_append(loading.errors,
                             SLICE("WARNING: ACL errors detected, no change to the previously "
                                   "active ACL rules was performed"));
    }
    mem_free(loading.words);
    mem_free(loading.in_order);
    users_free(&loaded);
    return done;
}

sds users_file_text(const struct users *users) {
    struct user **sorted = users_sorted(users);
    sds text = sds_new(SLICE(""));
    for (size_t i = 0; i < users_count(users); i++)
        text = sds_append(user_append(text, sorted[i], RULES_STORED), SLICE("\n"));
    mem_free(sorted);
    return text;
}
