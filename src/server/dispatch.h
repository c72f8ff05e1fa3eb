/* dispatch: from arguments to a command that has run. */
#ifndef PACKLIST_SERVER_DISPATCH_H
#define PACKLIST_SERVER_DISPATCH_H

#include "base/slice.h"
#include "server/call.h"
#include "server/session.h"
#include "table/command.h"

/* Runs one request of `session` (argc > 0): finds the command, checks it, runs it, counts it,
 * serves clients that it woke. The reply goes to server.reply. False when the command must wait
 * (CLIENT PAUSE): nothing was done, and the session was marked as paused. */
bool dispatch(struct session *session, const struct slice *argv, size_t argc);

/* Runs a command that was queued, as part of EXEC: no checks, and it must not block. Its reply goes
 * to server.reply. */
void dispatch_queued(struct session *session, const struct command *command,
                     const struct slice *argv, size_t argc);

/* The call of a command that runs for `session`, answering to `reply`. */
struct call dispatch_call(struct session *session, struct reply *reply,
                          const struct command *command, const struct slice *argv, size_t argc);

/* A command that waited was answered, from `begin` of the reply on: it counts from now on. `ticks`:
 * what it took before and after the wait. */
void dispatch_count_served(const struct session *session, const struct reply *reply, size_t begin,
                           const struct command *command, const struct slice *argv, size_t argc,
                           uint64_t ticks);

/* Begins a batch of requests: the first one's time is counted from here. */
void dispatch_begin(void);

/* Reads the wall clock again if a millisecond has passed since it was read last, as far as
 * server.ticks (the end of the last command) tells. One comparison otherwise. Not to be called
 * inside EXEC, where time stands still. */
void dispatch_renew_clock(void);

#endif
