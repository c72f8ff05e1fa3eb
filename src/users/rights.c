#include "users/rights.h"

#include "base/memory/alloc.h"
#include "table/secret.h"

#define NO_SUCH_PASSWORD "The password you are trying to remove from the user does not exist"
#define WRONG_HASH                                                                                 \
    "The password hash must be exactly 64 characters and contain only lowercase hexadecimal "      \
    "characters"
#define UNMATCHED "Unmatched parenthesis in acl selector"

/* The most bytes of a rule that an error shows. */
enum { SHOWN_MAX = 256 };

/* --- Passwords --- */

static void forget_passwords(struct rights *rights) {
    rights->password_count = 0;
    rights->no_password = false;
}

static void allow_any_password(struct rights *rights) {
    forget_passwords(rights);
    rights->no_password = true;
}

/* Returns the index of the password, or the number of passwords. */
static size_t find_password(const struct rights *rights, const struct password *password) {
    size_t i = 0;
    while (i < rights->password_count &&
           memcmp(&rights->passwords[i], password, sizeof(*password)) != 0)
        i++;
    return i;
}

static const char *add_password(struct rights *rights, const struct password *password) {
    if (find_password(rights, password) == rights->password_count) {
        if (rights->password_count >= RIGHTS_PARTS_MAX) return RULE_TOO_MANY;
        MEM_RESERVE(rights->passwords, rights->password_capacity, rights->password_count + 1);
        rights->passwords[rights->password_count++] = *password;
    }
    rights->no_password = false;
    return NULL;
}

static const char *remove_password(struct rights *rights, const struct password *password) {
    size_t i = find_password(rights, password);
    if (i == rights->password_count) return NO_SUCH_PASSWORD;
    struct password *at = &rights->passwords[i];
    memmove(at, at + 1, (--rights->password_count - i) * sizeof(*at));
    return NULL;
}

/* The rule is a mark and a password or its hash. */
static const char *apply_password(struct rights *rights, struct slice rule) {
    struct password password;
    struct slice text = slice_make(rule.ptr + 1, rule.len - 1);
    char mark = rule.ptr[0];
    if (mark == '>' || mark == '<')
        sha256(password.digest, text);
    else if (!sha256_parse_hex(password.digest, text))
        return WRONG_HASH;
    return mark == '>' || mark == '#' ? add_password(rights, &password)
                                      : remove_password(rights, &password);
}

bool rights_accept(const struct rights *rights, struct slice password) {
    uint8_t digest[SHA256_SIZE];
    bool found = rights->no_password;
    sha256(digest, password);
    for (size_t i = 0; i < rights->password_count; i++)
        found |= sha256_equal(digest, rights->passwords[i].digest);
    return found && rights->enabled;
}

/* --- Selectors --- */

static void append_selector(struct rights *rights, struct selector selector) {
    MEM_RESERVE(rights->selectors, rights->selector_capacity, rights->selector_count + 1);
    rights->selectors[rights->selector_count++] = selector;
}

static void clear_selectors(struct rights *rights) {
    while (rights->selector_count > 1) selector_free(&rights->selectors[--rights->selector_count]);
}

/* Returns the first word of *text, and takes it off; an empty one when there is none. */
static struct slice take_word(struct slice *text) {
    const char *at = text->ptr, *end = slice_end(*text);
    while (at < end && rule_is_blank(*at)) at++;
    const char *word = at;
    while (at < end && !rule_is_blank(*at)) at++;
    *text = slice_make(at, (size_t)(end - at));
    return slice_make(word, (size_t)(at - word));
}

static const char *fill_selector(struct selector *selector, struct slice rules) {
    for (;;) {
        struct slice rule = take_word(&rules);
        if (rule.len == 0) return NULL;
        if (rule.ptr[0] == '(' || rule.ptr[rule.len - 1] == ')') return RULE_SYNTAX;
        const char *error = selector_apply(selector, rule);
        if (error) return error;
    }
}

