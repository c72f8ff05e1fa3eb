/* tls_configure: what the directives of TLS say for connections of clients and to other servers. */
#ifndef PACKLIST_SERVER_TLS_CONFIGURE_H
#define PACKLIST_SERVER_TLS_CONFIGURE_H

#include "base/sds.h"
#include "net/tls/tls_context.h"

#include <stdbool.h>

struct config;
struct engine;

/* Sets *options to what the directives say for this role; its texts are the configuration's.
 * Returns false when no connection of that role is asked for. */
bool tls_describe(const struct config *config, enum tls_role role, struct tls_options *options);

/* Has new connections use the directives' values, and the files as they are now; checks nothing for
 * clients with tls-port 0, and for other servers unless tls-replication or tls-cluster is on.
 * Returns false with *error set (the caller frees it), and nothing changed, when something is
 * wrong. Reads files. */
bool tls_configure(struct engine *engine, sds *error);

#endif
