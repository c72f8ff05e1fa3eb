#include "check/progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <unistd.h>

enum {
    MEGA = 1024 * 1024,
    GIGA = 1024 * MEGA,
    BIG_FILE = 16 * MEGA,
    PERIOD_US = 100 * 1000,
    BAR_WIDTH = 40
};

void progress_start(struct progress *progress, uint64_t total) {
    *progress = (struct progress){.total = total};
    progress->on = total >= BIG_FILE && isatty(STDERR_FILENO);
}

static void draw(const struct progress *progress) {
    static const char full[] = "########################################";
    _Static_assert(sizeof(full) == BAR_WIDTH + 1, "as long as the bar");
    double part = (double)progress->done / (double)progress->total;
    bool is_giga = progress->total >= (uint64_t)GIGA;
    double unit = is_giga ? GIGA : MEGA;
    if (part > 1) part = 1; /* the file grows */
    fprintf(stderr, "\r[%-*.*s] %3d %%  %.1f of %.1f %s", BAR_WIDTH, (int)(part * BAR_WIDTH), full,
            (int)(part * 100), (double)progress->done / unit, (double)progress->total / unit,
            is_giga ? "GB" : "MB");
    fflush(stderr);
}

void progress_add(struct progress *progress, uint64_t bytes) {
    progress->done += bytes;
    if (!progress->on) return;
    int64_t now_us = clock_monotonic_us();
    if (progress->shown_us > 0 && now_us - progress->shown_us < PERIOD_US) return;
    progress->shown_us = now_us;
    draw(progress);
}

void progress_clear(struct progress *progress) {
    if (progress->shown_us > 0) fputs("\r\x1b[K", stderr);
    progress->shown_us = 0;
}
