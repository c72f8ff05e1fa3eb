/* memory_commands: MEMORY, except for USAGE, which is about one key (commands/keys/object.c); what
 * INFO shows of memory, too. */
#include "admin/admin_commands.h"
#include "admin/memory_stats.h"
#include "aof/aof.h"
#include "engine/claim.h"
#include "engine/engine.h"
#include "engine/functions.h"
#include "engine/own_expiry.h"
#include "reclaim/defrag.h"
#include "reclaim/evict.h"
#include "replication/link/link.h"
#include "replication/primary/primary.h"
#include "resp/reply.h"
#include "script/script.h"
#include "session/client_memory.h"
#include "session/clients.h"
#include "session/session.h"
#include "store/keyspace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* --- Reading --- */

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

/* An allocator that does not tell how full its slabs are tells at least how large its pages are. */
static size_t read_gaps(struct engine *engine, const struct mem_stats *stats) {
    struct relocate_survey survey = relocator_survey(&engine->defrag->relocator);
    return survey.allocated ? survey.unused : more_than(stats->active, stats->allocated);
}

struct memory_stats memory_stats_read(struct engine *engine) {
    struct memory_stats memory = {
        .used = mem_used(),
        .startup = engine->startup_memory,
        .resident = resident_size(),
        .sessions = client_stats_read(engine).allocated,
        .aof_buffer = aof_buffer_size(engine),
        .replication = primary_memory(engine),
        .replicas = engine->uncounted.replicas,
        .uncounted = evict_uncounted_output(engine),
        .full_sync = link_memory(engine),
    };
    mem_stats_read(&memory.stats);
    memory.gaps = read_gaps(engine, &memory.stats);
    stats_note_memory(&engine->stats, memory.used, engine->now_ms / 1000);
    memory.peak = engine->stats.peak_memory;
    memory.grown = more_than(memory.used, memory.startup);
    memory.overhead = memory.startup + memory.sessions + memory.aof_buffer + memory.replication +
                      own_expiry_allocated(engine);
    for (int i = 0; i < engine->databases; i++) {
        memory.tables += keyspace_table_allocated(engine->keyspaces[i]);
        memory.overhead += keyspace_expiring_allocated(engine->keyspaces[i]);
        memory.keys += claims_count_keys(engine, (int)i, ALL_KEYS);
    }
    memory.overhead += memory.tables;
    memory.dataset = more_than(memory.used, memory.overhead);
    return memory;
}

/* --- STATS --- */

/* A difference may be negative, too. */
static void answer_bytes(struct reply *reply, const char *name, size_t bytes) {
    reply_bulk_cstr(reply, name);
    reply_integer(reply, (int64_t)bytes);
}

static void answer_ratio(struct reply *reply, const char *name, double ratio) {
    reply_bulk_cstr(reply, name);
    reply_double(reply, ratio);
}

static size_t answer_general(struct engine *engine, struct reply *reply,
                             const struct memory_stats *memory) {
    answer_bytes(reply, "peak.allocated", memory->peak);
    answer_bytes(reply, "total.allocated", memory->used);
    answer_bytes(reply, "startup.allocated", memory->startup);
    answer_bytes(reply, "replication.backlog", memory->replication - memory->replicas);
    answer_bytes(reply, "replica.fullsync.buffer", memory->full_sync);
    answer_bytes(reply, "clients.slaves", memory->replicas);
    answer_bytes(reply, "clients.normal", memory->sessions);
    answer_bytes(reply, "cluster.links", 0);
    answer_bytes(reply, "aof.buffer", memory->aof_buffer);
    answer_bytes(reply, "lua.caches", script_cache_memory(&engine->scripts->cache));
    answer_bytes(reply, "functions.caches", function_set_memory(engine->functions->set));
    answer_bytes(reply, "script.VMs",
                 machine_memory(engine->scripts->machine) +
                     machine_memory(engine->scripts->functions->machine));
    return 12;
}