/* `rule` is in parentheses. */
static const char *add_selector(struct rights *rights, bool all_channels, struct slice rule) {
    struct selector selector;
    if (rights->selector_count >= RIGHTS_PARTS_MAX) return RULE_TOO_MANY;
    selector_init(&selector, all_channels);
    const char *error = fill_selector(&selector, slice_make(rule.ptr + 1, rule.len - 2));
    if (error)
        selector_free(&selector);
    else
        append_selector(rights, selector);
    return error;
}

/* --- Rules --- */

static void reset(struct rights *rights, bool all_channels) {
    forget_passwords(rights);
    clear_selectors(rights);
    selector_free(&rights->selectors[0]);
    selector_init(&rights->selectors[0], all_channels);
    rights->enabled = false;
}

static const char *apply(struct rights *rights, bool all_channels, struct slice rule) {
    if (rule.len == 0) return NULL;
    if (memchr("><#!", rule.ptr[0], 4)) return apply_password(rights, rule);
    if (rule.ptr[0] == '(') return add_selector(rights, all_channels, rule);
    if (slice_is(rule, "on"))
        rights->enabled = true;
    else if (slice_is(rule, "off"))
        rights->enabled = false;
    else if (slice_is(rule, "nopass"))
        allow_any_password(rights);
    else if (slice_is(rule, "resetpass"))
        forget_passwords(rights);
    else if (slice_is(rule, "clearselectors"))
        clear_selectors(rights);
    else if (slice_is(rule, "reset"))
        reset(rights, all_channels);
    else if (!slice_is(rule, "sanitize-payload") && !slice_is(rule, "skip-sanitize-payload"))
        return selector_apply(&rights->selectors[0], rule);
    return NULL;
}

/* Returns the rule without passwords, and cut. What should be a hash may be a password, too. */
static sds shown(struct slice rule) {
    for (size_t i = 0; i < rule.len && i < SHOWN_MAX; i++) {
        bool begins = i == 0 || rule.ptr[i - 1] == '(' || rule_is_blank(rule.ptr[i - 1]);
        if (!begins || !memchr("><#!", rule.ptr[i], 4)) continue;
        return sds_append_cstr(sds_new(slice_make(rule.ptr, i + 1)), SECRET_SHOWN);
    }
    if (rule.len <= SHOWN_MAX) return sds_new(rule);
    return sds_append_cstr(sds_new(slice_make(rule.ptr, SHOWN_MAX)), "...");
}

/* Returns the index of the argument that ends the selector which begins in argv[at]; argc when none
 * does. */
static size_t selector_end(const struct slice *argv, size_t argc, size_t at) {
    while (at < argc && (argv[at].len == 0 || argv[at].ptr[argv[at].len - 1] != ')')) at++;
    return at;
}

static bool begins_selector(struct slice rule) {
    return rule.len > 0 && rule.ptr[0] == '(';
}

/* Returns the index of the first selector that does not end; argc when all do. O(argc). */
static size_t find_unmatched(const struct slice *argv, size_t argc) {
    for (size_t i = 0; i < argc; i++) {
        size_t end = begins_selector(argv[i]) ? selector_end(argv, argc, i) : i;
        if (end == argc) return i;
        i = end;
    }
    return argc;
}

/* Applies the rule at argv[*at]; a selector's arguments, to the last of which *at moves, are joined
 * first. */
static bool apply_next(struct rights *rights, bool all_channels, const struct slice *argv,
                       size_t argc, size_t *at, struct rule_error *error) {
    sds rule = sds_new(argv[*at]);
    size_t end = begins_selector(argv[*at]) ? selector_end(argv, argc, *at) : *at;
    while (*at < end) {
        rule = secret_reserve(rule, 1 + argv[++*at].len); /* it may hold a password */
        rule = sds_append(sds_append(rule, SLICE(" ")), argv[*at]);
    }
    const char *why = apply(rights, all_channels, sds_slice(rule));
    if (why) *error = (struct rule_error){shown(sds_slice(rule)), why, false};
    secret_free(rule);
    return !why;
}

