/* selector_text: the text of a selector. */
#include "users/selector.h"

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
