#include "table/secret.h"

/* HELLO protocol … AUTH user password … */
static bool is_in_hello(const struct slice *argv, size_t index) {
    for (size_t i = 2; i < index; i++)
        if (slice_is(argv[i], "auth") && index <= i + 2) return true;
    return false;
}

/* CONFIG SET name value …: the values of directives that are passwords or user names, also of those
 * that this server lacks, because the client has sent the secret before it learns that. */
static bool is_in_config_set(const struct slice *argv, size_t index) {
    static const char *const names[] = {"requirepass",
                                        "masterauth",
                                        "masteruser",
                                        "primaryauth",
                                        "primaryuser",
                                        "tls-key-file-pass",
                                        "tls-client-key-file-pass"};
    if (index < 3 || index % 2 == 0) return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (slice_is(argv[index - 1], names[i])) return true;
    return false;
}

/* MIGRATE … AUTH password, AUTH2 user password */
static bool is_in_migrate(const struct slice *argv, size_t index) {
    if (index < 7) return false;
    return slice_is(argv[index - 1], "auth") || slice_is(argv[index - 1], "auth2") ||
           slice_is(argv[index - 2], "auth2");
}

bool secret_is_argument(const struct command *command, const struct slice *argv, size_t index) {
    switch (command->secrets) {
    case SECRETS_NONE: return false;
    case SECRETS_OF_AUTH: return index > 0;
    case SECRETS_OF_HELLO: return is_in_hello(argv, index);
    case SECRETS_OF_CONFIG_SET: return is_in_config_set(argv, index);
    case SECRETS_OF_ACL: return index > 1;
    case SECRETS_OF_MIGRATE: return is_in_migrate(argv, index);
    }
    return true;
}
