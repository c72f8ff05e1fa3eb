#include "users/access_internal.h"

#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "table/command_databases.h"
#include "table/command_keys.h"

/* --- One selector --- */

static bool allows_name(const struct selector *selector, struct slice name, uint32_t use) {
    if (!(use & KEY_CHANNEL))
        return pattern_list_covers(&selector->keys, name, selector_rights_for(use));
    return use & KEY_PATTERN ? pattern_list_has(&selector->channels, name, 0)
                             : pattern_list_covers(&selector->channels, name, 0);
}

/* Returns the index of the first key, or channel, that is not allowed; 0 when all are. */
static size_t denied_name(const struct selector *selector, const struct access *access) {
    struct key_ranges keys;
    if (!command_keys(access->command, access->argv, access->argc, &keys)) return 0;
    for (const struct key_range *at = keys.ranges; at < keys.ranges + 2; at++)
        for (size_t i = at->begin; i < at->end; i += at->step)
            if (!allows_name(selector, access->argv[i], at->use)) return i;
    return 0;
}

/* Sets *index to the database that is denied. The named ones come first: they are told rather than
 * the client's. A number that is none, or negative, is the command's to refuse. */
static bool denies_database(const struct selector *selector, const struct access *access,
                            size_t *index) {
    const struct command *command = access->command;
    int64_t database;
    *index = 0;
    if (command->databases == DATABASES_ALL) return true;
    while ((*index = command_next_database(command, access->argv, access->argc, *index)) > 0)
        if (number_parse_int64(access->argv[*index], &database) && database >= 0 &&
            !selector_has_database(selector, database))
            return true;
    return command_uses_own_database(command) && !selector_has_database(selector, access->database);
}

/* Returns what is missing; *index gets its place among the arguments. */
static enum denied check(const struct selector *selector, const struct access *access,
                         size_t *index) {
    const struct command *command = access->command;
    *index = 0;
    if (!command_accepts(command, access->argc))
        return selector_has_command(selector, command, access->argv, access->argc) ? DENIED_NOTHING
                                                                                   : DENIED_COMMAND;
    if (!selector->all_databases && denies_database(selector, access, index))
        return DENIED_DATABASE;
    if (!selector_has_command(selector, command, access->argv, access->argc)) return DENIED_COMMAND;
    if (!selector->all_keys && command_has_keys(command)) {
        *index = denied_name(selector, access);
        if (*index) return DENIED_KEY;
    }
    if (!selector->all_channels && command->keys.use & KEY_RESTRICTED) {
        *index = denied_name(selector, access);
        if (*index) return DENIED_CHANNEL;
    }
    return DENIED_NOTHING;
}

/* --- All selectors --- */

bool access__by_selectors(const struct user *user, struct access access, struct denial *denial) {
    const struct rights *rights = user->rights;
    *denial = (struct denial){0};
    if (access.command->flags & COMMAND_NO_AUTH) return true;
    for (size_t i = 0; i < rights->selector_count; i++) {
        size_t index;
        enum denied what = check(&rights->selectors[i], &access, &index);
        if (what == DENIED_NOTHING) return true;
        if (what < denial->what || (what == denial->what && index <= denial->index)) continue;
        denial->what = what;
        denial->index = index;
    }
    denial->object =
        denial->index ? access.argv[denial->index] : slice_of_cstr(access.command->name);
    return false;
}

/* --- The shortcut: most calls of most users, allowed without a look at their selectors --- */

/* How calls of a command are allowed. */
enum answer {
    ANSWER_UNKNOWN, /* all selectors must be asked */
    ANSWER_ALL,     /* all are */
    ANSWER_BY_NAME, /* those are whose argv[1], their only key, has the beginning */
};

/* It knows of each command whether the first selector allows it, whatever its arguments, or with an
 * only key that begins like one of the selector's patterns ("app:*"). It never denies. The first
 * eight bytes of names are compared as one number. */
struct shortcut {
    uint8_t answers[COMMANDS_MAX]; /* enum answer, by command_index */
    struct slice beginning;        /* of a pattern of the selector */
    uint64_t number;               /* its bytes, and zeros */
    uint64_t mask;                 /* of the bytes that count */
    size_t least;                  /* a name with so many bytes needs no other comparison */
};

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

static enum answer answer_of(const struct selector *selector, const struct command *command,
                             const struct pattern *beginning) {
    bool asks_keys = !selector->all_keys && command_has_keys(command);
    bool asks_channels = !selector->all_channels && command->keys.use & KEY_RESTRICTED;
    if (!selector_has_command(selector, command, NULL, 0) || asks_channels) return ANSWER_UNKNOWN;
    if (!asks_keys) return ANSWER_ALL;
    return beginning && is_by_name(command, beginning) ? ANSWER_BY_NAME : ANSWER_UNKNOWN;
}

