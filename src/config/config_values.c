/* config_values: converts between values and texts. Only config_set knows how each kind of
 * directive is parsed, and only config_append_value how it is written. */
#include "config/config.h"

#include "base/memory/alloc.h"
#include "base/text/cpu_list.h"
#include "base/text/number.h"
#include "base/text/secret.h"
#include "config/config_table.h"
#include "config/node_names.h"
#include "config/notify.h"
#include "config/title_template.h"

#include <stdarg.h>
#include <stdio.h>

enum { ADDRESSES_MAX = 16, WORDS_MAX = 64 };

static void *place_of(const struct config *config, const struct config_directive *directive) {
    return (char *)config + directive->offset;
}

static sds *string_at(const struct config *config, const struct config_directive *directive) {
    return place_of(config, directive);
}

static bool is_string(const struct config_directive *directive) {
    return directive->kind >= CONFIG_STRING && directive->kind <= CONFIG_RENAMES;
}

/* --- From text to value --- */

__attribute__((format(printf, 2, 3))) static bool refuse(sds *error, const char *format, ...) {
    va_list args;
    va_start(args, format);
    *error = sds_append_vformat(sds_new(SLICE("")), format, args);
    va_end(args);
    return false;
}

static bool parse_bool(bool *place, struct slice text, sds *error) {
    if (slice_is(text, "yes"))
        *place = true;
    else if (slice_is(text, "no"))
        *place = false;
    else
        return refuse(error, "argument must be 'yes' or 'no'");
    return true;
}

/* Stores a number if it is within its limits. */
static bool set_number(struct config *config, const struct config_directive *directive,
                       int64_t value, sds *error) {
    bool clamped = directive->flags & CONFIG_CLAMPED;
    int64_t min = clamped ? 0 : directive->min, max = clamped ? INT32_MAX : directive->max;
    if (value < min || value > max)
        return refuse(error,
                      directive->kind == CONFIG_OCTAL
                          ? "argument must be between %llo and %llo inclusive"
                          : "argument must be between %lld and %lld inclusive",
                      (long long)min, (long long)max);
    if (clamped && value < directive->min) value = directive->min;
    if (clamped && value > directive->max) value = directive->max;
    *(int64_t *)place_of(config, directive) = value;
    return true;
}

static bool parse_octal(struct slice text, int64_t *value) {
    if (text.len == 0 || text.len > 20) return false;
    *value = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '7') return false;
        *value = *value * 8 + (text.ptr[i] - '0');
    }
    return true;
}

static bool is_percent(const struct config_directive *directive, struct slice text) {
    return directive->flags & CONFIG_PERCENT && text.len > 0 && text.ptr[text.len - 1] == '%';
}

static bool parse_number(struct config *config, const struct config_directive *directive,
                         struct slice text, sds *error) {
    int64_t value;
    if (directive->kind == CONFIG_OCTAL) {
        if (!parse_octal(text, &value))
            return refuse(error, "argument couldn't be parsed as an octal number");
    } else if (is_percent(directive, text)) {
        text.len--;
        if (!number_parse_int64(text, &value) || value < 0)
            return refuse(error, "argument must be a memory or percent value");
        if (value > 100) return refuse(error, "percentage argument must be less or equal to 100");
        value = -value;
    } else if (directive->kind == CONFIG_MEMORY) {
        uint64_t bytes;
        if (directive->min == -1 && slice_equal(text, SLICE("-1")))
            bytes = UINT64_MAX;
        else if (!number_parse_memory(text, &bytes))
            return refuse(error, directive->flags & CONFIG_PERCENT
                                     ? "argument must be a memory or percent value"
                                     : "argument must be a memory value");
        if (directive->flags & CONFIG_UNSIGNED) {
            *(uint64_t *)place_of(config, directive) = bytes;
            return true;
        }
        bool is_minus_one = directive->min == -1 && bytes == UINT64_MAX;
        value = is_minus_one ? -1 : bytes > INT64_MAX ? INT64_MIN : (int64_t)bytes;
    } else if (!number_parse_int64(text, &value)) {
        return refuse(error, "argument couldn't be parsed into an integer");
    }
    return set_number(config, directive, value, error);
}

static bool parse_enum(int64_t *place, const struct config_choice *choices, struct slice text,
                       sds *error) {
    for (const struct config_choice *choice = choices; choice->name; choice++) {
        if (!slice_is(text, choice->name)) continue;
        *place = choice->value;
        return true;
    }
    refuse(error, "argument(s) must be one of the following: ");
    for (const struct config_choice *choice = choices; choice->name; choice++)
        *error = sds_append_format(*error, choice == choices ? "%s" : ", %s", choice->name);
    return false;
}

