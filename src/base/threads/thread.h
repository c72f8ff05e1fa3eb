/* thread: starting threads other than the loop's. */
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