static size_t answer_databases(struct engine *engine, struct reply *reply) {
    size_t answered = 0;
    for (int i = 0; i < engine->databases; i++) {
        const struct keyspace *keyspace = engine->keyspaces[i];
        if (keyspace_count(keyspace) == 0) continue;
        sds name = sds_format("db.%lld", (long long)i);
        reply_bulk(reply, sds_slice(name));
        sds_free(name);
        reply_map(reply, 2);
        answer_bytes(reply, "overhead.hashtable.main", keyspace_table_allocated(keyspace));
        answer_bytes(reply, "overhead.hashtable.expires", keyspace_expiring_allocated(keyspace));
        answered++;
    }
    return answered;
}

static size_t answer_data(struct reply *reply, const struct memory_stats *memory) {
    answer_bytes(reply, "overhead.db.hashtable.lut", memory->tables);
    answer_bytes(reply, "overhead.db.hashtable.rehashing", 0); /* a table grows in place */
    answer_bytes(reply, "overhead.total", memory->overhead);
    answer_bytes(reply, "db.dict.rehashing.count", 0);
    answer_bytes(reply, "keys.count", memory->keys);
    answer_bytes(reply, "keys.bytes-per-key", memory->keys ? memory->grown / memory->keys : 0);
    answer_bytes(reply, "dataset.bytes", memory->dataset);
    answer_ratio(reply, "dataset.percentage", 100 * memory_ratio(memory->dataset, memory->grown));
    answer_ratio(reply, "peak.percentage", 100 * memory_ratio(memory->used, memory->peak));
    return 9;
}

static size_t answer_allocator(struct reply *reply, const struct memory_stats *memory) {
    const struct mem_stats *stats = &memory->stats;
    answer_bytes(reply, "allocator.allocated", stats->allocated);
    answer_bytes(reply, "allocator.active", stats->active);
    answer_bytes(reply, "allocator.resident", stats->resident);
    answer_bytes(reply, "allocator.muzzy", stats->muzzy);
    answer_ratio(reply, "allocator-fragmentation.ratio", memory_gap_ratio(memory));
    answer_bytes(reply, "allocator-fragmentation.bytes", memory->gaps);
    answer_ratio(reply, "allocator-rss.ratio", memory_ratio(stats->resident, stats->active));
    answer_bytes(reply, "allocator-rss.bytes", stats->resident - stats->active);
    answer_ratio(reply, "rss-overhead.ratio", memory_ratio(memory->resident, stats->resident));
    answer_bytes(reply, "rss-overhead.bytes", memory->resident - stats->resident);
    answer_ratio(reply, "fragmentation", memory_ratio(memory->resident, memory->used));
    answer_bytes(reply, "fragmentation.bytes", memory->resident - memory->used);
    return 12;
}

/* Names and order are those of Redis 8. */
void memory_stats_command(struct call *call) {
    struct engine *engine = call->engine;
    struct memory_stats memory = memory_stats_read(engine);
    size_t mark = reply_begin(call->reply);
    size_t pairs = answer_general(call->engine, call->reply, &memory);
    pairs += answer_databases(engine, call->reply);
    pairs += answer_data(call->reply, &memory);
    pairs += answer_allocator(call->reply, &memory);
    reply_map_end(call->reply, mark, pairs);
}

/* --- DOCTOR --- */

enum { MB = 1024 * 1024, CLIENT_LARGE = 200 * 1024 };

/* Returns whether clients take more than CLIENT_LARGE bytes on average. */
static bool clients_are_large(struct engine *engine, const struct memory_stats *memory) {
    return engine->clients->sessions.count &&
           memory->sessions / engine->clients->sessions.count > CLIENT_LARGE;
}

/* Returns whether `a` is more than `times` b, and 10 MB more. */
static bool is_more(size_t a, size_t b, double times) {
    return memory_ratio(a, b) > times && memory_difference(a, b) > 10 * MB;
}