/* Parses the union of several choices. */
static bool parse_options(int64_t *place, const struct config_choice *choices,
                          const struct slice *words, size_t count, sds *error) {
    int64_t options = 0, option = 0;
    if (count == 0) return parse_enum(&option, choices, SLICE(""), error);
    for (size_t i = 0; i < count; i++) {
        if (!parse_enum(&option, choices, words[i], error)) return false;
        options |= option;
    }
    *place = options;
    return true;
}

static bool parse_shutdown(int64_t *place, const struct config_choice *choices,
                           const struct slice *words, size_t count, sds *error) {
    int64_t options;
    if (!parse_options(&options, choices, words, count, error)) return false;
    if (options & SHUTDOWN_SAVE && options & SHUTDOWN_NOSAVE)
        return refuse(error, "shutdown options SAVE and NOSAVE can't be used simultaneously");
    *place = options;
    return true;
}

static bool parse_events(int64_t *place, struct slice text, sds *error) {
    uint32_t flags;
    if (!notify_parse(text, &flags))
        return refuse(error, "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.");
    *place = flags;
    return true;
}

/* Texts may be passwords, and each CONFIG SET copies and frees all: none stays behind. */
static void set_string(sds *place, struct slice text) {
    secret_free(*place);
    *place = sds_new(text);
}

static bool parse_filename(sds *place, const char *directive, struct slice text, sds *error) {
    bool is_folder = strcmp(directive, "appenddirname") == 0;
    if (text.len == 0 && strcmp(directive, "dbfilename") != 0)
        return refuse(error, "%s can't be empty", directive);
    if (memchr(text.ptr, '/', text.len))
        return refuse(error, "%s can't be a path, just a %s", directive,
                      is_folder ? "dirname" : "filename");
    set_string(place, text);
    return true;
}

static void free_addresses(struct config *config) {
    for (size_t i = 0; i < config->bind_count; i++) sds_free(config->bind[i]);
    mem_free(config->bind);
}

static bool parse_addresses(struct config *config, const struct slice *words, size_t count,
                            sds *error) {
    if (count > ADDRESSES_MAX) return refuse(error, "Too many bind addresses specified.");
    free_addresses(config);
    config->bind = mem_alloc(count * sizeof(*config->bind));
    config->bind_count = count;
    for (size_t i = 0; i < count; i++) config->bind[i] = sds_new(words[i]);
    return true;
}

static int parse_client_class(struct slice name) {
    if (slice_is(name, "normal")) return CLIENT_CLASS_NORMAL;
    if (slice_is(name, "slave") || slice_is(name, "replica")) return CLIENT_CLASS_REPLICA;
    if (slice_is(name, "pubsub")) return CLIENT_CLASS_PUBSUB;
    return -1;
}

/* Classes that are not named keep their limits. */
static bool parse_output_limits(struct config *config, const struct slice *words, size_t count,
                                sds *error) {
    struct output_limit limits[CLIENT_CLASS_COUNT];
    memcpy(limits, config->output_limits, sizeof(limits));
    if (count % 4 != 0)
        return refuse(error, "Wrong number of arguments in buffer limit configuration.");
    for (size_t i = 0; i < count; i += 4) {
        int class = parse_client_class(words[i]);
        if (class < 0)
            return refuse(error, "Invalid client class specified in buffer limit configuration.");
        struct output_limit *limit = &limits[class];
        if (!number_parse_memory(words[i + 1], &limit->hard_bytes) ||
            !number_parse_memory(words[i + 2], &limit->soft_bytes) ||
            !number_parse_int64(words[i + 3], &limit->soft_seconds) || limit->soft_seconds < 0)
            return refuse(error, "Error in hard, soft or soft_seconds setting in buffer limit "
                                 "configuration.");
    }
    memcpy(config->output_limits, limits, sizeof(limits));
    return true;
}

static sds join_words(const struct slice *words, size_t count) {
    sds text = sds_new(SLICE(""));
    for (size_t i = 0; i < count; i++) {
        if (i > 0) text = sds_append_cstr(text, " ");
        text = sds_append(text, words[i]);
    }
    return text;
}

