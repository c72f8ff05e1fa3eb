/* main: the command line, running in the background, and the order of start and end. */
#include "base/clock.h"
#include "base/files/file.h"
#include "base/hash/hash.h"
#include "base/log/log.h"
#include "base/lzf/lzf.h"
#include "base/memory/alloc.h"
#include "base/text/secret.h"
#include "base/version.h"
#include "engine/engine.h"
#include "main/command_bodies.h"
#include "replication/replication.h"
#include "server/parts.h"
#include "server/process/crash_report.h"
#include "server/process/daemon.h"
#include "server/process/process_title.h"
#include "server/process/supervisor.h"
#include "server/server_run.h"
#include "server/server_state.h"
#include "server/settings/config_apply.h"
#include "server/settings/listeners.h"
#include "server/start/start_load.h"
#include "table/command.h"
#include "table/families.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Test programs take the text after "v=", or the first number with dots, as the version of Redis
 * whose commands they may use. */
static void print_version(void) {
    printf("Packlist server v=%s packlist_version=%s malloc=%s bits=%zu lzf=%s\n",
           PACKLIST_REDIS_VERSION, PACKLIST_VERSION, mem_allocator_name(), sizeof(void *) * 8,
           lzf_name());
}

static void print_help(void) {
    fputs("Usage: packlist-server [/path/to/redis.conf] [options] [-]\n"
          "       packlist-server - (read the configuration from standard input)\n"
          "       packlist-server -v or --version\n"
          "       packlist-server -h or --help\n"
          "\n"
          "Keeps lists, strings, hashes, sets, sorted sets and streams in memory, and serves them\n"
          "to clients that speak the Redis protocol.\n"
          "\n"
          "Options are the directives of the configuration file, written as --name value...\n"
          "redis.conf, which is also the page packlist.conf(5), describes them.\n"
          "\n"
          "Examples:\n"
          "       packlist-server (run with the defaults, on port 6379)\n"
          "       packlist-server /etc/packlist/packlist.conf\n"
          "       packlist-server --port 7777 --list-max-listpack-size -1\n"
          "       echo 'maxclients 128' | packlist-server -\n",
          stdout);
}

static int fail(const char *what) {
    fprintf(stderr, "packlist-server: %s\n", what);
    return EXIT_FAILURE;
}

/* The same once the log is open: the error goes to the log and, unless it can be read there, to
 * standard error. */
static int fail_and_log(const char *what) {
    log_warning("%s", what);
    return log_is_shown_on(STDERR_FILENO, LOG_WARNING) ? EXIT_FAILURE : fail(what);
}

static void report_out_of_memory(size_t size) {
    log_warning("Out Of Memory allocating %zu bytes!", size);
}

static bool is_daemon(struct engine *engine) {
    return engine->config.daemonize && engine->supervisor->kind == SUPERVISED_NO;
}

/* Replaces the C library's function behind assert(), which writes only to standard error, not to
 * the log. Not in the library, where unit tests would get it too. */
_Noreturn void __assert_fail(const char *assertion, const char *file, unsigned line,
                             const char *function) {
    fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, assertion);
    log_warning("=== ASSERTION FAILED ===");
    log_warning("==> %s:%u '%s' is not true", file, line, assertion);
    abort();
}

/* Returns the path of the pid file, as configured or the default in the background; NULL for
 * none. */
static const char *pid_path(struct engine *engine) {
    if (sds_len(engine->config.pidfile) > 0) return engine->config.pidfile;
    return is_daemon(engine) ? "/var/run/packlist.pid" : NULL;
}

static void write_pid_file(struct engine *engine) {
    const char *path = pid_path(engine);
    if (!path) return;
    int fd = file_open_plain(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW);
    if (fd < 0) {
        log_warning("Failed to write PID file %s: %s", path, strerror(errno));
        return;
    }
    dprintf(fd, "%d\n", (int)getpid());
    close(fd);
}

static void remove_pid_file(struct engine *engine) {
    if (!pid_path(engine)) return;
    log_notice("Removing the pid file.");
    unlink(pid_path(engine));
}

/* Blocks or unblocks SIGTERM and SIGINT. They are blocked at the start and the end, while the event
 * loop does not watch for them: their default action would leave the pid file and the Unix socket
 * behind. */
static void change_signals(int how) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(how, &signals, NULL);
}

/* Logs the lines that Redis begins with, because tools look for them. */
static void log_start(struct engine *engine) {
    log_notice("oO0OoO0OoO0Oo Packlist is starting oO0OoO0OoO0Oo");
    log_notice("Packlist version=%s, redis_version=%s, bits=%zu, malloc=%s, pid=%d, just started",
               PACKLIST_VERSION, PACKLIST_REDIS_VERSION, sizeof(void *) * 8, mem_allocator_name(),
               (int)getpid());
    log_notice("Configuration loaded");
    log_notice("Running mode=%s, port=%d.",
               engine->config.cluster_enabled ? "cluster" : "standalone", (int)engine->config.port);
}

/* Answers --version and --help and returns the exit status; returns -1 when the server is to
 * start. */
static int answer_question(int argc, char **argv) {
    if (argc != 2) return -1;
    if (!strcmp(argv[1], "-v") || !strcmp(argv[1], "--version")) {
        print_version();
        return EXIT_SUCCESS;
    }
    if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) {
        print_help();
        return EXIT_SUCCESS;
    }
    return -1;
}

int main(int argc, char **argv) {
    static struct server_state state; /* static: leak checkers find in it what the server uses */
    struct engine *engine = server_state_init(&state);
    int answered = answer_question(argc, argv);
    if (answered >= 0) return answered;
    mem_on_out_of_memory(report_out_of_memory);
    clock_init();
    hash_init();
    command_table_init(command_families, command_bodies);
    process_title_init(engine->title, argc, argv);
    config_init(&engine->config);
    sds reason = NULL;
    bool loaded_config =
        config_load(&engine->config, &engine->config_source, argc - 1, argv + 1, &reason);
    for (int i = 1; i < argc; i++) secret_clear(argv[i], strlen(argv[i])); /* copies of the title */
    if (!loaded_config) {
        fputs(reason, stderr);
        sds_free(reason);
        return EXIT_FAILURE;
    }
    if (!config_apply_at_start(engine, &reason)) {
        fail(reason);
        sds_free(reason);
        return EXIT_FAILURE;
    }
    supervisor_find(engine);
    int to_parent = -1;
    if (is_daemon(engine) && !daemon_begin(&to_parent)) return fail("cannot fork");
    log_start(engine);
    crash_report_start(engine);
    change_signals(SIG_BLOCK);
    if (!parts_start(engine, &reason)) {
        int status = fail_and_log(reason);
        sds_free(reason);
        return status;
    }
    change_signals(SIG_UNBLOCK);
    write_pid_file(engine);
    log_notice("Server initialized");
    enum load_status loaded = start_load(engine);
    if (loaded == LOAD_DONE || loaded == LOAD_ABSENT) {
        listeners_announce(engine);
        daemon_ready(to_parent);
        supervisor_ready(engine);
        replication_note_loaded(engine);
        if (!engine->shutting_down) server_run(engine);
    }
    change_signals(SIG_BLOCK);
    parts_stop(engine);
    remove_pid_file(engine);
#ifdef PACKLIST_LIBC_MALLOC
    parts_free(engine); /* so that a leak checker sees only real leaks */
#endif
    if (loaded == LOAD_FAILED) return fail("the data could not be loaded; the log says why");
    log_warning("Packlist is now ready to exit, bye bye...");
    return EXIT_SUCCESS;
}
