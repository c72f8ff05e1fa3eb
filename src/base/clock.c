#include "base/clock.h"

#include "base/processor.h"

#include <stdbool.h>
#include <time.h>

#ifdef PROCESSOR_X86_64
#include <cpuid.h>
#include <x86intrin.h>
#endif

/* Set once by clock_init, only read afterwards. */
static bool counter_is_tsc;
static uint64_t us_per_tick_scaled; /* microseconds per tick × 2^64 */

static int64_t read_ns(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#ifdef PROCESSOR_X86_64
static uint64_t read_tsc(void) {
    return __rdtsc();
}

/* Returns whether the counter runs at one rate, independent of the CPU's speed and sleep: leaf
 * 0x80000007, EDX bit 8. */
static bool tsc_is_invariant(void) {
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx & 1u << 8) != 0;
}
#else
static uint64_t read_tsc(void) {
    return 0;
}

static bool tsc_is_invariant(void) {
    return false;
}
#endif

struct moment {
    uint64_t ticks;
    int64_t ns;
};

/* Reads both clocks at the same moment: of a few tries the one with the shortest interruption. */
static struct moment read_both(void) {
    struct moment best = {0, 0};
    uint64_t narrowest = UINT64_MAX;
    for (int i = 0; i < 10; i++) {
        uint64_t before = read_tsc();
        int64_t ns = read_ns(CLOCK_MONOTONIC);
        uint64_t width = read_tsc() - before;
        if (width >= narrowest) continue;
        narrowest = width;
        best = (struct moment){before + width / 2, ns};
    }
    return best;
}

void clock_init(void) {
    const double two_to_64 = 18446744073709551616.0;
    double us_per_tick = 0.001;
    counter_is_tsc = tsc_is_invariant();
    if (counter_is_tsc) {
        struct moment start = read_both();
        nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
        struct moment end = read_both();
        us_per_tick = (double)(end.ns - start.ns) / 1000 / (double)(end.ticks - start.ticks);
    }
    us_per_tick_scaled = (uint64_t)(us_per_tick * two_to_64);
}

int64_t clock_wall_us(void) {
    return read_ns(CLOCK_REALTIME) / 1000;
}

int64_t clock_wall_ms(void) {
    return read_ns(CLOCK_REALTIME) / 1000000;
}

int64_t clock_monotonic_us(void) {
    return read_ns(CLOCK_MONOTONIC) / 1000;
}

int64_t clock_monotonic_ms(void) {
    return read_ns(CLOCK_MONOTONIC) / 1000000;
}

int64_t clock_thread_us(void) {
    return read_ns(CLOCK_THREAD_CPUTIME_ID) / 1000;
}

uint64_t clock_ticks(void) {
    if (__builtin_expect(counter_is_tsc, 1)) return read_tsc();
    return (uint64_t)read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_ticks_to_us(uint64_t ticks) {
    return (uint64_t)((unsigned __int128)ticks * us_per_tick_scaled >> 64);
}

uint64_t clock_ticks_to_ns(uint64_t ticks) {
    return (uint64_t)((unsigned __int128)ticks * us_per_tick_scaled * 1000 >> 64);
}

uint64_t clock_us_to_ticks(uint64_t us) {
    unsigned __int128 scaled = (unsigned __int128)us << 64;
    unsigned __int128 ticks = (scaled + us_per_tick_scaled - 1) / us_per_tick_scaled;
    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}
