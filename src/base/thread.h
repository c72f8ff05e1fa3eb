/* thread: starting threads other than the loop's. */
#ifndef PACKLIST_BASE_THREAD_H
#define PACKLIST_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Creates a thread that runs `run(arg)` with all signals blocked: the loop's thread handles them.
 * *thread gets its id, for pthread_join. Returns 0, or an errno. */
static inline int thread_create(pthread_t *thread, void *(*run)(void *arg), void *arg) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

#endif
