/* io_load: decides when I/O threads help the event loop, by what its thread has done in windows of
 * time, at least IO_LOAD_WINDOW_US long.
 *
 * They help while the loop takes most of the processor time that it can get and finds several
 * connections ready whenever it polls: then one wake-up carries many requests. For one client at a
 * time the way through a thread only takes longer. Time in which others have the processors counts
 * for nothing: a loop that gets half of one, and uses it, is busy. What threads do once they have
 * connections the loop would have to do itself, so both together say whether they still help. */
#ifndef PACKLIST_NET_THREADS_IO_LOAD_H
#define PACKLIST_NET_THREADS_IO_LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { IO_LOAD_WINDOW_US = 50000, IO_THREADS_MAX = 128 };

/* When threads have connections. */
enum io_when { IO_WHEN_BUSY, IO_ALWAYS };

/* Where the system tells what a thread does. Zeroed: it is not open yet. */
struct io_meter {
    clockid_t clock;
    int wait_fd;  /* -1: the system does not tell how long it waits */
    bool is_open; /* atomic */
};

void io_meter_open(struct io_meter *meter); /* in the thread itself */
void io_meter_close(struct io_meter *meter);

/* Sets *run_us to the processor time that the thread has taken, and *wait_us to the time in which
 * it was ready to run and others had the processors; 0 when it is not open. Any thread, while the
 * measured one runs. Two system calls. */
void io_meter_read(const struct io_meter *meter, uint64_t *run_us, uint64_t *wait_us);

/* What was done until now. */
struct io_sample {
    uint64_t wall_us;
    uint64_t run_us, wait_us; /* of the loop's thread, by its meter */
    uint64_t threads_us;      /* of all I/O threads: both together */
    uint64_t polls;           /* iterations of the loop */
    uint64_t reads;           /* times that a connection had input */
};

/* What the last window says about having connections with threads. */
enum io_verdict {
    IO_LOAD_UNKNOWN,     /* there was no window yet */
    IO_LOAD_LITTLE_WORK, /* the loop and the threads use too little processor time */
    IO_LOAD_FEW_READY,   /* too few connections are ready when the loop polls */
    IO_LOAD_HELPS
};

/* All zero at first: nothing is known, and connections are not to be with threads. */
struct io_load {
    struct io_sample last;
    bool has_last;
    bool takes;       /* connections are to be with threads */
    unsigned against; /* windows in a row that speak for the opposite */
    enum io_verdict verdict;
};

/* Decides again, with the window that ends now: load->takes. */
void io_load_look(struct io_load *load, const struct io_sample *now);

#endif
