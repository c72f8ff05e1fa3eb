/* I/O threads: what the loop's side and the threads' side share. Each file calls those below it:
 *
 *      io_threads.c              in the loop: which connections are with threads
 *      transport_threaded.c      in the loop: such a connection
 *      io_thread.c               in a thread: its loop
 *      io_tls.c                  in a thread: TLS of its sockets
 *      io_socket.c               in a thread: what is counted and told about a socket
 *      io_load.c                 in the loop: whether threads help
 *
 *      event loop                                        thread
 *      conn, session                                     struct io_socket: the socket, what is to
 *      struct threaded (state of the transport)          be sent, libuv's handle
 *                     ── to_thread: IO_OPEN … ──→
 *                     ←── to_loop: IO_DATA … ───
 *
 * Each side touches only what is its own. Blocks of bytes pass from one to the other with the items
 * that name them: what was read goes to the loop, which presents it in place and writes replies
 * into the same blocks, which go back. So at one request a time nothing is allocated, and two
 * items are all that is exchanged. Items about a socket keep their order. After IO_CLOSE or
 * IO_RELEASE the loop puts no item about the socket, and after the answer to it the thread puts
 * none: then the loop frees the struct.
 *
 * Both sides show what they have put at the end of an iteration of their loops, all at once, and
 * wake the other one if it sleeps. */
#ifndef PACKLIST_NET_THREADS_IO_STATE_H
#define PACKLIST_NET_THREADS_IO_STATE_H

#include "base/chain.h"
#include "base/memory/shared.h"
#include "base/threads/bell.h"
#include "base/threads/ring.h"
#include "net/connections/conn_state.h"
#include "net/threads/io_load.h"
#include "net/tls/tls_codec.h"

#include <pthread.h>

#ifdef TINY_LIMITS
enum {
    IO_RING_SLOTS = 4,
    IO_CREDIT = 3,
    IO_UNSENT_MAX = 150,
    IO_HAND_OVER_AT = 100,
    IO_SPARE_MAX = 2,
    IO_MOVES_MAX = 2
};
enum { IO_SMALL_SIZE = 96, IO_LARGE_SIZE = 192, IO_WAKE_AT = 2 };
#else
enum {
    IO_RING_SLOTS = 2048,
    IO_CREDIT = 8,               /* blocks of one connection that the loop has not consumed */
    IO_UNSENT_MAX = 256 * 1024,  /* bytes of try_write that a thread has not sent */
    IO_HAND_OVER_AT = 32 * 1024, /* of them: no longer wait for the end of the iteration */
    IO_SPARE_MAX = 256,          /* small blocks that a side keeps for later; large ones: a 16th */
    IO_MOVES_MAX = 64            /* connections given or taken back at a time: about 10 us each */
};
enum { IO_WAKE_AT = 32 }; /* items for which the loop is woken without another poll */
/* Bytes of a block, with its header. A read takes what is left of the last one, and another. */
enum { IO_SMALL_SIZE = 1024, IO_LARGE_SIZE = 16 * 1024 };
#endif

enum io_kind {
    /* To a thread, about a socket: */
    IO_OPEN,     /* it is the thread's */
    IO_SEND,     /* bytes: blocks to be sent; count: as that of IO_CONSUMED */
    IO_WRITE,    /* bytes: blocks whose bytes belong to the loop, answered by IO_WRITTEN */
    IO_SHARED,   /* bytes: a struct shared, to be released when what is at `number`, an address in
                    it, is sent: count bytes */
    IO_CONSUMED, /* count: blocks that the loop has consumed */
    IO_CLOSE,    /* answered by IO_CLOSED */
    IO_RELEASE,  /* the loop wants it back: answered by IO_RELEASED */
    IO_END,      /* about none: the thread has no sockets and ends */

    /* To the loop: */
    IO_DATA,    /* bytes: one block */
    IO_ENDED,   /* number: the status with which its input has ended; bytes: why, static, or NULL */
    IO_WRITTEN, /* number: a status */
    IO_FAILED,  /* number: the status with which sending has failed */
    IO_CLOSED,
    IO_RELEASED, /* all that was to be sent is sent, or sending has failed; the socket is open */
};

/* Blocks for later use, of one side. A BLOCK_BORROWED belongs to a write of the loop: `is_last` if
 * that ends with it. */
