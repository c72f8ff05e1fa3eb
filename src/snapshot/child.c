#define _GNU_SOURCE /* close_range */
#include "snapshot/child.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/engine.h"
#include "engine/slow.h"
#include "net/net.h"
#include "process/oom_score.h"
#include "process/process_title.h"
#include "store/keyspace.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A report makes the kernel walk the page tables. At most 1/REPORT_SHARE of the child's time is
 * spent on that. */
enum { REPORT_EVERY_US = 1000000, REPORT_SHARE = 100 };

/* What the child writes to the pipe, in one piece. */
struct report {
    uint64_t keys_done;
    uint64_t cow_size;
};

/* --- In the child --- */

/* Returns the private memory of this process in bytes, or 0 where the kernel does not report it. */
static size_t private_bytes(void) {
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    if (!file) return 0;
    char line[256];
    unsigned long long kb = 0;
    while (fgets(line, sizeof(line), file))
        if (sscanf(line, "Private_Dirty: %llu kB", &kb) == 1) break;
    fclose(file);
    return (size_t)kb * 1024;
}

static void report(struct engine *engine) {
    struct child *child = engine->child;
    int64_t begin_us = clock_monotonic_us();
    struct report now = {.keys_done = child->keys_done, .cow_size = private_bytes()};
    child->cow_size = now.cow_size;
    if (now.cow_size > child->cow_peak) child->cow_peak = now.cow_size;
    ssize_t written = write(child->report_fd, &now, sizeof(now));
    (void)written; /* if the server is gone or does not read, only a report is lost */
    int64_t end_us = clock_monotonic_us(), pause_us = (end_us - begin_us) * REPORT_SHARE;
    child->next_report_us = end_us + (pause_us > REPORT_EVERY_US ? pause_us : REPORT_EVERY_US);
}

void child_note_keys(struct engine *engine, uint64_t keys) {
    struct child *child = engine->child;
    if (!child->is_self) return;
    child->keys_done = keys;
    if (clock_monotonic_us() >= child->next_report_us) report(engine);
}

void child_report_end(struct engine *engine, const char *what) {
    struct child *child = engine->child;
    if (!child->is_self) return;
    report(engine);
    log_notice("Fork CoW for %s: current %zu MB, peak %zu MB", what, child->cow_size >> 20,
               child->cow_peak >> 20);
}

/* Closes every descriptor but the standard ones and `fd`, which becomes the first after them. */
static void keep_only(struct engine *engine, int fd) {
    int next = STDERR_FILENO + 1;
    engine->child->report_fd = fd < 0 ? fd : next;
    if (fd > next) dup2(fd, next);
    if (fd >= 0) next++;
    if (close_range((unsigned)next, ~0U, 0) == 0) return;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    for (int i = next; i < (int)limit.rlim_cur; i++) close(i);
}

/* The loop's handlers would write to a closed descriptor. SIGINT from a terminal reaches the whole
 * process group; the child ignores it and leaves the decision to the server. */
static void reset_signals(void) {
    static const int defaults[] = {SIGTERM, SIGCHLD, SIGUSR1};
    sigset_t none;
    sigemptyset(&none);
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
        sigaction(defaults[i], &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    sigaction(SIGINT, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A child whose server was killed must not replace a file that the next server has written. */
static void end_with(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
}

static void live(struct engine *engine, enum background_purpose purpose, int report_fd,
                 pid_t parent, bool (*run)(void *arg), void *arg) {
    struct child *child = engine->child;
    end_with(parent);
    reset_signals();
    keep_only(engine, report_fd);
    log_set_role('C');
    process_title_set_child(engine, purpose == BACKGROUND_AOF ? "packlist-aof-rewrite"
                                                              : "packlist-rdb-bgsave");
    oom_score_apply(engine, OOM_CHILD);
    child->is_self = true;
    child->next_report_us = clock_monotonic_us() + REPORT_EVERY_US;
    _exit(run(arg) ? 0 : 1);
}

/* --- In the server --- */

static void close_end(int fd) {
    if (fd >= 0) close(fd);
}

/* When no descriptors are left, both ends are -1: the child then saves without reporting. */
static void open_pipe(int ends[2]) {
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) ends[0] = ends[1] = -1;
}

static void close_pipe(const int ends[2]) {
    int saved_errno = errno;
    close_end(ends[0]);
    close_end(ends[1]);
    errno = saved_errno;
}

static uint64_t count_keys(struct engine *engine) {
    uint64_t keys = 0;
    for (int64_t i = 0; i < engine->config.databases; i++)
        keys += keyspace_count(engine->keyspaces[i]);
    return keys;
}

/* Forks with all signals blocked until the child has its own handlers. */
static pid_t fork_quietly(void) {
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid != 0) {
        int saved_errno = errno;
        sigprocmask(SIG_SETMASK, &before, NULL);
        errno = saved_errno;
    }
    return pid;
}

bool child_start(struct engine *engine, enum background_purpose purpose, bool (*run)(void *arg),
                 void *arg, void (*ended)(struct engine *engine, const struct child_end *end)) {
    struct child *child = engine->child;
    int ends[2];
    assert(child->pid == 0 && purpose != BACKGROUND_NONE);
    open_pipe(ends);
    struct child fresh = {.forks = child->forks, .last_fork_us = child->last_fork_us};
    *child = fresh;
    uint64_t begin = slow_begin(engine);
    int64_t begin_us = clock_monotonic_us();
    pid_t self = getpid(), pid = fork_quietly();
    if (pid == 0) live(engine, purpose, ends[1], self, run, arg);
    child->last_fork_us = (uint64_t)(clock_monotonic_us() - begin_us);
    slow_end(engine, LATENCY_FORK, begin);
    if (pid < 0) {
        close_pipe(ends);
        return false;
    }
    close_end(ends[1]);
    child->forks++;
    child->purpose = purpose;
    child->pid = pid;
    child->report_fd = ends[0];
    child->begin_ms = clock_monotonic_ms();
    child->keys_total = count_keys(engine);
    child->ended = ended;
    return true;
}

void child_kill(struct engine *engine, enum background_purpose purpose) {
    struct child *child = engine->child;
    if (child->purpose != purpose || !child->pid) return;
    child->was_killed = true;
    kill(child->pid, SIGUSR1);
}

void child_tick(struct engine *engine) {
    struct child *child = engine->child;
    struct report now;
    if (!child->pid) return;
    while (read(child->report_fd, &now, sizeof(now)) == (ssize_t)sizeof(now)) {
        child->keys_done = now.keys_done;
        child->cow_size = now.cow_size;
        if (now.cow_size > child->cow_peak) child->cow_peak = now.cow_size;
        child->cow_ms = clock_monotonic_ms();
    }
}

static void on_child_signal(int signum, void *arg) {
    struct engine *engine = arg;
    struct child *child = engine->child;
    (void)signum;
    int status = 0;
    if (!child->pid || waitpid(child->pid, &status, WNOHANG) != child->pid) return;
    child_tick(engine);
    close_end(child->report_fd);
    struct child_end end = {
        .pid = child->pid,
        .ok = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !child->was_killed,
        .was_killed = child->was_killed,
        .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
        .seconds = (clock_monotonic_ms() - child->begin_ms) / 1000,
        .cow_size = child->cow_size,
    };
    child->pid = 0;
    child->purpose = BACKGROUND_NONE;
    child->ended(engine, &end);
}

bool child_start_watching(struct engine *engine) {
    return net_on_signal(engine->net, SIGCHLD, on_child_signal, engine);
}
