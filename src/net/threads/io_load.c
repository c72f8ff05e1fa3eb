#include "net/threads/io_load.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum {
    TAKE_ABOVE = 50,      /* percent of the time that it can get that the loop runs */
    GIVE_BACK_BELOW = 30, /* percent that it and the threads run, or are ready to */
    TAKE_BATCH = 4,       /* connections that are ready at a poll */
    KEEP_BATCH = 2,
    TAKE_WINDOWS = 2, /* in a row that say the same */
    GIVE_BACK_WINDOWS = 10
};

/* --- What a thread does --- */

/* A thread may see its own file of the system only under this name. */
void io_meter_open(struct io_meter *meter) {
    if (pthread_getcpuclockid(pthread_self(), &meter->clock) != 0) return;
    meter->wait_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    __atomic_store_n(&meter->is_open, true, __ATOMIC_RELEASE);
}

void io_meter_close(struct io_meter *meter) {
    if (meter->is_open && meter->wait_fd >= 0) close(meter->wait_fd);
    *meter = (struct io_meter){.is_open = false};
}

/* The file has three numbers: nanoseconds in which the thread ran and waited, and how often it
 * ran. */
static uint64_t waited_us(int fd) {
    char text[80];
    uint64_t ran, waited;
    if (fd < 0) return 0;
    ssize_t len = pread(fd, text, sizeof(text) - 1, 0);
    if (len <= 0) return 0;
    text[len] = 0;
    return sscanf(text, "%" SCNu64 " %" SCNu64, &ran, &waited) == 2 ? waited / 1000 : 0;
}

void io_meter_read(const struct io_meter *meter, uint64_t *run_us, uint64_t *wait_us) {
    struct timespec run;
    *run_us = *wait_us = 0;
    if (!__atomic_load_n(&meter->is_open, __ATOMIC_ACQUIRE)) return;
    if (clock_gettime(meter->clock, &run) == 0)
        *run_us = (uint64_t)run.tv_sec * 1000000 + (uint64_t)run.tv_nsec / 1000;
    *wait_us = waited_us(meter->wait_fd);
}

/* --- What follows from it --- */

/* Returns a percentage of `whole` (> 0). */
static uint64_t percent(uint64_t part, uint64_t whole) {
    return part * 100 / whole;
}

/* Returns what the window says about having connections with threads. It must speak for that more
 * clearly if they are not yet there. */
static enum io_verdict judge(bool takes, const struct io_sample *from, const struct io_sample *to) {
    uint64_t wall = to->wall_us - from->wall_us, run = to->run_us - from->run_us;
    uint64_t wait = to->wait_us - from->wait_us;
    uint64_t polls = to->polls - from->polls, reads = to->reads - from->reads;
    uint64_t could = wall > wait + run ? wall - wait : run + 1;
    uint64_t both = run + wait + to->threads_us - from->threads_us;
    bool is_busy =
        takes ? percent(both, wall) >= GIVE_BACK_BELOW : percent(run, could) > TAKE_ABOVE;
    if (!is_busy) return IO_LOAD_LITTLE_WORK;
    return reads >= polls * (takes ? KEEP_BATCH : TAKE_BATCH) ? IO_LOAD_HELPS : IO_LOAD_FEW_READY;
}

/* When a thread ends, what it has done counts no longer: then there is no window. */
void io_load_look(struct io_load *load, const struct io_sample *now) {
    struct io_sample last = load->last;
    bool is_window =
        load->has_last && now->wall_us > last.wall_us && now->threads_us >= last.threads_us;
    load->last = *now;
    load->has_last = true;
    if (!is_window) return;
    load->verdict = judge(load->takes, &last, now);
    if ((load->verdict == IO_LOAD_HELPS) == load->takes)
        load->against = 0;
    else if (++load->against >= (load->takes ? GIVE_BACK_WINDOWS : TAKE_WINDOWS)) {
        load->takes = !load->takes;
        load->against = 0;
    }
}