struct io_spares {
    struct block_pool small, large;
};

static inline struct io_spares io_spares(void) {
    return (struct io_spares){.small = {.size = IO_SMALL_SIZE, .most = IO_SPARE_MAX},
                              .large = {.size = IO_LARGE_SIZE, .most = IO_SPARE_MAX / 16 + 1}};
}

static inline struct block *io_block_new(struct io_spares *spares, bool is_large) {
    return block_new(is_large ? &spares->large : &spares->small);
}

static inline void io_block_free(struct io_spares *spares, struct block *block) {
    bool is_large = block->capacity > IO_SMALL_SIZE - sizeof(*block);
    block_free(is_large ? &spares->large : &spares->small, block);
}

/* The part of a struct io_socket that one of TLS has besides. The loop allocates and frees it; in
 * between it is the thread's. */
struct io_tls {
    struct tls_codec codec;
    struct block_queue records; /* that the socket has not taken */
    size_t left;                /* atomic, set by the thread: their bytes */
    size_t plain;               /* bytes of the socket's first blocks that are in them */
};

/* The thread's half of a connection. The first members do not change; the loop frees it. */
struct io_socket {
    struct conn *conn;
    struct threaded *threaded; /* the state of that */
    struct io_thread *thread;
    struct io_tls *tls;  /* NULL: its bytes are not encrypted */
    bool begins_reading; /* the connection read when it was given to the thread */

    /* The thread's. The `data` of `poll` is this struct. */
    _Alignas(RING_LINE) uv_poll_t poll;
    int fd;
    int events;                  /* that are polled */
    unsigned credit;             /* blocks that may still be handed to the loop */
    bool reads_large;            /* the last read filled a small block */
    bool has_ended;              /* IO_ENDED was put */
    bool is_polled;              /* `poll` is initialized */
    int failed;                  /* status of sending; 0: none has failed */
    uint32_t answer;             /* IO_CLOSED or IO_RELEASED, once it is asked for; otherwise 0 */
    struct block_queue output;   /* to be sent */
    struct io_socket *next_late; /* in thread->late, with is_late */
    bool is_late;
    uint64_t sent; /* atomic, set by the thread: bytes sent, or dropped */
};

struct io_thread {
    pthread_t id;
    unsigned number; /* from 1 on */
    struct io_threads *all;
    struct io_meter meter;
    struct ring to_thread;
    struct ring to_loop;
    struct bell bell;

    /* The thread's; the loop's owner is that of this part, and of the thread's part of its
     * sockets. */
    _Alignas(RING_LINE) struct loop loop;
    uv_poll_t bell_poll;
    uv_check_t check;
    struct io_spares read_spares;
    bool owes_wake;            /* the loop may sleep and have items */
    uint64_t rung;             /* items published when the bell was rung last */
    struct block *second;      /* a large block that a read may go on in; or NULL */
    struct io_tls_worker *tls; /* NULL: it has had no connection of TLS */
    struct io_socket *late;    /* to which shared bytes are sent when all items are handled */
    struct shared *shared;     /* is to be released `shared_count` times; NULL: none */
    uint32_t shared_count;

    /* The loop's. */
    _Alignas(RING_LINE) struct io_spares write_spares;
    unsigned connections;
    uint64_t reads, writes; /* as in struct io_thread_facts */
    bool is_surplus;        /* it ends when it has no connection any more */
};

/* The loop's half. */
struct io_threads {
    struct bell bell; /* wakes the loop; first, as the `data` of the handles is this struct */
    struct net *net;
    struct io_thread *threads[IO_THREADS_MAX];
    unsigned count;
    uv_poll_t bell_poll;
    uv_check_t check;
    unsigned handles; /* of these that are not closed */
    enum io_when when;
    struct io_meter meter; /* of the loop's thread */
    struct io_load load;
    struct threaded *first, *last;               /* all connections that are with threads */
    struct threaded *closed_first, *closed_last; /* to be freed when the iteration ends */
    struct threaded *dirty;                      /* those with something to be handed over */
    struct threaded *resumed_first;              /* those that have blocks to be presented */
    struct threaded *resumed_last;
    struct threaded *wanted_first, *wanted_last; /* those that are to come back */
    uint64_t looked_ticks;                       /* clock_ticks of the last look at the load */
    uint64_t moved_ticks; /* clock_ticks when connections were last moved, but active ones */
};