static bool parse_save_points(sds *place, const struct slice *words, size_t count, sds *error) {
    bool valid = count % 2 == 0;
    for (size_t i = 0; i < count && valid; i++) {
        int64_t number;
        valid = number_parse_int64(words[i], &number) && number >= (i % 2 == 0);
    }
    if (!valid) return refuse(error, "Invalid save parameters");
    sds_free(*place);
    *place = join_words(words, count);
    return true;
}

/* NO ONE and nothing at all mean that there is no other server. */
static bool parse_host_port(sds *place, const struct slice *words, size_t count, sds *error) {
    int64_t port;
    bool none = count == 0 || (count == 1 && words[0].len == 0) ||
                (count == 2 && slice_is(words[0], "no") && slice_is(words[1], "one"));
    if (!none && count != 2) return refuse(error, "wrong number of arguments");
    if (!none && (!number_parse_int64(words[1], &port) || port < 0 || port > UINT16_MAX))
        return refuse(error, "Invalid master port");
    set_string(place, none ? SLICE("") : words[0]);
    if (!none) *place = sds_append_format(*place, " %d", (int)port);
    return true;
}

/* Appends a number with at most six decimal places. */
static sds append_percentile(sds out, double percent) {
    char text[32];
    size_t len = (size_t)snprintf(text, sizeof(text), "%f", percent);
    while (text[len - 1] == '0') len--;
    if (text[len - 1] == '.') len--;
    return sds_append(out, slice_make(text, len));
}

static bool parse_percentiles(sds *place, const struct slice *words, size_t count, sds *error) {
    sds out = sds_new(SLICE(""));
    for (size_t i = 0; i < count; i++) {
        double percent;
        bool is_number = number_parse_double(words[i], &percent);
        if (!is_number || !(percent >= 0 && percent <= 100)) {
            sds_free(out);
            return refuse(error, is_number ? "latency-tracking-info-percentiles parameters should "
                                             "sit between [0.0,100.0]"
                                           : "Invalid latency-tracking-info-percentiles "
                                             "parameters");
        }
        if (i > 0) out = sds_append_cstr(out, " ");
        out = append_percentile(out, percent);
    }
    sds_free(*place);
    *place = out;
    return true;
}

static bool parse_oom_scores(int64_t *place, const struct slice *words, size_t count, sds *error) {
    enum { SCORE_MAX = 2000 };
    int64_t scores[OOM_SCORES];
    if (count != OOM_SCORES) return refuse(error, "wrong number of arguments");
    for (size_t i = 0; i < count; i++)
        if (!number_parse_int64(words[i], &scores[i]) || scores[i] < -SCORE_MAX ||
            scores[i] > SCORE_MAX)
            return refuse(error,
                          "Invalid oom-score-adj-values, elements must be between %d and %d.",
                          -SCORE_MAX, SCORE_MAX);
    memcpy(place, scores, sizeof(scores));
    return true;
}

static bool parse_title(sds *place, struct slice text, sds *error) {
    if (!title_template_is_valid(text))
        return refuse(error, "template format is invalid or contains unknown variables");
    set_string(place, text);
    return true;
}

static bool parse_cpu_list(sds *place, struct slice text, sds *error) {
    bool is_in[CPU_LIST_MAX];
    if (!cpu_list_parse(text, is_in))
        return refuse(error, "must be a list of processors, such as 0,2-5,8-15:2");
    set_string(place, text);
    return true;
}

static bool parse_node_name(sds *place, const struct node_name_rule *rule, struct slice text,
                            sds *error) {
    const char *problem = node_name_problem(text, rule);
    if (problem) return refuse(error, "%s", problem);
    set_string(place, text);
    return true;
}

/* Returns whether two texts mean the same, as 1mb and 1048576. */
static bool same_text(struct slice a, struct slice b) {
    uint64_t left, right;
    if (number_parse_memory(a, &left) && number_parse_memory(b, &right)) return left == right;
    return slice_equal_nocase(a, b);
}

/* Stores nothing: checks that the value is the only one allowed. */
static bool check_fixed(const struct config_directive *directive, const struct slice *words,
                        size_t count, sds *error) {
    sds given = join_words(words, count);
    bool same = same_text(sds_slice(given), slice_of_cstr(directive->default_text));
    sds_free(given);
    return same || refuse(error, "%s", (const char *)directive->detail);
}

