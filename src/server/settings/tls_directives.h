/* tls_directives: what the directives say of TLS, for connections of clients and to others. */
#ifndef PACKLIST_SERVER_SETTINGS_TLS_DIRECTIVES_H
#define PACKLIST_SERVER_SETTINGS_TLS_DIRECTIVES_H

#include "net/tls/tls_context.h"

#include <stdbool.h>

struct config;

/* Sets *options to what the directives say for this role; its texts are the configuration's.
 * Returns false when no connection of that role is asked for. */
bool tls_directives_read(const struct config *config, enum tls_role role,
                         struct tls_options *options);

#endif