/* State of a connection that is with a thread, or on its way back: in the place of libuv's. What
 * each request needs comes first. */
struct threaded {
    struct conn *conn;
    struct io_socket *socket;
    struct io_thread *thread;
    struct threaded *next_dirty; /* in io->dirty, with is_dirty */
    struct block_queue open;     /* taken by try_write, not handed over yet */
    uint64_t given;              /* bytes handed to the thread, or taken */
    uint64_t sent_seen;          /* what socket->sent was */
    struct block_queue input;    /* received, but not presented yet … */
    size_t input_allocated;      /* … and the memory of that */
    int failed;                  /* status; 0: none */
    int ended;         /* status of the end of the input, which is still to be reported; or 0 */
    uint32_t consumed; /* blocks that the thread does not know of */
    bool reads;
    bool is_dirty, is_resumed;
    bool is_leaving; /* IO_RELEASE was put */
    bool is_closing;
    bool is_presenting;
    bool is_draining;              /* `write` is an empty one, put by `drain` */
    struct block *write;           /* the outstanding write's array of blocks; or NULL */
    unsigned write_count;          /* blocks of it */
    size_t write_len;              /* bytes of it */
    void *write_area;              /* the transport's bytes of it */
    struct threaded *prev, *next;  /* in io->first */
    struct threaded *prev_resumed; /* in io->resumed_first, with is_resumed */
    struct threaded *next_resumed;
    struct threaded *prev_wanted, *next_wanted; /* in io->wanted_first, with is_wanted */
    int fd;
    bool is_wanted;
};

static_assert(sizeof(struct threaded) <= sizeof(uv_tcp_t), "the state of libuv takes its place");

/* --- A socket, in its thread (io_socket.c) --- */

/* An item about the socket goes to the loop. */
void io_put(struct io_socket *socket, enum io_kind kind, void *bytes, int status);

/* Bytes of its first blocks are sent. */
void io_note_sent(struct io_socket *socket, size_t sent);

/* Drops what is to be sent: writes of the loop end with the status. */
void io_drop_blocks(struct io_socket *socket, int status);

/* Records will not be sent any more. The pool is of whoever has the struct. */
void io_drop_records(struct io_tls *tls, struct block_pool *pool);

/* Sending has failed: drops both. */
void io_fail(struct io_socket *socket, int status);

/* The block, with `len` bytes, goes to the loop, and uses credit. */
void io_hand_data(struct io_socket *socket, struct block *block, size_t len);

/* The input ends, unless it has ended before. `reason`, static, is logged; or NULL. */
void io_end_input(struct io_socket *socket, int status, const char *reason);

/* --- TLS of a socket: all but io_tls_free run in the thread (io_tls.c) --- */

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

/* --- A thread (io_thread.c) --- */

/* Starts a thread; NULL with *error when the system refuses. */
struct io_thread *io_thread_start(struct io_threads *all, unsigned number, const char **error);

/* Ends and frees a thread that has no connection: waits for it. */
void io_thread_stop(struct io_thread *thread);

/* --- The loop's side (transport_threaded.c) --- */

extern const struct transport transport_threaded;

/* Begins to give the connection to the thread; done when its handle of libuv is closed. Returns
 * false when it cannot be moved now. Only from a uv_check_cb, so that nothing uses the connection
 * in between. */
bool threaded_give(struct conn *conn, struct io_thread *thread);

/* Begins to take it back. Returns false when it cannot be moved now. */
bool threaded_take_back(struct threaded *threaded);

/* It is to be taken back, as soon as that is possible, if the loop is still to have it then. */
void threaded_want_back(struct conn *conn);

/* It is taken back, or need not be. */
void threaded_unwant(struct threaded *threaded);

/* An item about a connection has come from its thread. */
void threaded_handle(const struct ring_item *item);

/* Hands over what it has for its thread. */
void threaded_hand_over(struct threaded *threaded);

/* Presents what has been received, as far as it reads. */
void threaded_present(struct threaded *threaded);

/* Removes it from those that have blocks to be presented, if it is one of them. */
void threaded_leave_resumed(struct threaded *threaded);

/* Its thread has closed it: frees it. */
void threaded_free(struct threaded *threaded);

#endif
