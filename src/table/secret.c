#include "table/secret.h"

#include "base/checked.h"

/* --- Arguments. Each function returns whether argv[index] may be secret; the index is > 0 --- */

static void decide_rest(struct secret_cursor *cursor, bool is_secret) {
    cursor->is_decided = true;
    cursor->rest_is_secret = is_secret;
}

/* HELLO protocol [AUTH user password] [SETNAME name] …: what AUTH is followed by, and all arguments
 * after an option that is not understood. */
static bool next_of_hello(struct secret_cursor *cursor, size_t index) {
    struct slice word = cursor->argv[index];
    bool is_auth = slice_is(word, "auth");
    if (index == 1 || index < cursor->option) {
        if (cursor->is_value) return true;
        cursor->has_auth |= is_auth; /* the protocol, or the name, was forgotten */
        return false;
    }
    if (!is_auth && !slice_is(word, "setname")) {
        decide_rest(cursor, true);
        return cursor->has_auth;
    }
    cursor->has_auth |= is_auth;
    cursor->is_value = is_auth;
    cursor->option = index + (is_auth ? 3 : 2);
    return false;
}

/* CONFIG SET name value …: all arguments after the first name of a directive with a password. The
 * password may have blanks and not be quoted, so that it comes as several arguments. */
static bool next_of_config_set(struct secret_cursor *cursor, size_t index) {
    if (index < 2) return false;
    struct slice name = secret_name(cursor->argv[index]);
    if (!secret_is_directive(name)) return false;
    decide_rest(cursor, true);
    return name.len < cursor->argv[index].len; /* it has the value with it */
}

/* MIGRATE host port key database timeout … AUTH password, AUTH2 user password, KEYS key …: what
 * AUTH and AUTH2 are followed by, and all arguments after an option that is not understood or
 * stands too early. */
static bool next_of_migrate(struct secret_cursor *cursor, size_t index) {
    enum { FIRST_OPTION = 6 };
    struct slice option = cursor->argv[index];
    size_t secrets = slice_is(option, "auth") ? 1 : slice_is(option, "auth2") ? 2 : 0;
    if (index < FIRST_OPTION) {
        if (secrets > 0) decide_rest(cursor, true);
        return false;
    }
    if (index < cursor->option) return true;
    if (slice_is(option, "keys")) {
        decide_rest(cursor, false);
    } else if (secrets == 0 && !slice_is(option, "copy") && !slice_is(option, "replace")) {
        decide_rest(cursor, true);
        return index > FIRST_OPTION;
    }
    cursor->option = index + 1 + secrets;
    return false;
}

/* A whole command stands in argv from `first` on. The cursor goes on with its arguments. */
static bool next_of_command(struct secret_cursor *cursor, size_t index, size_t first) {
    if (cursor->is_nested) decide_rest(cursor, true);
    if (cursor->is_nested || index < first) return cursor->is_nested;
    const struct slice *argv = cursor->argv + first;
    size_t argc = cursor->argc - first;
    const struct command *command = command_find(argv[0]);
    if (!command) {
        decide_rest(cursor, secret_may_follow(argv[0]));
        return false;
    }
    if (command->flags & COMMAND_CONTAINER && argc > 1)
        command = command_find_subcommand(command, argv[1]);
    *cursor = secret_begin(command, argv, argc);
    cursor->index = 1;
    cursor->is_nested = true;
    return false;
}

struct secret_cursor secret_begin(const struct command *command, const struct slice *argv,
                                  size_t argc) {
    return (struct secret_cursor){.command = command, .argv = argv, .argc = argc};
}

bool secret_next(struct secret_cursor *cursor) {
    CHECKED_ASSERT(cursor->index < cursor->argc);
    size_t index = cursor->index++;
    if (cursor->is_decided) return cursor->rest_is_secret;
    if (index == 0) return false;
    if (!cursor->command) return index > 1; /* a container's name, with no subcommand of it */
    switch (cursor->command->secrets) {
    case SECRETS_NONE: return false;
    case SECRETS_OF_AUTH: return true;
    case SECRETS_OF_HELLO: return next_of_hello(cursor, index);
    case SECRETS_OF_CONFIG_SET: return next_of_config_set(cursor, index);
    case SECRETS_OF_ACL: return index > 1;
    case SECRETS_OF_ACL_DRYRUN: return next_of_command(cursor, index, 3);
    case SECRETS_OF_COMMAND_GETKEYS: return next_of_command(cursor, index, 2);
    case SECRETS_OF_MIGRATE: return next_of_migrate(cursor, index);
    }
    return true;
}

struct slice secret_shown(const struct command *command, const struct slice *argv, size_t argc,
                          size_t index) {
    struct secret_cursor cursor = secret_begin(command, argv, argc);
    bool is_secret = secret_next(&cursor);
    for (size_t i = 1; i <= index; i++) is_secret = secret_next(&cursor);
    return is_secret ? SLICE(SECRET_SHOWN) : argv[index];
}

/* --- Unknown names --- */

/* Returns the first word of the name, cut off after SECRET_NAME_MAX bytes: the name may have any
 * length, and each piece that the client sends of the request asks anew. */
static struct slice first_word(struct slice name) {
    if (name.len > SECRET_NAME_MAX) name.len = SECRET_NAME_MAX;
    return secret_name(name);
}

/* SENTINEL SET has the passwords of other servers. */
bool secret_may_follow(struct slice name) {
    static const char *const names[] = {"auth", "hello", "acl", "config", "migrate", "sentinel"};
    struct slice word = first_word(name);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (secret_is_near(word, names[i])) return true;
    return secret_is_directive(word);
}

bool secret_may_come(const struct slice *argv, size_t argc) {
    const struct command *command = command_find(argv[0]);
    if (command && command->flags & COMMAND_CONTAINER) {
        if (argc == 1) return false;
        command = command_find_subcommand(command, argv[1]);
    }
    return command ? command->secrets != SECRETS_NONE : secret_may_follow(argv[0]);
}

struct slice secret_shown_name(struct slice name) {
    return secret_may_follow(name) ? first_word(name) : name;
}
