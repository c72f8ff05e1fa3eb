/* thread: starting threads other than the loop's. Which there are, and what each may touch:
 *
 *     thread          how many           what it touches
 *     event loop      1, the first       all that is not named below
 *     I/O threads     io-threads - 1     their part of struct io_thread and of each of their struct
 *     "io_thd_N"                         io_socket, and the blocks that the loop has handed to them
 *                                        (net/threads/io_state.h)
 *     pool, of libuv  4 at most          what a piece of work gets: values that no key leads to any
 *                                        more (engine/lazyfree.h), descriptors to be synced or
 *                                        closed, files of certificates. A piece belongs to the loop
 *                                        before and after
 *     "snapshot"      1, while one is    the chunks that it was given, and its file
 *                     written            (snapshot/snapshot_thread.h)
 *     "read_ahead"    1 for each large   its own descriptor and buffer (base/files/read_ahead.h)
 *                     file being read
 *
 * Between the loop and an I/O thread there are two rings, one for each direction (ring.h). Atomic
 * are: a socket's count of sent bytes, counters of the allocator and of what the pool has freed,
 * bells, the indexes of rings, whether a thread's meter is open. An allocation is freed by whoever
 * has it last. CHECKED builds hold the code to this where a structure knows its thread
 * (owner.h). */
#ifndef PACKLIST_BASE_THREADS_THREAD_H
#define PACKLIST_BASE_THREADS_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

/* Creates a thread that runs `run(arg)` with signals blocked: the loop's thread handles them, but
 * those that a thread causes by its own fault. *thread gets its id, for pthread_join. Returns 0, or
 * an errno. */
static inline int thread_create(pthread_t *thread, void *(*run)(void *arg), void *arg) {
    sigset_t all, before;
    const int faults[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
    sigfillset(&all);
    for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* Names the calling thread for those who look at the process: at most 15 bytes. */
static inline void thread_set_name(const char *name) {
    prctl(PR_SET_NAME, name);
}

#endif
