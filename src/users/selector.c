#include "users/selector.h"

#include "base/memory/alloc.h"

#include <assert.h>

#define UNKNOWN_COMMAND        "Unknown command or category name in ACL"
#define ARGUMENT_OF_SUBCOMMAND "Allowing first-arg of a subcommand is not supported"
#define DATABASE_OUT_OF_RANGE  "The provided database ID is out of range"
#define AFTER_ALL(all, reset, list)                                                                \
    "Adding a pattern after the * pattern (or the '" all "' flag) is not valid and does not have " \
    "any effect. Try '" reset "' to start with an empty list of " list
#define TEXT_TOO_LONG "A pattern or an argument has more than 4096 bytes"

static struct slice skip(struct slice text, size_t bytes) {
    return slice_make(text.ptr + bytes, text.len - bytes);
}

bool rule_has_blank(struct slice text) {
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == 0 || rule_is_blank(text.ptr[i])) return true;
    return false;
}

/* Returns why a text cannot be a pattern or a first argument; NULL when it can. */
static const char *refused_text(struct slice text) {
    if (text.len > SELECTOR_TEXT_MAX) return TEXT_TOO_LONG;
    return rule_has_blank(text) ? RULE_SYNTAX : NULL;
}

/* --- Keys, channels and databases --- */

/* Allows all keys, or none; the same for the others. */
static void set_keys(struct selector *selector, bool all) {
    pattern_list_clear(&selector->keys);
    selector->all_keys = all;
}

static void set_channels(struct selector *selector, bool all) {
    pattern_list_clear(&selector->channels);
    selector->all_channels = all;
}

static void set_databases(struct selector *selector, bool all) {
    selector->database_count = 0;
    selector->all_databases = all;
}

static const char *add_keys(struct selector *selector, struct slice text, unsigned rights) {
    const char *refused = refused_text(text);
    if (refused) return refused;
    if (selector->keys.count >= SELECTOR_PARTS_MAX) return RULE_TOO_MANY;
    pattern_list_add(&selector->keys, text, rights);
    return NULL;
}

/* '%', the rights, each at most once, '~' and the pattern. */
static const char *add_keys_with_rights(struct selector *selector, struct slice rule) {
    unsigned rights = 0;
    size_t at = 1;
    for (; at < rule.len && rule.ptr[at] != '~'; at++) {
        char letter = ascii_lower(rule.ptr[at]);
        unsigned right = letter == 'r' ? KEYS_READ : letter == 'w' ? KEYS_WRITE : 0;
        if (right == 0 || rights & right) return RULE_SYNTAX;
        rights |= right;
    }
    if (rights == 0) return RULE_SYNTAX;
    return add_keys(selector, skip(rule, at < rule.len ? at + 1 : at), rights);
}

static const char *add_channels(struct selector *selector, struct slice text) {
    const char *refused = refused_text(text);
    if (refused) return refused;
    if (selector->all_channels) return AFTER_ALL("allchannels", "resetchannels", "channels");
    if (selector->channels.count >= SELECTOR_PARTS_MAX) return RULE_TOO_MANY;
    pattern_list_add(&selector->channels, text, 0);
    return NULL;
}

