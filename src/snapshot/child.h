/* child: the one process that the server forks. It writes a snapshot (an RDB file, or the base of
 * an append-only file) from the memory that it shares with the server.
 *
 *      server   fork ── cron: reads the reports ── SIGCHLD: ended(…)
 *                 └─ child   run() ─ report, once a second ─ exit 0 | 1
 *
 * The child keeps only its end of the report pipe and the standard descriptors, so it holds no port
 * and no connection open. The kernel kills it when the server ends. */
#ifndef PACKLIST_SNAPSHOT_CHILD_H
#define PACKLIST_SNAPSHOT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct engine;

enum background_purpose { BACKGROUND_NONE, BACKGROUND_RDB, BACKGROUND_AOF, BACKGROUND_SYNC };

/* How a child ended. */
struct child_end {
    pid_t pid;
    bool ok;         /* run() returned true, and nothing killed the child: its file may be used */
    bool was_killed; /* child_kill was called, perhaps just after the child had ended */
    int signal;      /* the signal that ended it, or 0 */
    int64_t seconds; /* how long it ran */
    size_t cow_size; /* private memory in bytes, as last reported */
};

struct child {
    enum background_purpose purpose;
    /* The purpose of a snapshot that was requested but waits for the disk; BACKGROUND_NONE: no such
     * snapshot. */
    enum background_purpose awaited;
    pid_t pid; /* 0: no child */
    bool is_self;
    bool was_killed;
    int report_fd;    /* the parent reads, the child writes; -1: no descriptor was left */
    int64_t begin_ms; /* monotonic, like cow_ms */
    void (*ended)(struct engine *engine, const struct child_end *end);

    uint64_t keys_done;
    uint64_t keys_total; /* when it was forked */
    size_t cow_size;     /* bytes of memory that the child no longer shares */
    size_t cow_peak;
    int64_t cow_ms;         /* when cow_size was reported; 0: not yet */
    int64_t next_report_us; /* set in the child; monotonic */
    uint64_t forks;         /* since the server started */
    uint64_t last_fork_us;  /* how long the last fork blocked the server */
};

/* Registers the SIGCHLD handler. Call once, at the start. False when the system refuses. */
bool child_start_watching(struct engine *engine);

/* Forks a process that calls run(arg) and exits. The loop calls `ended` when the process has ended.
 * Must not be called while a child exists. Returns false with errno set when fork fails. fork
 * blocks for about 10 ms per GB of data, as it copies the page tables. */
bool child_start(struct engine *engine, enum background_purpose purpose, bool (*run)(void *arg),
                 void *arg, void (*ended)(struct engine *engine, const struct child_end *end));

/* Kills the child, if it has this purpose; `ended` follows. The child starts no further system
 * call, so the caller can remove its files at once. */
void child_kill(struct engine *engine, enum background_purpose purpose);

/* Reads the child's reports, if there is a child. Called by cron. */
void child_tick(struct engine *engine);

/* In the child: sets how many keys are written, and sends a report when one is due. Does nothing in
 * the server. Costs one look at the clock: cheap enough for every 128 KB and every 1024 keys. */
void child_note_keys(struct engine *engine, uint64_t keys);

/* In the child: sends the last report, and logs how much memory the child did not share. */
void child_report_end(struct engine *engine, const char *what);

#endif
