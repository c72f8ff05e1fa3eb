/* clock: wall clock, monotonic clock, and a time-stamp counter cheap enough to read once per
 * command. */
#ifndef PACKLIST_BASE_CLOCK_H
#define PACKLIST_BASE_CLOCK_H

#include <stdint.h>

/* Calibrates the time-stamp counter (a few milliseconds). Called once before ticks are used. */
void clock_init(void);

/* Time since the epoch. One system clock read (vDSO, ~20 ns). */
int64_t clock_wall_us(void);
int64_t clock_wall_ms(void);

/* Time that never goes back, from an arbitrary start. */
int64_t clock_monotonic_us(void);
int64_t clock_monotonic_ms(void);

/* Processor time that the calling thread has taken. A system call. */
int64_t clock_thread_us(void);

/* A raw counter: the CPU's time-stamp counter where it runs at one constant rate, else nanoseconds
 * of the monotonic clock. Only differences have a meaning. ~10 ns, no system call. */
uint64_t clock_ticks(void);

/* A difference of clock_ticks() in microseconds, rounded down. O(1), no division. The rate is known
 * to about one part in 10^4. */
uint64_t clock_ticks_to_us(uint64_t ticks);

/* The same in nanoseconds; of differences below a century. */
uint64_t clock_ticks_to_ns(uint64_t ticks);

/* The smallest difference of clock_ticks() that clock_ticks_to_us turns into at least `us`;
 * UINT64_MAX when that is beyond 64 bits. A division. */
uint64_t clock_us_to_ticks(uint64_t us);

#endif
