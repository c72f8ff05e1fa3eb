/* An ACL file, and the arguments of ACL SETUSER, are taken or refused, whatever their bytes; what was
 * taken prints a text that makes the same users again. The first byte chooses the form and
 * acl-pubsub-default. Rules of ACL SETUSER are separated by NUL. */
#include "base/memory/alloc.h"
#include "table/families.h"
#include "users/access_internal.h"

#include <stdlib.h>

static void check_text(const struct users *users, bool all_channels) {
    struct users again;
    sds text = users_file_text(users), errors = NULL;
    users_init(&again, all_channels);
    if (!users_load(&again, SLICE("again"), SLICE(""), sds_slice(text), &errors)) abort();
    sds second = users_file_text(&again);
    if (!slice_equal(sds_slice(text), sds_slice(second))) abort();
    struct user **sorted = users_sorted(users);
    for (size_t i = 0; i < users_count(users); i++)
        if (!user_is_same(sorted[i], users_find(&again, sds_slice(sorted[i]->name)))) abort();
    mem_free(sorted);
    users_free(&again);
    sds_free(text);
    sds_free(second);
}

/* Returns whether the selectors allow the call, without the shortcut to them. */
static bool selectors_allow(const struct user *user, struct access access) {
    struct denial denial;
    return access__by_selectors(user, access, &denial);
}

/* A user who is unrestricted is denied nothing; a denial names one of the arguments; what is allowed
 * at once is allowed. */
static void check_calls(const struct users *users) {
    static const struct slice calls[][5] = {
        {SLICE("get"), SLICE("a")},
        {SLICE("config"), SLICE("get"), SLICE("x")},
        {SLICE("copy"), SLICE("a"), SLICE("b"), SLICE("db"), SLICE("1")},
        {SLICE("psubscribe"), SLICE("a*")},
        {SLICE("publish"), SLICE(""), SLICE("m")},
        {SLICE("select"), SLICE("0")},
    };
    struct user **sorted = users_sorted(users);
    for (size_t u = 0; u < users_count(users); u++) {
        for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
            struct access access = {.argv = calls[i]};
            struct denial denial;
            while (access.argc < 5 && calls[i][access.argc].ptr) access.argc++;
            access.command = command_find(calls[i][0]);
            if (access.command->flags & COMMAND_CONTAINER)
                access.command = command_find_subcommand(access.command, calls[i][1]);
            bool may = user_may(sorted[u], access, &denial);
            if (user_is_unrestricted(sorted[u]) && !may) abort();
            if (may != selectors_allow(sorted[u], access)) abort();
            if (!may && (denial.what == DENIED_NOTHING || denial.index >= access.argc)) abort();
        }
    }
    mem_free(sorted);
}

static void load(struct users *users, struct slice text) {
    sds errors = NULL;
    if (users_load(users, SLICE("file"), SLICE(""), text, &errors) != (errors == NULL)) abort();
    sds_free(errors);
}

static void set(struct users *users, struct slice text) {
    struct slice *rules = NULL;
    size_t count = 0, capacity = 0;
    struct rule_error error = {0};
    while (text.len > 0) {
        const char *end = memchr(text.ptr, 0, text.len);
        size_t len = end ? (size_t)(end - text.ptr) : text.len;
        MEM_RESERVE(rules, capacity, count + 1);
        rules[count++] = slice_make(text.ptr, len);
        text = slice_make(text.ptr + len + (end != NULL), text.len - len - (end != NULL));
    }
    if (!users_set(users, SLICE("x"), rules, count, &error)) {
        sds_free(rule_error_text(&error));
        sds_free(error.rule);
    }
    mem_free(rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bool has_table;
    struct users users;
    if (size == 0) return 0;
    if (!has_table) command_table_init(command_families, NULL);
    has_table = true;
    users_init(&users, data[0] & 1);
    (data[0] & 2 ? load : set)(&users, slice_make(data + 1, size - 1));
    check_text(&users, data[0] & 4);
    check_calls(&users);
    users_free(&users);
    return 0;
}
