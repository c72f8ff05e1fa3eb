#include "admin/memory_stats.h"

#include "aof/aof.h"
#include "engine/engine.h"
#include "engine/own_expiry.h"
#include "memory/evict.h"
#include "replication/replication.h"
#include "session/client_memory.h"
#include "session/clients.h"
#include "session/session.h"
#include "store/keyspace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct client_stats client_stats_read(struct engine *engine) {
    struct client_stats memory = {0};
    for (struct session *session = engine->clients->sessions.first; session;
         session = session->next) {
        struct conn *conn = conn_of_session(session);
        size_t input = conn_input_allocated(conn);
        size_t output = conn_pending_output(conn);
        memory.allocated += client_memory_of(session) - conn_output_referred(conn);
        if (input > memory.largest_input) memory.largest_input = input;
        if (output > memory.largest_output) memory.largest_output = output;
    }
    return memory;
}

/* Returns the bytes of physical memory of the process, from /proc/self/statm; 0 without that
 * file. */
static size_t resident_size(void) {
    char text[128];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t len = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (len <= 0) return 0;
    text[len] = 0;
    char *after_total = NULL;
    strtoul(text, &after_total, 10);
    return strtoul(after_total, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

static size_t more_than(size_t a, size_t b) {
    return a > b ? a - b : 0;
}

struct memory_stats memory_stats_read(struct engine *engine) {
    struct memory_stats memory = {
        .used = mem_used(),
        .startup = engine->startup_memory,
        .resident = resident_size(),
        .sessions = client_stats_read(engine).allocated,
        .aof_buffer = aof_buffer_size(engine),
        .replication = replication_memory(engine),
        .replicas = engine->uncounted.replicas,
        .uncounted = evict_uncounted_output(engine),
        .full_sync = replication_payload_memory(engine),
    };
    mem_stats_read(&memory.stats);
    if (memory.used > engine->stats.peak_memory) engine->stats.peak_memory = memory.used;
    memory.peak = engine->stats.peak_memory;
    memory.grown = more_than(memory.used, memory.startup);
    memory.overhead = memory.startup + memory.sessions + memory.aof_buffer + memory.replication +
                      own_expiry_allocated(engine);
    for (int64_t i = 0; i < engine->config.databases; i++) {
        memory.tables += keyspace_table_allocated(engine->keyspaces[i]);
        memory.overhead += keyspace_expiring_allocated(engine->keyspaces[i]);
        memory.keys += keyspace_count(engine->keyspaces[i]);
    }
    memory.overhead += memory.tables;
    memory.dataset = more_than(memory.used, memory.overhead);
    return memory;
}
