/* child: the one process that the server forks, to write a snapshot (an RDB file, or the base of an
 * append-only file) out of the memory that it shares with the server.
 *
 *      server   fork ── cron: reads the reports ── SIGCHLD: ended(…)
 *                 └─ child   run() ─ report, once a second ─ exit 0 | 1
 *
 * The child has no descriptors but its report's and the standard ones: it keeps no port and no
 * connection open when the server goes on without it. It is killed when the server ends. */
#ifndef PACKLIST_SNAPSHOT_CHILD_H
#define PACKLIST_SNAPSHOT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct engine;

enum child_purpose { CHILD_NONE, CHILD_RDB, CHILD_AOF };

/* How a child ended. */
struct child_end {
    pid_t pid;
    bool ok;         /* run() returned true, and it was not killed: what it wrote may be used */
    bool was_killed; /* by child_kill, be it that it had ended just before */
    int signal;      /* that it died of, or 0 */
    int64_t seconds; /* it ran */
    size_t cow_size; /* bytes of its own, the last that it reported */
};

struct child {
    enum child_purpose purpose;
    /* What a snapshot is for that has been begun, but waits for the disk; CHILD_NONE: none does. */
    enum child_purpose awaited;
    pid_t pid; /* 0: there is none */
    bool is_self;
    bool was_killed;
    int report_fd;    /* the parent reads, the child writes; -1: there was none left */
    int64_t begin_ms; /* monotonic, as cow_ms */
    void (*ended)(struct engine *engine, const struct child_end *end);

    uint64_t keys_done;
    uint64_t keys_total; /* when it was forked */
    size_t cow_size;     /* bytes of memory that it does not share any more */
    size_t cow_peak;
    int64_t cow_ms;         /* when it reported them, 0: not yet */
    int64_t next_report_us; /* in the child; monotonic */
    uint64_t forks;         /* since the start */
    uint64_t last_fork_us;  /* for how long the server stood still */
};

/* Watches for children that end. False when the system refuses. */
bool child_start_watching(struct engine *engine);

/* Forks a process that calls run(arg) and exits; `ended` is called from the loop when it is over.
 * False with errno when no process could be made. Not while there is one. The pause grows with the
 * page tables: some 10 ms for each GB. */
bool child_start(struct engine *engine, enum child_purpose purpose, bool (*run)(void *arg),
                 void *arg, void (*ended)(struct engine *engine, const struct child_end *end));

/* Ends the child, if its purpose is this one; `ended` follows. It begins no system call any more,
 * so that what it left can be removed at once. */
void child_kill(struct engine *engine, enum child_purpose purpose);

/* Reads what the child has reported; cron. */
void child_tick(struct engine *engine);

/* In the child: so many keys are written. Reports now and then; does nothing in the server. Cheap
 * enough for every 128 KB that are written, and every 1024 keys. */
void child_note_keys(struct engine *engine, uint64_t keys);

/* In the child: reports what stands at the end, and logs what was not shared any more. */
void child_report_end(struct engine *engine, const char *what);

#endif
