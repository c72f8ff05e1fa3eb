#include "snapshot/snapshot.h"

#include "base/clock.h"
#include "base/memory/alloc.h"
#include "engine/engine.h"
#include "engine/functions.h"
#include "persist/command_reader.h"
#include "persist/rdb_file.h"
#include "persist/type_format.h"
#include "persist/value_commands.h"
#include "snapshot/disk_file.h"
#include "store/keyspace.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

void snapshot_delay(int64_t delay, uint64_t key_number) {
    if (delay == 0) return;
    if (delay < 0 && key_number % (uint64_t)-delay != 0) return;
    int64_t us = delay < 0 ? 1 : delay;
    nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}, NULL);
}

struct rdb_usage snapshot_usage_of(struct engine *engine, const struct entry *entry) {
    const struct eviction_rules *rules = &engine->eviction;
    uint32_t clock = entry_clock(entry);
    if (eviction_is_lfu(rules->policy))
        return (struct rdb_usage){RDB_USAGE_FREQUENCY, eviction_frequency(rules, clock)};
    if (eviction_is_lru(rules->policy) || eviction_is_lrm(rules->policy))
        return (struct rdb_usage){RDB_USAGE_IDLE, (uint64_t)eviction_idle_seconds(rules, clock)};
    return (struct rdb_usage){RDB_USAGE_NONE, 0};
}

static void write_facts(struct engine *engine, struct rdb_writer *writer, bool aof_base) {
    struct rdb_history history;
    bool has_history = !aof_base && engine->upward->describe_history(engine, &history);
    rdb_write_header(writer, &(struct rdb_facts){.server_version = PACKLIST_REDIS_VERSION,
                                                 .created_s = clock_wall_ms() / 1000,
                                                 .used_memory = mem_used(),
                                                 .aof_base = aof_base,
                                                 .history = has_history ? &history : NULL});
}

void snapshot_write_header(struct engine *engine, struct rdb_writer *writer,
                           enum snapshot_form form) {
    const struct function_set *set = engine->functions->set;
    char line[AOF_TIME_LINE_MAX];
    if (form != SNAPSHOT_COMMANDS)
        write_facts(engine, writer, form == SNAPSHOT_AOF_BASE);
    else if (engine->config.aof_timestamps)
        rdb_write_bytes(writer, line, command_reader_time_line(line, engine->now_ms / 1000));
    for (size_t i = 0; i < set->library_count; i++) {
        struct slice code = sds_slice(set->libraries[i]->code);
        if (form == SNAPSHOT_COMMANDS)
            value_commands_load_function(writer, code);
        else
            rdb_write_function(writer, code);
    }
}

static void write_database(struct engine *engine, struct rdb_writer *writer, int number,
                           bool as_commands) {
    const struct keyspace *keyspace = engine->keyspaces[number];
    uint64_t keys = 0;
    if (keyspace_count(keyspace) == 0) return;
    if (as_commands)
        value_commands_select(writer, number);
    else
        rdb_write_database(writer, (uint64_t)number, keyspace_count(keyspace),
                           keyspace_count_of(keyspace, EXPIRING_KEYS));
    struct keyspace_iter iter;
    keyspace_iter_start(&iter, keyspace);
    struct entry *entry;
    while ((entry = keyspace_iter_next(&iter)) && !writer->error) {
        snapshot_delay(engine->config.rdb_key_save_delay, keys++);
        if (as_commands) {
            type_format_write_commands(writer, entry);
            value_commands_write_expiry(writer, entry);
        } else {
            rdb_write_entry(writer, entry, snapshot_usage_of(engine, entry));
        }
    }
}

static bool write_all(struct engine *engine, struct disk_file *file, enum snapshot_form form) {
    struct rdb_writer writer;
    struct rdb_sink sink = {.write = disk_file_write, .arg = file};
    bool as_commands = form == SNAPSHOT_COMMANDS;
    rdb_writer_start(&writer, sink, engine->config.rdbcompression,
                     engine->config.rdbchecksum && !as_commands);
    snapshot_write_header(engine, &writer, form);
    for (int i = 0; i < engine->databases && !writer.error; i++)
        write_database(engine, &writer, i, as_commands);
    bool done = as_commands ? rdb_writer_flush(&writer) : rdb_write_end(&writer);
    int error = writer.error;
    rdb_writer_end(&writer);
    errno = error;
    return done;
}

bool snapshot_write_file(struct engine *engine, const char *path, bool sync_in_stretches,
                         enum snapshot_form form) {
    struct disk_file file;
    if (!disk_file_create(&file, path, sync_in_stretches)) return false;
    bool done = disk_file_close(&file, write_all(engine, &file, form));
    int error = errno;
    if (!done) unlink(path);
    errno = error;
    return done;
}
