/* client_memory: what clients take. What each of them takes is noted when something was read from
 * or written to it, so that the sum is known without asking all of them; output that was sent
 * meanwhile makes it too large, never too small. */
#ifndef PACKLIST_SESSION_CLIENT_MEMORY_H
#define PACKLIST_SESSION_CLIENT_MEMORY_H

#include <stddef.h>

struct engine;
struct session;

/* Bytes that the session takes in all: connection, buffers, parser, names, commands that are queued
 * or blocked. O(1). */
size_t client_memory_of(const struct session *session);

/* Notes the memory that a session takes now: in engine->clients_memory while maxmemory-clients is
 * set, and in engine->unauthenticated_memory before AUTH, which does not count for maxmemory. To be
 * called where that memory may have changed while either is so; O(1). The second function takes it
 * out when the session ends. */
void client_memory_note(struct session *session);
void client_memory_forget(struct session *session);

/* maxmemory-clients or requirepass has changed: notes the memory of all sessions. O(clients). */
void client_memory_note_all(struct engine *engine);

#endif
