#include "table/secret.h"

bool secret_in_auth(const struct slice *argv, size_t index) {
    (void)argv;
    return index > 0;
}

bool secret_in_hello(const struct slice *argv, size_t index) {
    for (size_t i = 2; i < index; i++)
        if (slice_is(argv[i], "auth") && index <= i + 2) return true;
    return false;
}

/* Includes directives that this server lacks: the client has sent the secret before it learns that
 * they are unknown. */
bool secret_in_config_set(const struct slice *argv, size_t index) {
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

bool secret_in_migrate(const struct slice *argv, size_t index) {
    if (index < 7) return false;
    return slice_is(argv[index - 1], "auth") || slice_is(argv[index - 1], "auth2") ||
           slice_is(argv[index - 2], "auth2");
}
