#include "users/shortcut.h"

/* Returns the first pattern that is a beginning; NULL if there is none. */
static const struct pattern *find_beginning(const struct pattern_list *keys) {
    for (size_t i = 0; i < keys->count; i++)
        if (pattern_is_beginning(&keys->items[i])) return &keys->items[i];
    return NULL;
}

/* Returns whether argv[1] is the only key of each call, and the pattern has the rights that any
 * call needs. */
static bool is_by_name(const struct command *command, const struct pattern *pattern) {
    const struct key_positions *row = &command->keys;
    unsigned rights = KEYS_BOTH;
    if (row->first != 1 || row->other_use) return false;
    if (row->shape == KEYS_IN_RANGE && row->last == 1)
        rights = selector_rights_for(row->use);
    else if (row->shape != KEYS_OF_SET && row->shape != KEYS_OF_BITFIELD)
        return false;
    return (pattern->rights & rights) == rights;
}

static enum shortcut_answer answer(const struct selector *selector, const struct command *command,
                                   const struct pattern *beginning) {
    bool asks_keys = !selector->all_keys && command_has_keys(command);
    bool asks_channels = !selector->all_channels && command->keys.use & KEY_RESTRICTED;
    if (!selector_has_command(selector, command, NULL, 0) || asks_channels) return SHORTCUT_UNKNOWN;
    if (!asks_keys) return SHORTCUT_ALL;
    return beginning && is_by_name(command, beginning) ? SHORTCUT_BY_NAME : SHORTCUT_UNKNOWN;
}

static void set_beginning(struct shortcut *shortcut, struct slice text) {
    size_t size = sizeof(shortcut->number);
    shortcut->beginning = text;
    shortcut->least = text.len <= size ? size : SIZE_MAX;
    if (text.len > size) return;
    memcpy(&shortcut->number, text.ptr, text.len);
    memset(&shortcut->mask, 0xFF, text.len);
}

void shortcut_make(struct shortcut *shortcut, const struct selector *selector) {
    const struct pattern *beginning = find_beginning(&selector->keys);
    *shortcut = (struct shortcut){0};
    if (!selector->all_databases) return;
    if (beginning)
        set_beginning(shortcut, slice_make(beginning->text, sds_len(beginning->text) - 1));
    size_t count;
    const struct command *all = command_all(&count);
    for (size_t i = 0; i < count; i++)
        shortcut->answers[i] = (uint8_t)answer(selector, &all[i], beginning);
}
