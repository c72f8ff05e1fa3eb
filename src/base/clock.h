/* clock: wall clock, monotonic clock, and a time-stamp counter cheap enough to read once per
 * command. */
#ifndef PACKLIST_BASE_CLOCK_H
#define PACKLIST_BASE_CLOCK_H

#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* Calibrates the time-stamp counter (a few milliseconds). Called once before anything else of this
 * module. */
void clock_init(void);

/* Time since the epoch. One system clock read (vDSO, ~20 ns). */
int64_t clock_wall_us(void);
int64_t clock_wall_ms(void);

/* Time that never goes back, from an arbitrary start. */
int64_t clock_monotonic_us(void);

/* A raw counter: the CPU's time-stamp counter where it is invariant, else nanoseconds of the
 * monotonic clock. Only differences have a meaning. ~7 ns, no system call. */
static inline uint64_t clock_ticks(void) {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return (uint64_t)clock_monotonic_us() * 1000;
#endif
}

/* A difference of clock_ticks() in microseconds. O(1), no division. */
uint64_t clock_ticks_to_us(uint64_t ticks);

#endif
