/* evict: keeps the memory in use below maxmemory by letting keys go, and that of clients below
 * maxmemory-clients by letting the largest of them go. */
#ifndef PACKLIST_SERVER_EVICT_H
#define PACKLIST_SERVER_EVICT_H

#include <stdbool.h>
#include <stdint.h>

struct session;

/* Before a command that may need memory, while maxmemory is set: evicts keys until the memory in
 * use is below it, for half a millisecond or so (maxmemory-eviction-tenacity); what is left is
 * done between commands. False when nothing more can be evicted: the command must be refused
 * with EVICT_REFUSAL. Some tens of nanoseconds when there is nothing to do. */
bool evict_make_room(void);
#define EVICT_REFUSAL "OOM command not allowed when used memory > 'maxmemory'."

/* maxmemory, or how keys are chosen, has changed. */
void evict_configure(void);

/* Looks whether there is something to do; cron. */
void evict_tick(void);

/* Goes on with what a command or a tick has begun; true while there is more to do. before_poll. */
bool evict_step(void);

/* Since when, and for how long in all before that, the limit has been exceeded; in ms, for INFO. */
int64_t evict_current_exceeded_ms(void);
int64_t evict_total_exceeded_ms(void);
void evict_reset_exceeded(void);

/* The access bits of a key that was just made. */
uint32_t evict_fresh_clock(void);

/* Those of a key that has not been used for `idle_s` seconds, or whose LFU counter is `frequency`
 * (0 … 255); -1 where that is not known. As the policy in force counts it; a fresh key's, if what
 * it counts is not known. */
uint32_t evict_given_clock(int64_t idle_s, int64_t frequency);

/* --- Clients --- */

/* Notes the memory that a session takes now: in server.clients_memory while maxmemory-clients is
 * set, and in server.unauthenticated_memory before AUTH, which does not count for maxmemory. To be
 * called where that memory may have changed while either is so; O(1). The second function takes it
 * out when the session ends. */
void evict_account_client(struct session *session);
void evict_forget_client(struct session *session);

/* maxmemory-clients or requirepass has changed: notes the memory of all sessions. */
void evict_account_clients(void);

/* Closes the largest clients until the others fit the limit, a few at a time; true while there is
 * more to do. before_poll. */
bool evict_clients(void);

#endif
