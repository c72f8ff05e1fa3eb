/* import: what a client has prepared with HIMPORT PREPARE (import_commands.c). Its session owns it
 * until HIMPORT DISCARD, RESET, or its end. */
#ifndef PACKLIST_REQUESTS_IMPORT_H
#define PACKLIST_REQUESTS_IMPORT_H

struct session;

/* Forgets all of it. O(names). */
void import_end(struct session *session);

#endif