const char *config_why_ignored(const struct config_directive *directive, struct slice value) {
    const unsigned refused = CONFIG_IMMUTABLE | CONFIG_PROTECTS;
    if (directive->kind != CONFIG_FIXED || directive->flags & refused) return NULL;
    return same_text(value, slice_of_cstr(directive->default_text)) ? NULL : directive->detail;
}

/* Lines add up. Which names there are is not known here: the start applies the lines. */
static bool add_rename(sds *renames, const struct slice *words, size_t count, sds *error) {
    if (!*renames) *renames = sds_new(SLICE(""));
    if (count == 0) return true; /* the default */
    if (count != 2) return refuse(error, "wrong number of arguments");
    *renames = sds_append_quoted(sds_append_cstr(*renames, " "), words[0]);
    *renames = sds_append_quoted(sds_append_cstr(*renames, " "), words[1]);
    return true;
}

static bool parse_words(struct config *config, const struct config_directive *directive,
                        const struct slice *words, size_t count, sds *error) {
    void *place = place_of(config, directive);
    switch (directive->kind) {
    case CONFIG_FIXED: return check_fixed(directive, words, count, error);
    case CONFIG_OOM_SCORES: return parse_oom_scores(place, words, count, error);
    case CONFIG_USER: return true; /* config_load keeps the line */
    case CONFIG_RENAMES: return add_rename(place, words, count, error);
    case CONFIG_ADDRESSES: return parse_addresses(config, words, count, error);
    case CONFIG_OUTPUT_LIMITS: return parse_output_limits(config, words, count, error);
    case CONFIG_PERCENTILES: return parse_percentiles(place, words, count, error);
    case CONFIG_HOST_PORT: return parse_host_port(place, words, count, error);
    case CONFIG_OPTIONS: return parse_options(place, directive->detail, words, count, error);
    case CONFIG_SHUTDOWN: return parse_shutdown(place, directive->detail, words, count, error);
    default: return parse_save_points(place, words, count, error);
    }
}

/* Splits an argument into words at blanks. Returns their number; words after WORDS_MAX are not
 * stored. */
static size_t split_words(struct slice text, struct slice words[WORDS_MAX]) {
    size_t count = 0;
    while (text.len > 0) {
        struct slice word = slice_take_until(&text, ' ');
        if (word.len > 0 && count++ < WORDS_MAX) words[count - 1] = word;
    }
    return count;
}

bool config_set(struct config *config, const struct config_directive *directive,
                const struct slice *values, size_t count, sds *error) {
    if (directive->kind >= CONFIG_SAVE_POINTS) {
        struct slice words[WORDS_MAX];
        if (count != 1) return parse_words(config, directive, values, count, error);
        count = split_words(values[0], words);
        if (count > WORDS_MAX) return refuse(error, "wrong number of arguments");
        return parse_words(config, directive, words, count, error);
    }
    void *place = place_of(config, directive);
    if (count != 1) return refuse(error, "wrong number of arguments");
    switch (directive->kind) {
    case CONFIG_BOOL: return parse_bool(place, values[0], error);
    case CONFIG_ENUM: return parse_enum(place, directive->detail, values[0], error);
    case CONFIG_STRING: set_string(place, values[0]); return true;
    case CONFIG_FILENAME: return parse_filename(place, directive->name, values[0], error);
    case CONFIG_TITLE: return parse_title(place, values[0], error);
    case CONFIG_CPU_LIST: return parse_cpu_list(place, values[0], error);
    case CONFIG_NODE_NAME: return parse_node_name(place, directive->detail, values[0], error);
    case CONFIG_EVENTS: return parse_events(place, values[0], error);
    default: return parse_number(config, directive, values[0], error);
    }
}

bool config_set_line(struct config *config, const struct config_directive *directive,
                     const struct slice *values, size_t count, bool again, sds *error) {
    if (directive->kind != CONFIG_SAVE_POINTS || !again)
        return config_set(config, directive, values, count, error);
    sds *place = string_at(config, directive);
    sds before = sds_new(sds_slice(*place));
    bool done = config_set(config, directive, values, count, error);
    if (done && sds_len(before) > 0 && sds_len(*place) > 0) {
        before = sds_append(sds_append_cstr(before, " "), sds_slice(*place));
        set_string(place, sds_slice(before));
    }
    sds_free(before);
    return done;
}

/* --- From value to text --- */

static const char *choice_name(const struct config_choice *choices, int64_t value) {
    while (choices->name && choices->value != value) choices++;
    return choices->name;
}

