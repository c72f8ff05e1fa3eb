#include "admin/client_filter.h"

#include "base/memory/alloc.h"
#include "base/text/number.h"

#include <stddef.h>
#include <stdlib.h>

/* Returns CLIENT_TYPE_ANY for other names. */
static enum client_type client_type_named(struct slice name) {
    if (slice_is(name, "normal")) return CLIENT_TYPE_NORMAL;
    if (slice_is(name, "replica") || slice_is(name, "slave")) return CLIENT_TYPE_REPLICA;
    if (slice_is(name, "pubsub")) return CLIENT_TYPE_PUBSUB;
    if (slice_is(name, "master") || slice_is(name, "primary")) return CLIENT_TYPE_MASTER;
    return CLIENT_TYPE_ANY;
}

static sds error_text(const char *text) {
    return sds_new(slice_of_cstr(text));
}

/* --- Options --- */

/* Returns whether a text that an option gives holds of a client's fact. */
typedef bool text_condition(struct slice wanted, struct slice fact);

static text_condition is_same, has_letters, has_ip;

/* The options that NOT- may stand before. */
static const struct {
    const char *name;
    text_condition *holds; /* NULL: its value is not one text */
    size_t wanted;         /* offset of the slice in struct client_conditions */
    size_t fact;           /* offset of the slice in struct client_facts */
} options_with_not[] = {
#define TEXT(wanted, fact)                                                                         \
    offsetof(struct client_conditions, wanted), offsetof(struct client_facts, fact)
    {"id", NULL, 0, 0},
    {"type", NULL, 0, 0},
    {"db", NULL, 0, 0},
    {"addr", is_same, TEXT(address, address)},
    {"laddr", is_same, TEXT(local_address, local_address)},
    {"ip", has_ip, TEXT(ip, address)},
    {"user", is_same, TEXT(user, user)},
    {"name", is_same, TEXT(name, name)},
    {"lib-name", is_same, TEXT(lib_name, lib_name)},
    {"lib-ver", is_same, TEXT(lib_version, lib_version)},
    {"flags", has_letters, TEXT(flags, flags)},
    {"capa", has_letters, TEXT(capabilities, capabilities)},
};
enum { OPTIONS_WITH_NOT = sizeof(options_with_not) / sizeof(options_with_not[0]) };

/* Removes NOT- from the option and returns whether it was there. */
static bool take_not(struct slice *option) {
    static const char not_[] = "not-";
    enum { NOT_LENGTH = sizeof(not_) - 1 };
    if (option->len < NOT_LENGTH || !slice_is(slice_make(option->ptr, NOT_LENGTH), not_))
        return false;
    *option = slice_make(option->ptr + NOT_LENGTH, option->len - NOT_LENGTH);
    return true;
}

static bool has_not(struct slice option) {
    for (size_t i = 0; i < OPTIONS_WITH_NOT; i++)
        if (slice_is(option, options_with_not[i].name)) return true;
    return false;
}

bool client_filter_is_option(struct slice word) {
    bool negated = take_not(&word);
    if (has_not(word)) return true;
    return !negated &&
           (slice_is(word, "skipme") || slice_is(word, "maxage") || slice_is(word, "idle"));
}

/* --- Values --- */

