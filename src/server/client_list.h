/* client_list: how a client is described to people: the lines of CLIENT LIST and CLIENT INFO. */
#ifndef PACKLIST_SERVER_CLIENT_LIST_H
#define PACKLIST_SERVER_CLIENT_LIST_H

#include "base/sds.h"
#include "server/session.h"

/* Appends the client's line, with its line break: the fields and their order are those of Redis
 * 7.2. O(1). */
sds client_append_line(sds out, struct session *session);

#endif