/* Returns the first one that is not below `database`. */
static size_t database_place(const struct selector *selector, int64_t database) {
    size_t low = 0, high = selector->database_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (selector->databases[middle] < database)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool selector_has_database(const struct selector *selector, int64_t database) {
    size_t place = database_place(selector, database);
    return selector->all_databases ||
           (place < selector->database_count && selector->databases[place] == database);
}

static void add_database(struct selector *selector, int32_t database) {
    size_t place = database_place(selector, database);
    if (place < selector->database_count && selector->databases[place] == database) return;
    MEM_RESERVE(selector->databases, selector->database_capacity, selector->database_count + 1);
    int32_t *at = selector->databases + place;
    memmove(at + 1, at, (selector->database_count++ - place) * sizeof(*at));
    *at = database;
}

/* Parses the decimal number at the beginning of *text, with an optional sign, and takes it off. */
static const char *parse_database(struct slice *text, int32_t *database) {
    int64_t number = 0;
    size_t at = text->len > 0 && (text->ptr[0] == '-' || text->ptr[0] == '+') ? 1 : 0, first = at;
    for (; at < text->len && text->ptr[at] >= '0' && text->ptr[at] <= '9'; at++)
        if (number <= INT32_MAX) number = number * 10 + (text->ptr[at] - '0');
    if (at == first) return RULE_SYNTAX;
    if (number > INT32_MAX || (text->ptr[0] == '-' && number > 0)) return DATABASE_OUT_OF_RANGE;
    *database = (int32_t)number;
    *text = skip(*text, at);
    return NULL;
}

/* `list` is what follows "db=". It is read twice, so that a wrong one changes nothing. */
static const char *list_databases(struct selector *selector, struct slice list) {
    for (int apply = 0; apply < 2; apply++) {
        struct slice rest = list;
        size_t count = 0;
        if (apply) set_databases(selector, false);
        for (bool more = true; more;) {
            int32_t database = 0;
            const char *error = parse_database(&rest, &database);
            if (error) return error;
            if (++count > SELECTOR_PARTS_MAX) return RULE_TOO_MANY;
            if (apply) add_database(selector, database);
            more = rest.len > 0;
            if (more && rest.ptr[0] != ',') return RULE_SYNTAX;
            if (more) rest = skip(rest, 1);
        }
    }
    return NULL;
}

/* --- Commands --- */

static void clear_rules(struct selector *selector) {
    for (size_t i = 0; i < selector->rule_count; i++) sds_free(selector->rules[i].first_argument);
    selector->rule_count = 0;
}

static void set_commands(struct selector *selector, bool all) {
    clear_rules(selector);
    memset(selector->commands, all ? 0xFF : 0, sizeof(selector->commands));
    selector->all_commands = selector->begins_with_all = all;
}

static bool is_subcommand_of(const struct command *sub, const struct command *container) {
    return !command_is_top_level(sub) &&
           slice_equal(command_own_name(sub), slice_of_cstr(container->name));
}

/* Returns whether the rule decides about all calls of the command. */
static bool concerns(const struct command_rule *rule, const struct command *command) {
    if (rule->category) return command_categories(command) & rule->category->bit;
    return command == rule->command || is_subcommand_of(command, rule->command);
}

static bool replaces(const struct command_rule *rule, const struct command_rule *older) {
    if (rule->category || older->category) return rule->category == older->category;
    if (!rule->first_argument) return concerns(rule, older->command);
    return older->command == rule->command && older->first_argument &&
           slice_equal(sds_slice(older->first_argument), sds_slice(rule->first_argument));
}

static void drop_replaced(struct selector *selector, const struct command_rule *rule) {
    size_t kept = 0;
    for (size_t i = 0; i < selector->rule_count; i++) {
        if (replaces(rule, &selector->rules[i]))
            sds_free(selector->rules[i].first_argument);
        else
            selector->rules[kept++] = selector->rules[i];
    }
    selector->rule_count = kept;
}

/* Decides about whole commands: what older rules say of their first arguments no longer counts. */
static void decide(struct selector *selector, const struct command_rule *rule) {
    size_t first = 0, count;
    const struct command *all = command_all(&count);
    if (rule->command) {
        first = command_index(rule->command);
        count = first + 1 + command_subcommand_count(rule->command);
    }
    for (size_t i = first; i < count; i++) {
        uint64_t bit = 1ull << (i % 64);
        if (!concerns(rule, &all[i])) continue;
        if (rule->allows)
            selector->commands[i / 64] |= bit;
        else
            selector->commands[i / 64] &= ~bit;
    }
    if (!rule->allows) selector->all_commands = false;
    for (size_t i = 0; i < selector->rule_count; i++) {
        struct command_rule *at = &selector->rules[i];
        if (at->first_argument && concerns(rule, at->command)) at->in_force = false;
    }
}

/* Takes over the rule and its first argument. */
static const char *add_rule(struct selector *selector, struct command_rule rule) {
    drop_replaced(selector, &rule);
    if (!rule.first_argument) decide(selector, &rule);
    MEM_RESERVE(selector->rules, selector->rule_capacity, selector->rule_count + 1);
    selector->rules[selector->rule_count++] = rule;
    return NULL;
}

static const char *apply_category(struct selector *selector, struct slice name, bool allows) {
    for (const struct named_bit *at = command_category_names; at->name; at++)
        if (slice_is(name, at->name))
            return add_rule(selector, (struct command_rule){.category = at, .allows = allows});
    return UNKNOWN_COMMAND;
}

/* Finds a command by its own name only: a rule keeps its meaning when a command is renamed. */
static const struct command *find_own(struct slice name) {
    const struct command *command = command_find_written(NULL, name);
    return command && slice_is(name, command->name) ? command : NULL;
}

static const char *allow_argument(struct selector *selector, const struct command *command,
                                  struct slice text) {
    const char *refused = text.len == 0 ? RULE_SYNTAX : refused_text(text);
    if (refused) return refused;
    if (memchr(text.ptr, '|', text.len)) return UNKNOWN_COMMAND;
    sds argument = sds_new(text);
    for (size_t i = 0; i < text.len; i++) argument[i] = ascii_lower(argument[i]);
    return add_rule(selector, (struct command_rule){.command = command,
                                                    .first_argument = argument,
                                                    .allows = true,
                                                    .in_force = true});
}

/* `name` is "cmd", "cmd|sub" or "cmd|argument". */
static const char *apply_command(struct selector *selector, struct slice name, bool allows) {
    const char *bar = name.len > 0 ? memchr(name.ptr, '|', name.len) : NULL;
    size_t len = bar ? (size_t)(bar - name.ptr) : name.len;
    const struct command *command = len > 0 ? find_own(slice_make(name.ptr, len)) : NULL;
    if (!command) return UNKNOWN_COMMAND;
    if (bar) {
        struct slice rest = skip(name, len + 1);
        if (rest.len == 0 && allows) return RULE_SYNTAX;
        if (!(command->flags & COMMAND_CONTAINER))
            return allows ? allow_argument(selector, command, rest) : UNKNOWN_COMMAND;
        const char *second = rest.len > 0 ? memchr(rest.ptr, '|', rest.len) : NULL;
        if (second) rest.len = (size_t)(second - rest.ptr);
        command = command_find_subcommand(command, rest);
        if (!command) return UNKNOWN_COMMAND;
        if (second) return allows ? ARGUMENT_OF_SUBCOMMAND : UNKNOWN_COMMAND;
    }
    return add_rule(selector, (struct command_rule){.command = command, .allows = allows});
}

static const char *apply_to_commands(struct selector *selector, struct slice rule) {
    bool allows = rule.ptr[0] == '+';
    if (selector->rule_count >= SELECTOR_PARTS_MAX) return RULE_TOO_MANY;
    if (rule.len > 1 && rule.ptr[1] == '@') return apply_category(selector, skip(rule, 2), allows);
    return apply_command(selector, skip(rule, 1), allows);
}

static bool allows_argument(const struct command_rule *rule, const struct command *command,
                            const struct slice *argv, size_t argc) {
    return rule->first_argument && rule->in_force && rule->command == command && argc > 1 &&
           slice_equal_nocase(argv[1], sds_slice(rule->first_argument));
}

bool selector_has_command(const struct selector *selector, const struct command *command,
                          const struct slice *argv, size_t argc) {
    size_t index = command_index(command);
    if (selector->commands[index / 64] >> (index % 64) & 1) return true;
    for (size_t i = 0; i < selector->rule_count; i++)
        if (allows_argument(&selector->rules[i], command, argv, argc)) return true;
    return false;
}

/* --- All --- */

void selector_init(struct selector *selector, bool all_channels) {
    *selector = (struct selector){.all_channels = all_channels, .all_databases = true};
}

void selector_copy(struct selector *to, const struct selector *from) {
    *to = *from;
    pattern_list_copy(&to->keys, &from->keys);
    pattern_list_copy(&to->channels, &from->channels);
    size_t rules_size = from->rule_count * sizeof(*to->rules);
    size_t databases_size = from->database_count * sizeof(*to->databases);
    to->rules = from->rule_count ? mem_alloc(rules_size) : NULL;
    to->databases = from->database_count ? mem_alloc(databases_size) : NULL;
    to->rule_capacity = from->rule_count;
    to->database_capacity = from->database_count;
    if (to->rules) memcpy(to->rules, from->rules, rules_size);
    if (to->databases) memcpy(to->databases, from->databases, databases_size);
    for (size_t i = 0; i < to->rule_count; i++) {
        sds argument = to->rules[i].first_argument;
        if (argument) to->rules[i].first_argument = sds_new(sds_slice(argument));
    }
}

static bool is_same_rule(const struct command_rule *a, const struct command_rule *b) {
    if (a->command != b->command || a->category != b->category || a->allows != b->allows)
        return false;
    if (!a->first_argument || !b->first_argument) return a->first_argument == b->first_argument;
    return slice_equal(sds_slice(a->first_argument), sds_slice(b->first_argument));
}

bool selector_is_same(const struct selector *a, const struct selector *b) {
    if (a->all_keys != b->all_keys || a->all_channels != b->all_channels ||
        a->all_databases != b->all_databases || a->begins_with_all != b->begins_with_all ||
        a->rule_count != b->rule_count || a->database_count != b->database_count)
        return false;
    for (size_t i = 0; i < a->database_count; i++)
        if (a->databases[i] != b->databases[i]) return false;
    for (size_t i = 0; i < a->rule_count; i++)
        if (!is_same_rule(&a->rules[i], &b->rules[i])) return false;
    return pattern_list_is_same(&a->keys, &b->keys) &&
           pattern_list_is_same(&a->channels, &b->channels);
}

void selector_free(struct selector *selector) {
    clear_rules(selector);
    mem_free(selector->rules);
    mem_free(selector->databases);
    pattern_list_clear(&selector->keys);
    pattern_list_clear(&selector->channels);
}

const char *selector_apply(struct selector *selector, struct slice rule) {
    static const struct {
        const char *word;
        void (*set)(struct selector *selector, bool all);
        bool all;
    } words[] = {
        {"allkeys", set_keys, true},         {"~*", set_keys, true},
        {"resetkeys", set_keys, false},      {"allchannels", set_channels, true},
        {"&*", set_channels, true},          {"resetchannels", set_channels, false},
        {"alldbs", set_databases, true},     {"resetdbs", set_databases, false},
        {"allcommands", set_commands, true}, {"+@all", set_commands, true},
        {"nocommands", set_commands, false}, {"-@all", set_commands, false},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!slice_is(rule, words[i].word)) continue;
        words[i].set(selector, words[i].all);
        return NULL;
    }
    switch (rule.len > 0 ? rule.ptr[0] : 0) {
    case '~':
    case '%':
        if (selector->all_keys) return AFTER_ALL("allkeys", "resetkeys", "patterns");
        return rule.ptr[0] == '~' ? add_keys(selector, skip(rule, 1), KEYS_BOTH)
                                  : add_keys_with_rights(selector, rule);
    case '&': return add_channels(selector, skip(rule, 1));
    case '+':
    case '-': return apply_to_commands(selector, rule);
    default: break;
    }
    if (rule.len > 3 && slice_is(slice_make(rule.ptr, 3), "db="))
        return list_databases(selector, skip(rule, 3));
    return RULE_SYNTAX;
}