static int by_number(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void sort_ids(struct client_ids *ids) {
    size_t kept = 0;
    qsort(ids->ids, ids->count, sizeof(*ids->ids), by_number);
    for (size_t i = 0; i < ids->count; i++)
        if (kept == 0 || ids->ids[kept - 1] != ids->ids[i]) ids->ids[kept++] = ids->ids[i];
    ids->count = kept;
}

/* Parses the numbers at the beginning of `values`; *used gets how many there are. */
static sds parse_ids(struct client_ids *ids, const struct slice *values, size_t count, bool negated,
                     size_t *used) {
    int64_t id;
    ids->ids = mem_realloc(ids->ids, count * sizeof(*ids->ids));
    ids->count = 0;
    while (ids->count < count && number_parse_int64(values[ids->count], &id)) {
        if (id <= 0) return error_text("ERR client-id should be greater than 0");
        ids->ids[ids->count++] = id;
    }
    *used = ids->count;
    if (ids->count == 0)
        return error_text(negated ? "ERR syntax error" : "ERR client-id should be greater than 0");
    sort_ids(ids);
    return NULL;
}

static sds parse_type(struct client_conditions *conditions, struct slice value) {
    conditions->type = client_type_named(value);
    if (conditions->type != CLIENT_TYPE_ANY) return NULL;
    return sds_append_cstr(sds_append(error_text("ERR Unknown client type '"), value), "'");
}

static sds parse_database(struct client_conditions *conditions, bool negated, struct slice value,
                          int databases) {
    const char *name = negated ? "NOT-DB" : "DB";
    int64_t number;
    if (!number_parse_int64(value, &number))
        return sds_format("ERR %s is not an integer or out of range", name);
    if (number < 0 || number >= databases)
        return sds_format("ERR %s number should be between 0 and %d", name, databases - 1);
    conditions->database = number + 1;
    return NULL;
}

static sds parse_seconds(int64_t *seconds, const char *name, struct slice value) {
    if (!number_parse_int64(value, seconds))
        return sds_format("ERR %s is not an integer or out of range", name);
    return *seconds > 0 ? NULL : sds_format("ERR %s should be greater than 0", name);
}

/* Returns whether all letters of `text` are among `letters`. */
static bool consists_of(struct slice text, struct slice letters) {
    for (size_t i = 0; i < text.len; i++)
        if (!memchr(letters.ptr, text.ptr[i], letters.len)) return false;
    return true;
}

/* A value of FLAGS or CAPA has only letters that Redis or Valkey have. */
static sds check_letters(struct slice option, bool negated, struct slice value) {
    bool is_flags = slice_is(option, "flags");
    if (consists_of(value, is_flags ? SLICE("AbBcdeEiIMNOPrRStTuUx") : SLICE("r"))) return NULL;
    const char *name = is_flags ? "flags" : "capa";
    const char *filter = !negated ? "provided" : is_flags ? "NOT-FLAGS" : "NOT-CAPA";
    return sds_append(sds_format("ERR Unknown %s found in the %s filter: ", name, filter), value);
}

static sds parse_text(struct client_conditions *conditions, struct slice option, bool negated,
                      struct slice value) {
    for (size_t i = 0; i < OPTIONS_WITH_NOT; i++) {
        text_condition *holds = options_with_not[i].holds;
        if (!holds || !slice_is(option, options_with_not[i].name)) continue;
        *(struct slice *)((char *)conditions + options_with_not[i].wanted) = value;
        return holds == has_letters ? check_letters(option, negated, value) : NULL;
    }
    return error_text("ERR syntax error");
}

/* Options without NOT-. */
static sds parse_other(struct client_filter *filter, struct slice option, struct slice value) {
    if (slice_is(option, "maxage")) return parse_seconds(&filter->min_age_s, "maxage", value);
    if (slice_is(option, "idle")) return parse_seconds(&filter->min_idle_s, "idle", value);
    bool yes = slice_is(value, "yes");
    if (!slice_is(option, "skipme") || !(yes || slice_is(value, "no")))
        return error_text("ERR syntax error");
    filter->skip_me = yes;
    return NULL;
}

/* Parses the option at the beginning of `words`, with its value or values; *used gets the number of
 * these words. */
static sds parse_option(struct client_filter *filter, const struct slice *words, size_t count,
                        int databases, size_t *used) {
    struct slice option = words[0];
    if (count < 2) return error_text("ERR syntax error");
    bool negated = take_not(&option);
    struct client_conditions *conditions = negated ? &filter->unwanted : &filter->wanted;
    *used = 2;
    if (slice_is(option, "id")) {
        sds error = parse_ids(&conditions->ids, words + 1, count - 1, negated, used);
        ++*used;
        return error;
    }
    if (slice_is(option, "type")) return parse_type(conditions, words[1]);
    if (slice_is(option, "db")) return parse_database(conditions, negated, words[1], databases);
    if (negated || has_not(option)) return parse_text(conditions, option, negated, words[1]);
    return parse_other(filter, option, words[1]);
}

sds client_filter_parse(struct client_filter *filter, const struct slice *options, size_t count,
                        bool skip_me, int databases) {
    *filter = (struct client_filter){.skip_me = skip_me};
    for (size_t i = 0, used = 0; i < count; i += used) {
        sds error = parse_option(filter, options + i, count - i, databases, &used);
        if (error) return error;
    }
    return NULL;
}

void client_filter_end(struct client_filter *filter) {
    mem_free(filter->wanted.ids.ids);
    mem_free(filter->unwanted.ids.ids);
}

/* --- Matching --- */

/* A client that has no name, for example, has none that is the same. */
static bool is_same(struct slice wanted, struct slice fact) {
    return fact.ptr && slice_equal(wanted, fact);
}

/* Several letters are asked for together. */
static bool has_letters(struct slice wanted, struct slice fact) {
    return consists_of(wanted, fact);
}

/* "127.0.0.1:80" → 127.0.0.1, "[::1]:80" → ::1, "/path:0" → /path */
static struct slice ip_of(struct slice address) {
    size_t end = address.len;
    while (end > 0 && address.ptr[end - 1] != ':') end--;
    if (end > 0) end--;
    if (end > 1 && address.ptr[0] == '[') return slice_make(address.ptr + 1, end - 2);
    return slice_make(address.ptr, end);
}

static bool has_ip(struct slice wanted, struct slice address) {
    return slice_equal(wanted, ip_of(address));
}

static bool has_id(const struct client_ids *ids, int64_t id) {
    return bsearch(&id, ids->ids, ids->count, sizeof(id), by_number) != NULL;
}

/* Returns whether each of the conditions that are set holds (`expected`), or none of them does. */
static bool all_are(bool expected, const struct client_conditions *conditions,
                    const struct client_facts *facts) {
    if (conditions->ids.count && has_id(&conditions->ids, facts->id) != expected) return false;
    if (conditions->type != CLIENT_TYPE_ANY && (conditions->type == facts->type) != expected)
        return false;
    if (conditions->database && (conditions->database - 1 == facts->database) != expected)
        return false;
    for (size_t i = 0; i < OPTIONS_WITH_NOT; i++) {
        if (!options_with_not[i].holds) continue;
        struct slice wanted =
            *(const struct slice *)((const char *)conditions + options_with_not[i].wanted);
        struct slice fact = *(const struct slice *)((const char *)facts + options_with_not[i].fact);
        if (wanted.ptr && options_with_not[i].holds(wanted, fact) != expected) return false;
    }
    return true;
}

bool client_filter_matches(const struct client_filter *filter, const struct client_facts *facts) {
    if (filter->skip_me && facts->is_me) return false;
    if (filter->min_age_s > facts->age_s || filter->min_idle_s > facts->idle_s) return false;
    return all_are(true, &filter->wanted, facts) && all_are(false, &filter->unwanted, facts);
}
