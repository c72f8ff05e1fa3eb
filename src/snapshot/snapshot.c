#include "snapshot/snapshot.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "engine/functions.h"
#include "persist/rdb_file.h"
#include "snapshot/child.h"
#include "snapshot/disk_file.h"
#include "snapshot/key_delay.h"
#include "store/keyspace.h"

#include <errno.h>
#include <unistd.h>

/* Keys between two calls of child_note_keys. */
enum { KEYS_PER_NOTE = 1024 };

struct snapshot {
    struct engine *engine;
    struct rdb_writer writer;
    struct disk_file file;
    uint64_t keys;
};

static bool write_bytes(void *arg, const void *bytes, size_t len) {
    struct snapshot *snapshot = arg;
    child_note_keys(snapshot->engine, snapshot->keys);
    return disk_file_write(&snapshot->file, bytes, len);
}

struct rdb_usage snapshot_usage_of(struct engine *engine, const struct entry *entry) {
    const struct eviction_rules *rules = &engine->eviction;
    uint32_t clock = entry_clock(entry);
    if (eviction_is_lfu(rules->policy))
        return (struct rdb_usage){RDB_USAGE_FREQUENCY,
                                  access_lfu_frequency(clock, rules->lfu_minute, &rules->lfu)};
    if (eviction_is_lru(rules->policy))
        return (struct rdb_usage){RDB_USAGE_IDLE,
                                  (uint64_t)access_lru_idle_seconds(clock, rules->lru_clock)};
    return (struct rdb_usage){RDB_USAGE_NONE, 0};
}

void snapshot_write_header(struct engine *engine, struct rdb_writer *writer, int64_t created_s,
                           bool aof_base) {
    const struct function_set *set = engine->functions->set;
    struct rdb_history history;
    bool has_history = !aof_base && engine->describe_history(engine, &history);
    rdb_write_header(writer, &(struct rdb_facts){.server_version = PACKLIST_REDIS_VERSION,
                                                 .created_s = created_s,
                                                 .used_memory = mem_used(),
                                                 .aof_base = aof_base,
                                                 .history = has_history ? &history : NULL});
    for (size_t i = 0; i < set->library_count; i++)
        rdb_write_function(writer, sds_slice(set->libraries[i]->code));
}

static void write_database(struct engine *engine, struct snapshot *snapshot, int number) {
    const struct keyspace *keyspace = engine->keyspaces[number];
    if (keyspace_count(keyspace) == 0) return;
    rdb_write_database(&snapshot->writer, (uint64_t)number, keyspace_count(keyspace),
                       keyspace_expiring_count(keyspace, EXPIRING_KEYS));
    struct keyspace_iter iter;
    keyspace_iter_start(&iter, keyspace);
    struct entry *entry;
    while ((entry = keyspace_iter_next(&iter)) && !snapshot->writer.error) {
        key_delay(engine->config.rdb_key_save_delay, snapshot->keys);
        rdb_write_entry(&snapshot->writer, entry, snapshot_usage_of(engine, entry));
        if (++snapshot->keys % KEYS_PER_NOTE == 0) child_note_keys(engine, snapshot->keys);
    }
}

static bool write_all(struct engine *engine, struct snapshot *snapshot, bool aof_base) {
    struct rdb_writer *writer = &snapshot->writer;
    struct rdb_sink sink = {.write = write_bytes, .arg = snapshot};
    rdb_writer_start(writer, sink, engine->config.rdbcompression, engine->config.rdbchecksum);
    snapshot_write_header(engine, writer, clock_wall_ms() / 1000, aof_base);
    for (int i = 0; i < engine->config.databases && !writer->error; i++)
        write_database(engine, snapshot, i);
    bool done = rdb_write_end(writer);
    int error = writer->error;
    rdb_writer_end(writer);
    errno = error;
    return done;
}

bool snapshot_write_file(struct engine *engine, const char *path, bool sync_in_stretches,
                         bool aof_base) {
    struct snapshot snapshot = {.engine = engine};
    if (!disk_file_create(&snapshot.file, path, sync_in_stretches)) return false;
    bool done = disk_file_close(&snapshot.file, write_all(engine, &snapshot, aof_base));
    int error = errno;
    if (!done) unlink(path);
    child_note_keys(engine, snapshot.keys);
    errno = error;
    return done;
}