/* --- Text --- */

static sds append_word(sds out, bool *first) {
    if (!*first) out = sds_append(out, SLICE(" "));
    *first = false;
    return out;
}

/* Returns whether the pattern's shown text is read as allkeys, after which no pattern may come. */
static bool looks_like_all_keys(const struct pattern *pattern) {
    return pattern->rights == KEYS_BOTH && slice_equal(sds_slice(pattern->text), SLICE("*"));
}

static sds append_keys(sds out, const struct selector *selector, enum rules_form form) {
    static const char *const marks[] = {"", "%R~", "%W~", "~"};
    bool first = true;
    if (selector->all_keys) return sds_append(out, SLICE("~*"));
    for (size_t i = 0; i < selector->keys.count; i++) {
        const struct pattern *pattern = &selector->keys.items[i];
        bool with_rights = form == RULES_STORED && looks_like_all_keys(pattern);
        out = sds_append_cstr(append_word(out, &first),
                              with_rights ? "%RW~" : marks[pattern->rights]);
        out = sds_append(out, sds_slice(pattern->text));
    }
    return out;
}

sds selector_append_keys(sds out, const struct selector *selector) {
    return append_keys(out, selector, RULES_SHOWN);
}

sds selector_append_channels(sds out, const struct selector *selector) {
    bool first = true;
    if (selector->all_channels) return sds_append(out, SLICE("&*"));
    for (size_t i = 0; i < selector->channels.count; i++) {
        out = sds_append(append_word(out, &first), SLICE("&"));
        out = sds_append(out, sds_slice(selector->channels.items[i].text));
    }
    return out;
}