static sds append_finding(sds out, const char *finding) {
    return sds_append_cstr(sds_append_cstr(sds_append_cstr(out, "- "), finding), "\n");
}

/* The pages of memory, where there is a limit. */
static sds append_limit_findings(struct engine *engine, sds out, const struct mem_stats *stats) {
    size_t max = (size_t)engine->config.maxmemory;
    bool bounds_pages = engine->config.maxmemory_rss;
    if (max == 0) return out;
    if (bounds_pages && engine->evict->rss.state == RSS_HOLDS)
        return append_finding(out,
                              "The allocator's pages exceed maxmemory, and freeing more brings "
                              "nothing back: what is in use may not grow (maxmemory-rss).");
    if (!bounds_pages && stats->active > max + max / 10)
        return append_finding(out,
                              "The allocator's pages take over a tenth more than maxmemory, "
                              "which counts what lies in them. With maxmemory-rss yes it bounds "
                              "the pages.");
    return out;
}

static sds append_findings(struct engine *engine, sds out, const struct memory_stats *memory) {
    const struct mem_stats *stats = &memory->stats;
    out = append_limit_findings(engine, out, stats);
    if (memory_ratio(memory->peak, memory->used) > 1.5)
        out = append_finding(out, "More than half as much again was in use at the peak.");
    if (is_more(memory->resident, memory->used, 1.4))
        out = append_finding(out, "The process takes much more memory than is in use.");
    if (memory_gap_ratio(memory) > 1.1 && memory->gaps > 10 * MB)
        out = append_finding(out, "The allocator's pages are badly filled: values of many sizes "
                                  "came and went. With activedefrag yes they are moved together "
                                  "once active-defrag-ignore-bytes can be gained.");
    if (is_more(stats->resident, stats->active, 1.1))
        out = append_finding(out, "The allocator keeps pages that hold nothing. MEMORY PURGE "
                                  "returns them to the system.");
    if (is_more(memory->resident, stats->resident, 1.1))
        out = append_finding(out, "The process has much memory that is not the allocator's.");
    if (clients_are_large(engine, memory))
        out = append_finding(out, "Clients take more than 200 KB each on average: CLIENT LIST "
                                  "(tot-mem) names them, maxmemory-clients and "
                                  "client-output-buffer-limit bound them.");
    return out;
}

void memory_doctor_command(struct call *call) {
    struct engine *engine = call->engine;
    struct memory_stats memory = memory_stats_read(engine);
    sds out = sds_new(SLICE(""));
    if (memory.used < 5 * MB) {
        out = sds_append_cstr(out, "Less than 5 MB are in use: too little to say anything about "
                                   "it.\n");
    } else {
        out = append_findings(engine, out, &memory);
        if (sds_len(out) == 0) out = sds_append_cstr(out, "No problem with memory was found.\n");
    }
    call_answer_text(call, out);
}

/* --- PURGE, MALLOC-STATS --- */

void memory_purge_command(struct call *call) {
    mem_purge();
    reply_ok(call->reply);
}

static void add_text(void *arg, const char *text) {
    sds *out = arg;
    *out = sds_append_cstr(*out, text);
}

void memory_malloc_stats_command(struct call *call) {
    sds out = sds_new(SLICE(""));
    mem_print_stats(add_text, &out);
    call_answer_text(call, out);
}

COMMAND_FORM(memory_help_command, call_help,
             "DOCTOR\n"
             "    What is noticeable about the use of memory, in words.\n"
             "MALLOC-STATS\n"
             "    The allocator's own report.\n"
             "PURGE\n"
             "    Return pages that hold nothing to the system.\n"
             "STATS\n"
             "    How memory is used, in numbers.\n"
             "USAGE <key> [SAMPLES <count>]\n"
             "    Return the bytes that <key> and its value take. SAMPLES is accepted, but the\n"
             "    number is always exact.\n")
