/* owner: the one thread that may touch a structure, or a part of it; CHECKED builds hold the code
 * to it. A structure that is handed from thread to thread needs no owner: what hands it over, such
 * as a ring, has them. */
#ifndef PACKLIST_BASE_THREADS_OWNER_H
#define PACKLIST_BASE_THREADS_OWNER_H

#include "base/checked.h"

#include <pthread.h>
#include <stdbool.h>

/* Zeroed at first. */
struct owner {
    pthread_t thread; /* 0: nobody has touched the structure yet */
};

/* Returns whether the calling thread is the owner; who asks first becomes it. */
static inline bool owner_is_me(const struct owner *owner) {
    pthread_t me = pthread_self();
    if (owner->thread == 0) ((struct owner *)owner)->thread = me;
    return owner->thread == me;
}

/* What follows touches a structure of this owner. Nothing in other builds. */
#define OWNER_ASSERT(owner) CHECKED_ASSERT(owner_is_me(&(owner)))

#endif
