/* outbound: a connection to another server that blocks: for commands whose own client waits
 * (MIGRATE). The event loop stands still, so each wait has a limit. A call may wait several times,
 * as long as there is progress. */
#ifndef PACKLIST_NET_OUTBOUND_H
#define PACKLIST_NET_OUTBOUND_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>

struct outbound;

/* The longest line that can be read, in bytes, with its end. */
enum { OUTBOUND_LINE_MAX = 4096 };

/* Opens a TCP connection to an IPv4 or IPv6 address, or to a host name, whose addresses are tried
 * one after another. A lookup of the name has the system's own time limit. Returns NULL with errno
 * set: ECONNREFUSED and the like when the other side or the network refused; ETIMEDOUT;
 * EHOSTUNREACH also when the name does not exist. */
struct outbound *outbound_open(const char *host, int port, int timeout_ms);

/* Closes the connection and frees it. NULL is allowed. */
void outbound_close(struct outbound *outbound);

/* Sends all of the bytes. Returns false with errno set (ETIMEDOUT among others). */
bool outbound_write(struct outbound *outbound, const void *bytes, size_t len, int timeout_ms);

/* Reads a line that ends with CR LF. *line is without them, and valid until the next call. Returns
 * false with errno set: ETIMEDOUT, ECONNRESET also when the other side has closed, EPROTO when the
 * line is longer than OUTBOUND_LINE_MAX. */
bool outbound_read_line(struct outbound *outbound, struct slice *line, int timeout_ms);

#endif
