/* session_input: turns the bytes of a connection into requests and runs them; accepts new
 * clients. */
#ifndef PACKLIST_REQUESTS_SESSION_INPUT_H
#define PACKLIST_REQUESTS_SESSION_INPUT_H

#include "net/connections/conn.h"

struct engine;
struct session;

/* Callbacks for the listeners. */
extern const struct conn_events session_events;

/* Resumes the sessions of session_resume_later. Called before the loop sleeps. */
void session_resume_all(struct engine *engine);

/* Makes the changes so far safe (journal/reply_gate.h), so that the replies to them may leave. If
 * that fails, closes the clients whose replies the gate holds back, and those whose command has
 * changed the data and waits for another thread to reply: O(clients). */
void session_release_replies(struct engine *engine);

/* The session runs nothing more: removes it from all lists and queues, and frees its input.
 * session_close calls it (engine/upward.h). */
void session_retire(struct session *session);

#endif