static void set_beginning(struct shortcut *shortcut, struct slice text) {
    size_t size = sizeof(shortcut->number);
    shortcut->beginning = text;
    shortcut->least = text.len <= size ? size : SIZE_MAX;
    if (text.len > size) return;
    memcpy(&shortcut->number, text.ptr, text.len);
    memset(&shortcut->mask, 0xFF, text.len);
}

static __attribute__((noinline)) struct shortcut *make_shortcut(const struct selector *selector) {
    const struct pattern *beginning = find_beginning(&selector->keys);
    struct shortcut *shortcut = mem_alloc_zeroed(sizeof(*shortcut));
    if (!selector->all_databases) return shortcut;
    if (beginning)
        set_beginning(shortcut, slice_make(beginning->text, sds_len(beginning->text) - 1));
    size_t count;
    const struct command *all = command_all(&count);
    for (size_t i = 0; i < count; i++)
        shortcut->answers[i] = (uint8_t)answer_of(selector, &all[i], beginning);
    return shortcut;
}

static inline bool has_beginning(const struct shortcut *shortcut, struct slice name) {
    uint64_t first;
    if (name.len < shortcut->least) return slice_begins(name, shortcut->beginning);
    memcpy(&first, name.ptr, sizeof(first));
    return (first & shortcut->mask) == shortcut->number;
}

inline bool access__by_shortcut(const struct user *user, struct access access) {
    const struct shortcut *shortcut = user->shortcut;
    if (!shortcut) return false;
    uint8_t answer = shortcut->answers[command_index(access.command)];
    if (answer == ANSWER_BY_NAME) return access.argc > 1 && has_beginning(shortcut, access.argv[1]);
    return answer == ANSWER_ALL;
}

/* --- Questions --- */

static bool ask_selectors(struct user *user, struct access access, struct denial *denial) {
    if (!user->shortcut) user->shortcut = make_shortcut(&user->rights->selectors[0]);
    return access__by_selectors(user, access, denial);
}

inline bool user_may(struct user *user, struct access access, struct denial *denial) {
    if (user_is_unrestricted(user)) return true;
    if (!access__by_shortcut(user, access)) return denial && ask_selectors(user, access, denial);
    CHECKED_ASSERT(access__by_selectors(user, access, &(struct denial){0}));
    return true;
}

bool user_may_with_all_keys(const struct user *user, const struct access *access, unsigned rights) {
    if (user_is_unrestricted(user)) return true;
    for (size_t i = 0; i < user->rights->selector_count; i++) {
        const struct selector *selector = &user->rights->selectors[i];
        size_t index;
        bool all = selector->all_keys || pattern_list_has(&selector->keys, SLICE("*"), rights);
        if (all && check(selector, access, &index) == DENIED_NOTHING) return true;
    }
    return false;
}

bool user_may_read_key(const struct user *user, struct slice key, int64_t database) {
    if (user_is_unrestricted(user)) return true;
    for (size_t i = 0; i < user->rights->selector_count; i++) {
        const struct selector *selector = &user->rights->selectors[i];
        if (!selector_has_database(selector, database)) continue;
        if (selector->all_keys || pattern_list_covers(&selector->keys, key, KEYS_READ)) return true;
    }
    return false;
}

bool user_may_use_channel(const struct user *user, struct slice channel, bool is_pattern) {
    if (user_is_unrestricted(user)) return true;
    for (size_t i = 0; i < user->rights->selector_count; i++) {
        const struct selector *selector = &user->rights->selectors[i];
        uint32_t use = is_pattern ? KEY_CHANNEL | KEY_PATTERN : KEY_CHANNEL;
        if (selector->all_channels || allows_name(selector, channel, use)) return true;
    }
    return false;
}

sds denial_text(const struct denial *denial, const struct user *user) {
    switch (denial->what) {
    case DENIED_NOTHING: break;
    case DENIED_KEY: return sds_new(SLICE("NOPERM No permissions to access a key"));
    case DENIED_CHANNEL: return sds_new(SLICE("NOPERM No permissions to access a channel"));
    case DENIED_DATABASE: return sds_new(SLICE("NOPERM No permissions to access database"));
    case DENIED_COMMAND: break;
    }
    sds text = sds_append(sds_new(SLICE("NOPERM User ")), sds_slice(user->name));
    text = sds_append(text, SLICE(" has no permissions to run the '"));
    return sds_append(sds_append(text, denial->object), SLICE("' command"));
}
