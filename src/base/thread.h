/* thread: starting threads other than the loop's. */
#ifndef PACKLIST_BASE_THREAD_H
#define PACKLIST_BASE_THREAD_H

#include <pthread.h>

/* Creates a thread that runs `run(arg)` with all signals blocked: the loop's thread handles them.
 * *thread gets its id, for pthread_join. Returns 0, or an errno. */
int thread_create(pthread_t *thread, void *(*run)(void *arg), void *arg);

#endif