static sds append_output_limits(const struct output_limit *limits, sds out) {
    static const char *const names[] = {"normal", " slave", " pubsub"};
    for (int i = 0; i < CLIENT_CLASS_COUNT; i++)
        out = sds_append_format(
            out, "%s %llu %llu %lld", names[i], (unsigned long long)limits[i].hard_bytes,
            (unsigned long long)limits[i].soft_bytes, (long long)limits[i].soft_seconds);
    return out;
}

/* Appends the word for all options that are set, or none, if there is one, or else each. */
static sds append_options(int64_t options, const struct config_choice *choices, sds out) {
    const char *all = choice_name(choices, options), *blank = "";
    if (all) return sds_append_cstr(out, all);
    for (const struct config_choice *choice = choices; choice->name; choice++) {
        if (!choice->value || (options & choice->value) != choice->value) continue;
        out = sds_append_format(out, "%s%s", blank, choice->name);
        blank = " ";
    }
    return out;
}

static sds append_addresses(const struct config *config, sds out) {
    for (size_t i = 0; i < config->bind_count; i++) {
        if (i > 0) out = sds_append_cstr(out, " ");
        out = sds_append(out, sds_slice(config->bind[i]));
    }
    return out;
}

static sds append_oom_scores(const int64_t *scores, sds out) {
    for (int i = 0; i < OOM_SCORES; i++)
        out = sds_append_format(out, i > 0 ? " %d" : "%d", (int)scores[i]);
    return out;
}

static sds append_number(int64_t value, const struct config_directive *directive, sds out) {
    if (directive->flags & CONFIG_PERCENT && value < 0)
        return sds_append_format(out, "%lld%%", (long long)-value);
    if (directive->flags & CONFIG_UNSIGNED)
        return sds_append_format(out, "%llu", (unsigned long long)value);
    return sds_append_format(out, "%lld", (long long)value);
}

sds config_append_value(const struct config *config, const struct config_directive *directive,
                        sds out) {
    void *place = place_of(config, directive);
    switch (directive->kind) {
    case CONFIG_BOOL: return sds_append_cstr(out, *(bool *)place ? "yes" : "no");
    case CONFIG_INTEGER:
    case CONFIG_MEMORY: return append_number(*(int64_t *)place, directive, out);
    case CONFIG_OCTAL: return sds_append_format(out, "%llo", (unsigned long long)*(int64_t *)place);
    case CONFIG_ENUM:
        return sds_append_cstr(out, choice_name(directive->detail, *(int64_t *)place));
    case CONFIG_FIXED: return sds_append_cstr(out, directive->default_text);
    case CONFIG_USER: return out;
    case CONFIG_OPTIONS:
    case CONFIG_SHUTDOWN: return append_options(*(int64_t *)place, directive->detail, out);
    case CONFIG_ADDRESSES: return append_addresses(config, out);
    case CONFIG_OOM_SCORES: return append_oom_scores(place, out);
    case CONFIG_OUTPUT_LIMITS: return append_output_limits(config->output_limits, out);
    case CONFIG_EVENTS: return notify_append(out, (uint32_t) * (int64_t *)place);
    default: /* a string */
        out = secret_reserve(out, sds_len(*(sds *)place));
        return sds_append(out, sds_slice(*(sds *)place));
    }
}

/* --- All values --- */

void config_init(struct config *config) {
    memset(config, 0, sizeof(*config));
    for (size_t i = 0; i < config_table_count; i++) {
        const struct config_directive *directive = &config_table[i];
        struct slice text = slice_of_cstr(directive->default_text);
        sds error = NULL;
        config_set(config, directive, &text, 1, &error);
        sds_free(error); /* defaults are valid: the unit test checks it */
    }
}

void config_copy(struct config *copy, const struct config *config) {
    *copy = *config;
    for (size_t i = 0; i < config_table_count; i++) {
        if (!is_string(&config_table[i])) continue;
        sds *string = string_at(copy, &config_table[i]);
        *string = sds_new(sds_slice(*string));
    }
    copy->bind = mem_alloc(config->bind_count * sizeof(*copy->bind));
    for (size_t i = 0; i < config->bind_count; i++)
        copy->bind[i] = sds_new(sds_slice(config->bind[i]));
}

void config_free(struct config *config) {
    for (size_t i = 0; i < config_table_count; i++)
        if (is_string(&config_table[i])) secret_free(*string_at(config, &config_table[i]));
    free_addresses(config);
}

/* --- Directives --- */

