#include "users/users.h"

#include "base/memory/alloc.h"
#include "base/text/secret.h"
#include "ds/hashtable.h"

#include <assert.h>
#include <stdlib.h>

#define BLANK_IN_NAME "Usernames can't contain spaces or null characters"

static struct slice key_of(const void *item) {
    return sds_slice(((const struct user *)item)->name);
}

static const struct hashtable_type by_name = {.key = key_of};

/* --- One user --- */

void user_release(struct user *user) {
    assert(user->references > 0);
    if (--user->references > 0) return;
    rights_free((struct rights *)(uintptr_t)user->rights);
    mem_free(user->shortcut);
    sds_free(user->name);
    mem_free(user);
}

sds user_append(sds out, const struct user *user, enum rules_form form) {
    out = sds_append(sds_append(out, SLICE("user ")), sds_slice(user->name));
    return rights_append(sds_append(out, SLICE(" ")), user->rights, form);
}

bool user_is_same(const struct user *a, const struct user *b) {
    return slice_equal(sds_slice(a->name), sds_slice(b->name)) &&
           rights_are_same(a->rights, b->rights);
}

/* Takes over the rights. Nothing else changes those of a user, or what is derived from them. */
static void set_rights(struct users *users, struct user *user, struct rights *rights) {
    rights_free((struct rights *)(uintptr_t)user->rights);
    mem_free(user->shortcut);
    user->shortcut = NULL;
    user->rights = rights;
    user->restricted = !rights->unrestricted;
    user->generation = ++users->generation;
}

/* --- By name --- */

struct user *users_find(const struct users *users, struct slice name) {
    hashtable_slot *slot = hashtable_find(users->table, name, hashtable_hash(name));
    return slot ? hashtable_item(*slot) : NULL;
}

struct user *users_log_in(const struct users *users, struct slice name, struct slice password) {
    static const struct rights nobody = {0};
    struct user *user = users_find(users, name);
    return rights_accept(user ? user->rights : &nobody, password) ? user : NULL;
}

size_t users_count(const struct users *users) {
    return hashtable_count(users->table);
}

static int compare_names(const void *a, const void *b) {
    return slice_compare(key_of(*(struct user *const *)a), key_of(*(struct user *const *)b));
}

/* Returns all users in no order; the caller frees the array, not the users. O(users). */
static struct user **list_all(const struct users *users) {
    struct user **list = mem_alloc(users_count(users) * sizeof(*list)), *user;
    size_t count = 0;
    struct hashtable_iter iter;
    hashtable_iter_start(&iter, users->table);
    while ((user = hashtable_iter_next(&iter))) list[count++] = user;
    return list;
}

struct user **users_sorted(const struct users *users) {
    struct user **sorted = list_all(users);
    qsort(sorted, users_count(users), sizeof(*sorted), compare_names);
    return sorted;
}

/* --- Changes --- */

/* Sets the rights of the user `name`, who is created if there is none. Takes ownership of `rights`.
 * Returns the user. */
static struct user *put(struct users *users, struct slice name, struct rights *rights) {
    struct user *user = users_find(users, name);
    if (!user) {
        user = mem_alloc_zeroed(sizeof(*user));
        user->name = sds_new(name);
        user->references = 1; /* the table's */
        hashtable_insert(users->table, user, hashtable_hash(name));
    }
    set_rights(users, user, rights);
    return user;
}

/* Applies the rules to `rights`, which it takes over. */
static bool change(struct users *users, struct slice name, struct rights *rights,
                   const struct slice *rules, size_t count, struct rule_error *error) {
    size_t at = 0;
    bool done = rights_apply(rights, users->all_channels, rules, count, &at, error);
    if (done)
        put(users, name, rights);
    else
        rights_free(rights);
    return done;
}

bool users_set(struct users *users, struct slice name, const struct slice *rules, size_t count,
               struct rule_error *error) {
    const struct user *user = users_find(users, name);
    if (!user) return users_define(users, name, rules, count, error);
    return change(users, name, rights_copy(user->rights), rules, count, error);
}

bool users_define(struct users *users, struct slice name, const struct slice *rules, size_t count,
                  struct rule_error *error) {
    *error = (struct rule_error){.why = BLANK_IN_NAME};
    if (rule_has_blank(name)) return false;
    return change(users, name, rights_new(users->all_channels), rules, count, error);
}

static void remove_at(struct users *users, hashtable_slot *slot, uint64_t hash) {
    struct user *user = hashtable_item(*slot);
    hashtable_delete(users->table, slot, hash);
    user->gone = true;
    user_release(user);
}

