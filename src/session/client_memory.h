/* client_memory: the memory that clients take. It is noted for each client after a read or a write,
 * so the sum is known without a loop over all clients. Output that was sent since then makes the
 * sum too large, never too small. */
#ifndef PACKLIST_SESSION_CLIENT_MEMORY_H
#define PACKLIST_SESSION_CLIENT_MEMORY_H

#include <stddef.h>

struct engine;
struct session;

/* Returns the bytes that the session takes in all: connection, buffers, parser, names, commands
 * that are queued or blocked; and large texts that its replies refer to, as if they were copied: it
 * can keep them in memory. O(1). */
size_t client_memory_of(const struct session *session);

/* Notes the memory that a session takes now: in clients->limited_memory while maxmemory-clients is
 * set, and before AUTH in engine->uncounted, which does not count for maxmemory. Call
 * it where that memory may have changed while one of these applies; O(1). The second function
 * removes the session from both when it ends. */
void client_memory_note(struct session *session);
void client_memory_forget(struct session *session);

/* Notes the memory of all sessions, after maxmemory-clients or requirepass has changed.
 * O(clients). */
void client_memory_note_all(struct engine *engine);

#endif
