/* io_tls: TLS of connections that are with an I/O thread (io_tls.c). All functions but
 * io_tls_free run in the thread. */
#ifndef PACKLIST_NET_THREADS_IO_TLS_H
#define PACKLIST_NET_THREADS_IO_TLS_H

#include "net/threads/io_state.h"

/* The socket is the thread's, or no longer. After io_tls_release the struct is the loop's again;
 * io_tls_close says goodbye, if that can be sent at once, and frees what OpenSSL has. */
void io_tls_open(struct io_socket *socket);
void io_tls_release(struct io_socket *socket);
void io_tls_close(struct io_socket *socket);

/* Reads once, unless there is input that was not decrypted; and decrypts. The socket has credit. */
void io_tls_read(struct io_socket *socket);

/* Sends what the socket takes now. */
void io_tls_send(struct io_socket *socket);

/* The thread ends: closes its timer, and, after that, frees what it has for TLS. */
void io_tls_end(struct io_thread *thread);
void io_tls_free(struct io_thread *thread);

#endif
