#include "users/access.h"

#include "base/number.h"
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

static bool ask_selectors(const struct user *user, const struct access *access,
                          struct denial *denial) {
    const struct rights *rights = user->rights;
    *denial = (struct denial){0};
    for (size_t i = 0; i < rights->selector_count; i++) {
        size_t index;
        enum denied what = check(&rights->selectors[i], access, &index);
        if (what == DENIED_NOTHING) return true;
        if (what < denial->what || (what == denial->what && index <= denial->index)) continue;
        denial->what = what;
        denial->index = index;
    }
    denial->object =
        denial->index ? access->argv[denial->index] : slice_of_cstr(access->command->name);
    return false;
}

bool user_may_restricted(const struct user *user, const struct access *access,
                         struct denial *denial) {
    CHECKED_ASSERT(command_accepts(access->command, access->argc));
    if (!user_may_at_once(user, access->command, access->argv))
        return ask_selectors(user, access, denial);
    CHECKED_ASSERT(ask_selectors(user, access, &(struct denial){0}));
    return true;
}

bool user_may_run(const struct user *user, const struct access *access, struct denial *denial) {
    const struct command *command = access->command;
    if (command->flags & COMMAND_NO_AUTH) return true;
    if (command_accepts(command, access->argc)) return user_may(user, access, denial);
    if (user_is_unrestricted(user)) return true;
    for (size_t i = 0; i < user->rights->selector_count; i++)
        if (selector_has_command(&user->rights->selectors[i], command, access->argv, access->argc))
            return true;
    *denial = (struct denial){.what = DENIED_COMMAND, .object = slice_of_cstr(command->name)};
    return false;
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