const struct config_directive *config_find(struct slice name) {
    const struct config_directive *family = NULL;
    for (size_t i = 0; i < config_table_count; i++) {
        const struct config_directive *directive = &config_table[i];
        if (!config_name_matched(directive, name)) continue;
        if (!(directive->flags & CONFIG_FAMILY)) return directive;
        family = directive;
    }
    return family;
}

static bool is_of_family(const struct config_directive *family, struct slice name) {
    struct slice beginning = slice_make(family->name, strlen(family->name) - 1);
    return name.len > beginning.len &&
           slice_equal_nocase(slice_make(name.ptr, beginning.len), beginning);
}

const char *config_name_matched(const struct config_directive *directive, struct slice name) {
    if (directive->flags & CONFIG_FAMILY)
        return is_of_family(directive, name) ? directive->name : NULL;
    if (slice_is(name, directive->name)) return directive->name;
    return directive->alias && slice_is(name, directive->alias) ? directive->alias : NULL;
}

bool config_directive_set_has(const struct config_directive_set *set,
                              const struct config_directive *directive) {
    size_t index = (size_t)(directive - config_table);
    return set->words[index / 64] >> index % 64 & 1;
}

bool config_directive_set_add(struct config_directive_set *set,
                              const struct config_directive *directive) {
    size_t index = (size_t)(directive - config_table);
    if (config_directive_set_has(set, directive)) return false;
    set->words[index / 64] |= UINT64_C(1) << index % 64;
    return true;
}

bool config_name_set_add(struct config_name_set *set, const struct config_directive *directive,
                         struct slice name) {
    bool is_alias = config_name_matched(directive, name) != directive->name;
    return config_directive_set_add(is_alias ? &set->aliases : &set->names, directive);
}

bool config_same_value(const struct config *a, const struct config *b,
                       const struct config_directive *directive) {
    sds left = config_append_value(a, directive, sds_new(SLICE("")));
    sds right = config_append_value(b, directive, sds_new(SLICE("")));
    bool same = slice_equal(sds_slice(left), sds_slice(right));
    secret_free(left);
    secret_free(right);
    return same;
}

/* --- Changing several at once --- */

static bool set_all(struct config *config, const struct config_change *changes, size_t count,
                    size_t *culprit, sds *error) {
    for (size_t i = 0; i < count; i++) {
        const struct config_directive *directive = changes[i].directive;
        *culprit = i;
        if (config_why_ignored(directive, changes[i].value)) continue;
        if (!config_set(config, directive, &changes[i].value, 1, error)) return false;
    }
    return true;
}

/* Returns the first change with this effect whose value differs from before, or may do so though it
 * has the same text; `count` when there is none. */
static size_t find_effect(const struct config *config, const struct config *old,
                          const struct config_change *changes, size_t count,
                          enum config_effect effect) {
    for (size_t i = 0; i < count; i++)
        if (changes[i].directive->effect == effect &&
            (effect == EFFECT_TLS || !config_same_value(config, old, changes[i].directive)))
            return i;
    return count;
}

/* *config has the new values and *old the old ones. Applies the new ones, and the old ones again
 * when an effect fails. */
static bool apply_all(struct config *config, struct config *old,
                      const struct config_change *changes, size_t count,
                      config_apply_function *apply, void *arg, size_t *culprit, sds *error) {
    const struct config_directive *begun[EFFECT_COUNT];
    size_t begun_count = 0;
    for (int effect = EFFECT_NONE + 1; effect < EFFECT_COUNT; effect++) {
        size_t i = find_effect(config, old, changes, count, (enum config_effect)effect);
        if (i == count) continue;
        begun[begun_count++] = changes[i].directive;
        if (apply(changes[i].directive, false, arg, error)) continue;
        *culprit = i;
        struct config failed = *config;
        *config = *old;
        *old = failed;
        while (begun_count > 0) {
            sds ignored = NULL;
            apply(begun[--begun_count], true, arg, &ignored);
            sds_free(ignored);
        }
        return false;
    }
    return true;
}

bool config_change_all(struct config *config, const struct config_change *changes, size_t count,
                       config_apply_function *apply, void *arg, size_t *culprit, sds *error) {
    struct config changed;
    config_copy(&changed, config);
    if (!set_all(&changed, changes, count, culprit, error)) {
        config_free(&changed);
        return false;
    }
    struct config old = *config;
    *config = changed;
    bool done = apply_all(config, &old, changes, count, apply, arg, culprit, error);
    config_free(&old);
    return done;
}
