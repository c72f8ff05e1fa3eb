#include "table/secret.h"

/* HELLO protocol [AUTH user password] [SETNAME name] …: from an option that is not understood on,
 * everything may be. */
static bool is_in_hello(const struct slice *argv, size_t index) {
    if (index < 2) return false;
    bool has_auth = slice_is(argv[1], "auth"); /* the protocol was forgotten */
    for (size_t i = 2; i <= index;) {
        if (slice_is(argv[i], "auth")) {
            if (index > i && index <= i + 2) return true;
            has_auth = true;
            i += 3;
        } else if (slice_is(argv[i], "setname")) {
            has_auth |= i < index && slice_is(argv[i + 1], "auth"); /* the name was forgotten */
            i += 2;
        } else {
            return has_auth || index > i;
        }
    }
    return false;
}

/* CONFIG SET name value …: from the value of the first such directive on, because the value may
 * have come as several arguments. */
static bool is_in_config_set(const struct slice *argv, size_t index) {
    for (size_t i = 2; i <= index; i++) {
        struct slice name = secret_name(argv[i]);
        bool has_value = name.len < argv[i].len;
        if ((i < index || has_value) && secret_is_directive(name)) return true;
    }
    return false;
}

/* MIGRATE host port key database timeout … AUTH password, AUTH2 user password, KEYS key …: from an
 * option that is not understood on, everything may be. */
static bool is_in_migrate(const struct slice *argv, size_t index) {
    enum { FIRST_OPTION = 6 };
    if (index < FIRST_OPTION)
        return slice_is(argv[index - 1], "auth") || slice_is(argv[index - 1], "auth2");
    for (size_t i = FIRST_OPTION; i <= index;) {
        struct slice option = argv[i];
        size_t secrets = slice_is(option, "auth") ? 1 : slice_is(option, "auth2") ? 2 : 0;
        if (slice_is(option, "keys")) return false;
        if (index > i && index <= i + secrets) return true;
        if (secrets == 0 && !slice_is(option, "copy") && !slice_is(option, "replace"))
            return index > i || i > FIRST_OPTION;
        i += 1 + secrets;
    }
    return false;
}

/* A whole command stands in argv from `first` on. */
static bool is_in_command(const struct slice *argv, size_t argc, size_t index, size_t first) {
    if (index <= first) return false;
    const struct command *command = command_find(argv[first]);
    if (!command) return secret_may_follow(argv[first]);
    if (command->flags & COMMAND_CONTAINER)
        command = command_find_subcommand(command, argv[first + 1]);
    if (!command) return index > first + 1;
    return secret_is_argument(command, argv + first, argc - first, index - first);
}

bool secret_is_argument(const struct command *command, const struct slice *argv, size_t argc,
                        size_t index) {
    if (index == 0) return false;
    switch (command->secrets) {
    case SECRETS_NONE: return false;
    case SECRETS_OF_AUTH: return true;
    case SECRETS_OF_HELLO: return is_in_hello(argv, index);
    case SECRETS_OF_CONFIG_SET: return is_in_config_set(argv, index);
    case SECRETS_OF_ACL: return index > 1;
    case SECRETS_OF_ACL_DRYRUN: return is_in_command(argv, argc, index, 3);
    case SECRETS_OF_COMMAND_GETKEYS: return is_in_command(argv, argc, index, 2);
    case SECRETS_OF_MIGRATE: return is_in_migrate(argv, index);
    }
    return true;
}

struct slice secret_shown(const struct command *command, const struct slice *argv, size_t argc,
                          size_t index) {
    return secret_is_argument(command, argv, argc, index) ? SLICE(SECRET_SHOWN) : argv[index];
}

/* --- Unknown names --- */

/* Returns the first word of the name, cut off after SECRET_NAME_MAX bytes: the name may have any
 * length, and each piece that the client sends of the request asks anew. */
static struct slice first_word(struct slice name) {
    if (name.len > SECRET_NAME_MAX) name.len = SECRET_NAME_MAX;
    const char *blank = name.len > 0 ? memchr(name.ptr, ' ', name.len) : NULL;
    return secret_name(blank ? slice_make(name.ptr, (size_t)(blank - name.ptr)) : name);
}

bool secret_may_follow(struct slice name) {
    static const char *const names[] = {"auth", "hello", "acl", "config", "migrate"};
    struct slice word = first_word(name);
    if (word.len == SECRET_NAME_MAX && name.len > SECRET_NAME_MAX) return true;
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
