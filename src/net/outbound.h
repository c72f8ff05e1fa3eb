/* outbound: a connection to another server that is opened and used at once, by waiting: for
 * commands whose own client waits meanwhile (MIGRATE). The loop stands still, so each wait has a
 * limit; a call may wait several times, as long as there is progress. */
#ifndef PACKLIST_NET_OUTBOUND_H
#define PACKLIST_NET_OUTBOUND_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>

struct outbound;

/* The longest line that is read, its end included. */
enum { OUTBOUND_LINE_MAX = 4096 };

/* Opens a TCP connection to an IPv4 or IPv6 address or to a host name, whose addresses are tried
 * one after another; looking the name up has the system's own limits. NULL, with errno set:
 * ECONNREFUSED and the like when the other side, or the network, said no; ETIMEDOUT; EHOSTUNREACH
 * also when there is no such name. */
struct outbound *outbound_open(const char *host, int port, int timeout_ms);

/* Closes the connection and frees it. NULL is allowed. */
void outbound_close(struct outbound *outbound);

/* Sends all of the bytes; false with errno set (ETIMEDOUT among others). */
bool outbound_write(struct outbound *outbound, const void *bytes, size_t len, int timeout_ms);

/* Reads a line that ends with CR LF; *line is without them, and lives until the next call. False
 * with errno set: ETIMEDOUT, ECONNRESET also when the other side has closed, EPROTO when the line
 * is longer than OUTBOUND_LINE_MAX. */
bool outbound_read_line(struct outbound *outbound, struct slice *line, int timeout_ms);

#endif
