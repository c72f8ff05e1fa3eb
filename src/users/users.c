#include "users/users.h"

#include "base/alloc.h"
#include "base/secret.h"
#include "ds/hashtable.h"
#include "users/users_internal.h"

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

struct user **users_list(const struct users *users) {
    struct user **list = mem_alloc(users_count(users) * sizeof(*list)), *user;
    size_t count = 0;
    struct hashtable_iter iter;
    hashtable_iter_start(&iter, users->table);
    while ((user = hashtable_iter_next(&iter))) list[count++] = user;
    return list;
}

struct user **users_sorted(const struct users *users) {
    struct user **sorted = users_list(users);
    qsort(sorted, users_count(users), sizeof(*sorted), compare_names);
    return sorted;
}

/* --- Changes --- */

struct user *users_put(struct users *users, struct slice name, struct rights *rights) {
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
        users_put(users, name, rights);
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

void users_remove(struct users *users, struct user *user) {
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