static bool allow_everything(const struct rights *rights) {
    for (size_t i = 0; i < rights->selector_count; i++)
        if (selector_is_unrestricted(&rights->selectors[i])) return true;
    return false;
}

bool rights_apply(struct rights *rights, bool all_channels, const struct slice *argv, size_t argc,
                  size_t *at, struct rule_error *error) {
    bool done = true;
    size_t unmatched = *at == 0 ? find_unmatched(argv, argc) : argc;
    if (unmatched < argc) {
        *error = (struct rule_error){shown(argv[unmatched]), UNMATCHED, true};
        *at = argc;
        return false;
    }
    for (; done && *at < argc; ++*at)
        done = apply_next(rights, all_channels, argv, argc, at, error);
    rights->unrestricted = allow_everything(rights);
    return done;
}

sds rule_error_text(const struct rule_error *error) {
    sds text = sds_new(SLICE(""));
    if (!error->rule) return sds_append_cstr(text, error->why);
    text = sds_append_cstr(text, error->unmatched ? UNMATCHED " starting at '"
                                                  : "Error in ACL SETUSER modifier '");
    text = sds_append(text, sds_slice(error->rule));
    if (error->unmatched) return sds_append(text, SLICE("'."));
    return sds_append_cstr(sds_append(text, SLICE("': ")), error->why);
}

/* --- All --- */

struct rights *rights_new(bool all_channels) {
    struct rights *rights = mem_alloc_zeroed(sizeof(*rights));
    struct selector root;
    selector_init(&root, all_channels);
    append_selector(rights, root);
    return rights;
}

struct rights *rights_copy(const struct rights *from) {
    struct rights *to = mem_alloc(sizeof(*to));
    *to = *from;
    to->passwords = NULL;
    to->selectors = NULL;
    to->password_count = to->password_capacity = to->selector_count = to->selector_capacity = 0;
    for (size_t i = 0; i < from->selector_count; i++) {
        struct selector copy;
        selector_copy(&copy, &from->selectors[i]);
        append_selector(to, copy);
    }
    if (from->password_count == 0) return to;
    size_t size = from->password_count * sizeof(*to->passwords);
    to->passwords = mem_alloc(size);
    to->password_count = to->password_capacity = from->password_count;
    memcpy(to->passwords, from->passwords, size);
    return to;
}

bool rights_are_same(const struct rights *a, const struct rights *b) {
    if (a->enabled != b->enabled || a->no_password != b->no_password ||
        a->password_count != b->password_count || a->selector_count != b->selector_count)
        return false;
    for (size_t i = 0; i < a->password_count; i++)
        if (memcmp(&a->passwords[i], &b->passwords[i], sizeof(a->passwords[i])) != 0) return false;
    for (size_t i = 0; i < a->selector_count; i++)
        if (!selector_is_same(&a->selectors[i], &b->selectors[i])) return false;
    return true;
}

void rights_free(struct rights *rights) {
    if (!rights) return;
    for (size_t i = 0; i < rights->selector_count; i++) selector_free(&rights->selectors[i]);
    mem_free(rights->selectors);
    mem_free(rights->passwords);
    mem_free(rights);
}

sds rights_append(sds out, const struct rights *rights, enum rules_form form) {
    out = sds_append_cstr(out, rights->enabled ? "on" : "off");
    if (rights->no_password) out = sds_append(out, SLICE(" nopass"));
    for (size_t i = 0; i < rights->password_count; i++)
        out = sha256_append_hex(sds_append(out, SLICE(" #")), rights->passwords[i].digest);
    for (size_t i = 0; i < rights->selector_count; i++) {
        out = sds_append_cstr(out, i == 0 ? " " : " (");
        out = selector_append(out, &rights->selectors[i], form);
        if (i > 0) out = sds_append(out, SLICE(")"));
    }
    return out;
}
