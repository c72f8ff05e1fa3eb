#include "table/secret.h"

#include "admin/admin_commands.h"
#include "server/server_commands.h"

/* HELLO protocol … AUTH user password … */
static bool is_hello_secret(const struct slice *argv, size_t index) {
    for (size_t i = 2; i < index; i++)
        if (slice_is(argv[i], "auth") && index <= i + 2) return true;
    return false;
}

/* CONFIG SET name value …: also of directives that this server does not have, as the user does not
 * know before he is told. */
static bool is_directive_secret(const struct slice *argv, size_t index) {
    static const char *const names[] = {"requirepass", "masterauth", "masteruser",
                                        "tls-key-file-pass", "tls-client-key-file-pass"};
    if (index < 3 || index % 2 == 0) return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (slice_is(argv[index - 1], names[i])) return true;
    return false;
}

/* MIGRATE … AUTH password, AUTH2 user password */
static bool is_migrate_secret(const struct slice *argv, size_t index) {
    if (index < 7) return false;
    return slice_is(argv[index - 1], "auth") || slice_is(argv[index - 1], "auth2") ||
           slice_is(argv[index - 2], "auth2");
}

bool secret_is_argument(const struct command *command, const struct slice *argv, size_t index) {
    if (command->run == auth_command) return index > 0;
    if (command->run == hello_command) return is_hello_secret(argv, index);
    if (command->run == migrate_command) return is_migrate_secret(argv, index);
    return command->run == config_set_command && is_directive_secret(argv, index);
}
