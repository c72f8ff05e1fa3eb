/* key_delay: slows down saving and loading, for tests (rdb-key-save-delay, key-load-delay). */
#ifndef PACKLIST_SNAPSHOT_KEY_DELAY_H
#define PACKLIST_SNAPSHOT_KEY_DELAY_H

#include <stdint.h>
#include <time.h>

/* Call before each key. Sleeps `delay` microseconds. If `delay` is negative, sleeps one microsecond
 * before every -delay'th key. */
static inline void key_delay(int64_t delay, uint64_t key_number) {
    if (delay == 0) return;
    if (delay < 0 && key_number % (uint64_t)-delay != 0) return;
    int64_t us = delay < 0 ? 1 : delay;
    nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}, NULL);
}

#endif
