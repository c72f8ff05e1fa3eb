/* io_threads: threads that read and write the sockets of connections for the event loop. They carry
 * bytes and know no protocol: the loop parses and runs all commands.
 *
 * They have connections of clients and of replicas, over TCP, TLS or a Unix socket. The connection
 * of a replica with its primary stays the loop's. So do handshakes of TLS: strangers have no share
 * of a thread, what they cost is bounded over all of them (tls.h), and the certificate says who the
 * client is before its first request. What a thread sends is copied for it, but for messages to
 * many connections (conn_send_shared), sources that can be shared (conn_source: what replicas get)
 * and what the socket has refused before.
 *
 * A connection is the loop's at first. It is given to a thread when it is read, or sent to, while
 * the loop is busy, and comes back when the loop has little to do: the way through a thread takes
 * longer, as long as the loop has time (io_load.h). Its owner sees no difference. */
#ifndef PACKLIST_NET_THREADS_IO_THREADS_H
#define PACKLIST_NET_THREADS_IO_THREADS_H

#include "net/threads/io_load.h"

#include <stdbool.h>
#include <stdint.h>

struct net;

/* Lets `count` (< IO_THREADS_MAX) threads carry bytes beside the loop; 0: none, as at first.
 * Surplus threads end once their connections have come back. Returns false, with *error (static
 * text) and with fewer threads, when the system refuses. */
bool io_threads_set(struct net *net, unsigned count, enum io_when when, const char **error);

/* Returns how many threads have connections now (conn_io_thread: which one has it). O(threads). */
unsigned io_threads_active(const struct net *net);

/* Returns why no thread has connections now, as one word (docs/scaling.md); "-" if one has. The
 * reason is that of the last 50 ms in which the loop did something. O(threads). */
const char *io_threads_idle_reason(const struct net *net);

/* What one thread has, and has done since it began or the last net_reset_totals. */
struct io_thread_facts {
    unsigned connections;
    uint64_t reads;  /* times that it has brought input of a connection … */
    uint64_t writes; /* … and was given output */
};

/* Returns how many threads there are, and the facts of one: `number` is from 1 on, and at most as
 * many. O(1). */
unsigned io_threads_count(const struct net *net);
struct io_thread_facts io_thread_facts(const struct net *net, unsigned number);

/* --- For net.c and nested_poll.c, while net->io is set --- */

/* Hands over what connections have for the threads: their output is sent now. */
void io_threads_hand_over(struct net *net);

/* Called last before the loop sleeps. Returns whether it must not. */
bool io_threads_before_sleep(struct net *net);

/* Takes what the threads have for the loop: for nested polling. */
void io_threads_take(struct net *net);

/* No connection is served by nested polling any more. O(connections of threads). */
void io_threads_end_nested(struct net *net);

/* Sets what threads count to zero. O(threads). */
void io_threads_reset_totals(struct net *net);

/* Ends all threads, and closes their connections first. Outside all callbacks. */
void io_threads_free(struct net *net);

#endif
