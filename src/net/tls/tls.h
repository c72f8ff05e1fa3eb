/* tls: connections whose bytes are encrypted, over another transport: a filter (transport.h).
 * OpenSSL gets and gives records in memory; the lower transport moves them.
 *
 * A connection that is accepted is opened before its handshake: what it sends waits until the
 * client is verified, and nothing is received before. When the handshake fails or takes too long,
 * the input ends with an error; the log has the reason. The client sees OpenSSL's alert (shake in
 * tls.c, sent by tls_flush), and then the end. Which certificates are asked for and trusted says
 * tls_context.c (load_trusted). The files of this family are drawn in tls_state.h.
 *
 * One that is dialled (net/connections/dial.h) is opened after its handshake; the reason why that
 * fails is the dial's. The server's certificate must be of a trusted authority, and for
 *      expected_name, a name or numeric address, if there is one;
 *      otherwise the host, if that is a name: it is also told to the server (SNI);
 *      otherwise, when the host is a numeric address, for any name.
 *
 * Input is bounded: of one connection, a loop iteration reads TLS_TURN_RECORDS records at most,
 * and one that sends TLS_EMPTY_MAX records without bytes in a row is closed. An iteration begins
 * at most as many handshakes of clients as the context says, and only one when those that have
 * begun take TLS_TURN_STEPS, all that it has; of the others, which wait, the first and the newest
 * begin alternately, without those who have gone. What is no handshake of TLS costs no memory of
 * OpenSSL.
 *
 * With I/O threads (net/threads/io_threads.h), a connection goes to a thread once its handshake is
 * done: the thread has OpenSSL's part of it until the connection comes back.
 *
 * The end: close_notify is sent once and not waited for. A side that closes without it ends its
 * input as well. There is no renegotiation and no compression. */
#ifndef PACKLIST_NET_TLS_TLS_H
#define PACKLIST_NET_TLS_TLS_H

#include "base/slice.h"
#include "net/tls/tls_context.h"

struct conn;
struct net;

/* New handshakes of this role use the context from now on; the net owns it. Handshakes that have
 * begun go on with the one before. NULL: handshakes fail. */
void tls_use(struct net *net, enum tls_role role, struct tls_context *context);

/* Returns a copy of the context that new handshakes of this role use, which the caller owns; NULL:
 * none. */
struct tls_context *tls_copy_of_used(const struct net *net, enum tls_role role);

/* Frees all that is used, once all connections are gone: for net_free. */
void tls_free(struct net *net);

/* Dialled connections of `net` use what those of `other` use now. */
void tls_use_client_of(struct net *net, const struct net *other);

/* Ends handshakes of clients that time out in less than `left_ms`, the oldest first, at most
 * `most`, as if their time were up. O(most). */
void tls_end_slow(struct net *net, unsigned left_ms, unsigned most);

/* Returns the certificates that new connections of this role use; without digits where there are
 * none. O(1). */
struct tls_certificates tls_certificates(const struct net *net, enum tls_role role);

/* Returns whether the connection's bytes are encrypted, whichever thread has it. O(1). */
bool tls_encrypts(const struct conn *conn);

/* What a certificate says about its owner. */
enum tls_name {
    TLS_NAME_COMMON, /* the first common name (CN) of its subject */
    TLS_NAME_URI     /* each URI of its alternative names, in their order */
};

/* Calls each(name, arg) for these names of the other side's certificate until one returns true; and
 * returns whether one has. False, too, when the connection is none of TLS, or the other side has
 * shown no certificate. Names are UTF-8, may contain any byte, also NUL, and are valid in the call
 * only. O(certificate). */
bool tls_peer_names(struct conn *conn, enum tls_name which,
                    bool (*each)(struct slice name, void *arg), void *arg);

#endif