sds selector_append_databases(sds out, const struct selector *selector) {
    if (selector->all_databases) return sds_append(out, SLICE("alldbs"));
    for (size_t i = 0; i < selector->database_count; i++)
        out = sds_append_format(out, "%s%d", i == 0 ? "db=" : ",", (int)selector->databases[i]);
    return out;
}

sds selector_append_commands(sds out, const struct selector *selector) {
    out = sds_append_cstr(out, selector->begins_with_all ? "+@all" : "-@all");
    for (size_t i = 0; i < selector->rule_count; i++) {
        const struct command_rule *rule = &selector->rules[i];
        out = sds_append_cstr(out, rule->allows ? " +" : " -");
        out = rule->category ? sds_append_cstr(sds_append(out, SLICE("@")), rule->category->name)
                             : sds_append_cstr(out, rule->command->name);
        if (rule->first_argument)
            out = sds_append(sds_append(out, SLICE("|")), sds_slice(rule->first_argument));
    }
    return out;
}

sds selector_append(sds out, const struct selector *selector, enum rules_form form) {
    if (selector->all_keys || selector->keys.count > 0)
        out = sds_append(append_keys(out, selector, form), SLICE(" "));
    if (!selector->all_channels) out = sds_append(out, SLICE("resetchannels "));
    if (selector->all_channels || selector->channels.count > 0)
        out = sds_append(selector_append_channels(out, selector), SLICE(" "));
    if (!selector->all_databases) {
        if (selector->database_count == 0) out = sds_append(out, SLICE("resetdbs"));
        out = sds_append(selector_append_databases(out, selector), SLICE(" "));
    }
    return selector_append_commands(out, selector);
}