/* Deletes the user, and marks it as gone. */
static void remove_user(struct users *users, struct user *user) {
    uint64_t hash = hashtable_hash(sds_slice(user->name));
    remove_at(users, hashtable_find_item(users->table, user, hash), hash);
}

bool users_delete(struct users *users, struct slice name) {
    uint64_t hash = hashtable_hash(name);
    hashtable_slot *slot = hashtable_find(users->table, name, hash);
    if (!slot || hashtable_item(*slot) == users->default_user) return false;
    remove_at(users, slot, hash);
    return true;
}

/* Rules that are known to be right. */
static void set_default_user(struct users *users, const struct slice *rules, size_t count) {
    struct rule_error error;
    bool done = users_set(users, SLICE(DEFAULT_USER), rules, count, &error);
    assert(done);
    (void)done;
}

void users_set_default_password(struct users *users, struct slice password) {
    sds rule = sds_append(secret_reserve(sds_new(SLICE(">")), password.len), password);
    const struct slice with[] = {SLICE("resetpass"), sds_slice(rule)},
                       without[] = {SLICE("nopass")};
    if (password.len > 0)
        set_default_user(users, with, 2);
    else
        set_default_user(users, without, 1);
    secret_free(rule);
}

/* --- All --- */

void users_init(struct users *users, bool all_channels) {
    static const struct slice rules[] = {SLICE("on"), SLICE("nopass"), SLICE("~*"), SLICE("&*"),
                                         SLICE("+@all")};
    *users = (struct users){.table = hashtable_new(&by_name), .all_channels = all_channels};
    set_default_user(users, rules, sizeof(rules) / sizeof(rules[0]));
    users->default_user = users_find(users, SLICE(DEFAULT_USER));
}

void users_free(struct users *users) {
    struct user *user;
    struct hashtable_iter iter;
    hashtable_iter_start(&iter, users->table);
    while ((user = hashtable_iter_next(&iter))) user_release(user);
    hashtable_free(users->table);
}

/* --- Files --- */

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

/* --- Files: errors --- */

/* Reports what is wrong at the line: `before`, the text, `behind`. */
static void report(struct loading *loading, const char *before, struct slice text,
                   const char *behind) {
    loading->error_count++;
    loading->errors = sds_append(loading->errors, loading->path);
    loading->errors = sds_append_format(loading->errors, ":%zu%s", loading->line, before);
    loading->errors = sds_append_cstr(sds_append(loading->errors, text), behind);
}

static struct slice shown_name(struct slice name) {
    return slice_make(name.ptr, name.len < NAME_SHOWN_MAX ? name.len : NAME_SHOWN_MAX);
}

static void report_duplicate(struct loading *loading, struct slice name) {
    loading->error_count++;
    loading->errors = sds_append_cstr(loading->errors, "WARNING: Duplicate user '");
    loading->errors = sds_append(loading->errors, shown_name(name));
    loading->errors = sds_append_format(loading->errors, "' found on line %zu. ", loading->line);
}

/* Frees what the error owns. */
static void report_rule(struct loading *loading, struct rule_error *error) {
    if (error->unmatched) {
        report(loading, ": Unmatched parenthesis in selector definition '", sds_slice(error->rule),
               "'. ");
    } else {
        report(loading, ": Error in applying operation '", sds_slice(error->rule), "': ");
        loading->errors = sds_append_format(loading->errors, "%s. ", error->why);
    }
    sds_free(error->rule);
}

/* --- Files: reading --- */

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
    append_user(loading, put(loading->users, name, rights));
}

static void load_line(struct loading *loading, struct slice line) {
    loading->line++;
    line = trim(line);
    if (line.len == 0 || line.ptr[0] == '#') return;
    size_t count = split(loading, line);
    if (count < 2 || !slice_equal(loading->words[0], SLICE("user"))) {
        report(loading, " should start with user keyword followed by the username. ", SLICE(""),
               "");
        return;
    }
    struct slice name = loading->words[1];
    if (rule_has_blank(name))
        report(loading, ": username '", shown_name(name), "' contains invalid characters. ");
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
    struct user **before = list_all(users);
    qsort(before, users_count(users), sizeof(*before), compare_addresses);
    for (size_t i = users_count(users); i-- > 0;)
        if (!users_find(loading->users, sds_slice(before[i]->name))) remove_user(users, before[i]);
    mem_free(before);
    for (size_t i = 0; i < loading->count; i++) {
        struct user *loaded = loading->in_order[i];
        const struct user *user = users_find(users, sds_slice(loaded->name));
        if (user && user_is_same(user, loaded)) continue;
        put(users, sds_slice(loaded->name), (struct rights *)(uintptr_t)loaded->rights);
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
