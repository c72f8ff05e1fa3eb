/* server_clock: the clocks of server.h, read at most once in a millisecond. */
#ifndef PACKLIST_SERVER_SERVER_CLOCK_H
#define PACKLIST_SERVER_SERVER_CLOCK_H

/* Reads the clocks again, into server.now_ms, server.steady_ms and the time in server.eviction.
 * Within a millisecond only the wall clock is read. */
void server_update_clock(void);

#endif
