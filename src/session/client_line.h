/* client_line: a client described in one line: CLIENT LIST, CLIENT INFO, ACL LOG. */
#ifndef PACKLIST_SESSION_CLIENT_LINE_H
#define PACKLIST_SESSION_CLIENT_LINE_H

#include "base/sds.h"

struct session;

/* Appends the fields of Redis 7.2, in its order, and a line feed. O(1). */
sds client_line(sds out, struct session *session);

#endif
