/* session_input: from the bytes of a connection to requests that run; the beginning of a client. */
#ifndef PACKLIST_CLIENT_SESSION_INPUT_H
#define PACKLIST_CLIENT_SESSION_INPUT_H

#include "net/conn.h"

struct engine;
struct session;

/* Upcalls for the listeners. */
extern const struct conn_events session_events;

/* Resumes the sessions of session_resume_later; before_poll. */
void session_resume_all(struct engine *engine);

/* The reply gate denies: closes the clients whose replies it holds back, and those whose command
 * has changed the data and will be answered when another thread is done. O(clients). */
void session_cut_off_denied(struct engine *engine);

/* Largest argument that is taken: proto-max-bulk-len, but never more than an element of a list can
 * hold. */
int64_t session_argument_max(const struct engine *engine);

/* A session runs nothing more: takes it out of all that knows it, and frees its input. It is what
 * session_close calls (engine->clients->retire_session). */
void session_retire(struct session *session);

#endif
