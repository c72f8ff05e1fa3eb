/* thread: threads beside the loop's. */
#ifndef PACKLIST_BASE_THREAD_H
#define PACKLIST_BASE_THREAD_H

#include <pthread.h>

/* Creates a thread that runs `run(arg)` and gets no signals: those are for the loop's. *thread gets
 * its name, for pthread_join. Returns 0, or an errno. */
int thread_create(pthread_t *thread, void *(*run)(void *arg), void *arg);

#endif
