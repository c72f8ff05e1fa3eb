/* client_line: a client described in one line: CLIENT LIST, CLIENT INFO, ACL LOG. */
#ifndef PACKLIST_SESSION_CLIENT_LINE_H
#define PACKLIST_SESSION_CLIENT_LINE_H

#include "base/text/sds.h"

struct session;

/* Writes the letters of the field `flags`, and a zero; "N" when there are none. O(1). */
enum { CLIENT_FLAGS_MAX = 16 };
void client_line_flags(const struct session *session, char out[CLIENT_FLAGS_MAX]);

/* Appends the fields of Redis 7.2, in its order, and a line feed. O(1). */
sds client_line(sds out, struct session *session);

#endif
