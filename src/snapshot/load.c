#include "snapshot/load.h"

#include "base/clock.h"
#include "base/files/file.h"
#include "base/files/read_ahead.h"
#include "base/text/number.h"
#include "engine/blocking.h"
#include "engine/engine.h"
#include "engine/functions.h"
#include "net/net.h"
#include "snapshot/snapshot.h"
#include "store/keyspace.h"
#include "types/value.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SERVE_EVERY_US = 50000, /* clients, or sooner: see loading-process-events-interval-bytes */
    LOG_EVERY_US = 2000000,
    KEYS_PER_LOOK = 64, /* keys between two reads of the clock */
    LEFT_OUT_SHOWN = 10 /* of each kind, the log names this many keys */
};

/* --- Progress --- */

double load_percent(struct engine *engine) {
    struct load *load = engine->load;
    if (load->total_bytes == 0) return 100;
    double percent = 100.0 * (double)load->loaded_bytes / (double)load->total_bytes;
    return percent < 100 ? percent : 100;
}

int64_t load_seconds_left(struct engine *engine) {
    struct load *load = engine->load;
    double percent = load_percent(engine);
    if (load->loaded_bytes == 0) return 1;
    double elapsed_s = (double)(clock_monotonic_us() - load->begin_us) / 1e6;
    return (int64_t)(elapsed_s * (100 - percent) / percent);
}

void load_begin(struct engine *engine, const char *name, uint64_t total_bytes, unsigned flags) {
    struct load *load = engine->load;
    int64_t now_us = clock_monotonic_us();
    assert(!load->running && total_bytes <= INT64_MAX);
    *load = (struct load){
        .running = true,
        .serves = flags & LOAD_SERVE,
        .name = sds_new(slice_of_cstr(name)),
        .begin_us = now_us,
        .begin_s = clock_wall_ms() / 1000,
        .total_bytes = total_bytes,
        .served_us = now_us,
        .logged_us = now_us,
        .history = {.offset = -1},
    };
    engine->restrictions |= flags & LOAD_BESIDE ? RESTRICTED_LOADING_BESIDE : RESTRICTED_LOADING;
    engine_update_clock(engine);
}

void load_end(struct engine *engine) {
    struct load *load = engine->load;
    assert(load->running);
    load->running = false;
    sds_free(load->name);
    load->name = NULL;
    engine->restrictions &= ~(uint32_t)(RESTRICTED_LOADING | RESTRICTED_LOADING_BESIDE);
}

static void log_progress(struct engine *engine, int64_t now_us) {
    struct load *load = engine->load;
    load->logged_us = now_us;
    log_notice("Loading %s: %.1f%% of %llu MB, about %lld seconds left", load->name,
               load_percent(engine), (unsigned long long)(load->total_bytes >> 20),
               (long long)load_seconds_left(engine));
}

static bool serve(struct engine *engine, int64_t now_us) {
    struct load *load = engine->load;
    load->served_bytes = load->loaded_bytes;
    load->served_us = now_us;
    if (now_us - load->logged_us >= LOG_EVERY_US) log_progress(engine, now_us);
    if (load->serves) {
        engine_update_clock(engine);
        net_poll(engine->net);
    }
    return !engine->shutting_down;
}

bool load_note_offset(struct engine *engine, uint64_t offset) {
    struct load *load = engine->load;
    load->loaded_bytes = offset;
    uint64_t interval = (uint64_t)engine->config.loading_process_events_interval_bytes;
    int64_t now_us = clock_monotonic_us();
    bool due = load->loaded_bytes - load->served_bytes >= interval ||
               now_us - load->served_us >= SERVE_EVERY_US;
    return due ? serve(engine, now_us) : !engine->shutting_down;
}

bool load_note_key(struct engine *engine, uint64_t offset) {
    struct load *load = engine->load;
    load->loaded_bytes = offset;
    snapshot_delay(engine->config.key_load_delay, ++load->keys_visited);
    if (load->keys_visited % KEYS_PER_LOOK && !engine->config.key_load_delay) return true;
    int64_t now_us = clock_monotonic_us();
    return now_us - load->served_us < SERVE_EVERY_US || serve(engine, now_us);
}

/* --- Items --- */

/* What of a file does not come into the databases. */
enum left_out { LEFT_FOREIGN, LEFT_EMPTY, LEFT_OUT_KINDS };

/* How the log says so: "Left out: key … of database 0, a type[which]", and if there are more than
 * it names, "Left out: 12 keys in total[all]". */
static const struct left_out_words {
    enum log_level level;
    const char *which;
    const char *all;
} left_out_words[LEFT_OUT_KINDS] = {
    [LEFT_FOREIGN] = {LOG_WARNING, "", ", of unsupported types"},
    [LEFT_EMPTY] = {LOG_NOTICE, " without elements", " without elements"},
};

struct loader {
    struct rdb_file *file;
    unsigned flags;
    struct keyspace **keyspaces;
    struct function_set *functions; /* NULL: those in force */
    int database;
    bool keeps_expired;                /* expired keys count as such, but are loaded */
    uint64_t left_out[LEFT_OUT_KINDS]; /* keys; of LEFT_FOREIGN also what has no key */
};

static bool note_key(struct engine *engine, struct loader *loader) {
    if (load_note_key(engine, rdb_reader_offset(&loader->file->reader))) return true;
    return rdb_reader_fail(&loader->file->reader, "the server is ending");
}

static bool select_database(struct engine *engine, struct loader *loader, uint64_t number) {
    if (number >= (uint64_t)engine->databases)
        return rdb_reader_fail(&loader->file->reader,
                               "database %llu, but the server has %lld (directive databases)",
                               (unsigned long long)number, (long long)engine->databases);
    loader->database = (int)number;
    return true;
}

/* Returns the key as the log may show it; the caller frees it. */
static sds shown_key(struct engine *engine, struct slice key) {
    if (engine->config.hide_user_data_from_log) return sds_new(SLICE(RDB_HIDDEN_KEY));
    return sds_append_quoted(sds_new(SLICE("")), key);
}

static bool refuse_duplicate(struct engine *engine, struct loader *loader, struct slice key) {
    sds shown = shown_key(engine, key);
    rdb_reader_fail(&loader->file->reader, "key %s is in the database already", shown);
    sds_free(shown);
    return false;
}

static uint32_t clock_of(struct engine *engine, struct rdb_usage usage) {
    int64_t value = usage.value > INT64_MAX ? INT64_MAX : (int64_t)usage.value;
    return eviction_bits(&engine->eviction, usage.kind == RDB_USAGE_IDLE ? value : -1,
                         usage.kind == RDB_USAGE_FREQUENCY ? value : -1);
}

/* Adds the entry, and takes ownership of it. Leaves out an expired key, unless it is kept. False
 * when the load must end. */
static bool add_entry(struct engine *engine, struct loader *loader,
                      const struct rdb_file_item *item) {
    struct load *load = engine->load;
    struct entry *entry = item->entry;
    bool is_expired = entry_has_expired(entry, engine->now_ms) && !(loader->flags & LOAD_EXPIRED);
    load->keys_expired += is_expired;
    if (is_expired && !loader->keeps_expired) {
        value_free(entry);
        return note_key(engine, loader);
    }
    struct keyspace *keyspace = loader->keyspaces[loader->database];
    struct keyref ref = keyspace_find(keyspace, entry_key(entry));
    if (ref.entry && !(loader->flags & LOAD_REPLACE)) {
        bool refused = refuse_duplicate(engine, loader, entry_key(entry));
        value_free(entry);
        return refused;
    }
    if (ref.entry) keyspace_delete(&ref);
    entry_set_clock(entry, clock_of(engine, item->usage));
    keyspace_add(&ref, entry);
    load->keys_loaded += !is_expired;
    return note_key(engine, loader);
}

/* Of the place of the data in a primary's history. */
static void note_history(struct load_history *history, const struct rdb_file_item *item,
                         int64_t number) {
    if (slice_is(item->name, "repl-id") && item->text.len < sizeof(history->id))
        slice_copy(history->id, item->text);
    else if (slice_is(item->name, "repl-offset"))
        history->offset = number;
    else if (slice_is(item->name, "repl-stream-db"))
        history->database = number;
}

static void note_fact(struct engine *engine, unsigned flags, const struct rdb_file_item *item) {
    int64_t number = 0;
    number_parse_int64(item->text, &number);
    if (flags & LOAD_HISTORY) note_history(&engine->load->history, item, number);
    if (slice_is(item->name, "redis-ver")) {
        log_notice("Loading RDB produced by version %.*s", slice_precision(item->text),
                   item->text.ptr);
    } else if (slice_is(item->name, "ctime")) {
        log_notice("RDB age %lld seconds", (long long)(engine->now_ms / 1000 - number));
    } else if (slice_is(item->name, "used-mem")) {
        engine->load->used_memory = (uint64_t)number;
        log_notice("RDB memory usage when created %.2f Mb", (double)number / (1024 * 1024));
    }
}

static void note_left_out(struct engine *engine, struct loader *loader, enum left_out kind,
                          const struct rdb_file_item *item) {
    const struct left_out_words *words = &left_out_words[kind];
    if (++loader->left_out[kind] > LEFT_OUT_SHOWN) return;
    if (kind == LEFT_FOREIGN && !item->key.ptr) {
        log_write(words->level, "Left out: a %s", item->type_name);
        return;
    }
    sds key = shown_key(engine, item->key);
    log_write(words->level, "Left out: key %s of database %d, a %s%s", key, loader->database,
              item->type_name, words->which);
    sds_free(key);
}

static void log_left_out_in_total(const struct loader *loader) {
    for (int kind = 0; kind < LEFT_OUT_KINDS; kind++) {
        const struct left_out_words *words = &left_out_words[kind];
        if (loader->left_out[kind] > LEFT_OUT_SHOWN)
            log_write(words->level, "Left out: %llu keys in total%s",
                      (unsigned long long)loader->left_out[kind], words->all);
    }
}

/* Loads a library of functions. False when the load must end. */
static bool add_function(struct engine *engine, struct loader *loader,
                         const struct rdb_file_item *item) {
    sds error;
    struct function_set *set = loader->functions ? loader->functions : engine->functions->set;
    bool replaces = loader->flags & LOAD_REPLACE;
    unsigned flags = FUNCTION_ACCEPTED | (replaces ? FUNCTION_REPLACES : 0);
    struct function_library *library =
        function_library_new(engine->functions, set, item->text, flags, &error);
    if (library && function_set_add(set, library, replaces, &error)) return true;
    if (library) function_library_release(library);
    rdb_reader_fail(&loader->file->reader, "a library of functions is bad: %s",
                    engine->config.hide_user_data_from_log ? RDB_HIDDEN_KEY : error);
    sds_free(error);
    return false;
}

/* Where replicas can continue from this data they have the expired keys, too: these are kept, and
 * deleted later, with a command in the stream. */
static void take_fact(struct engine *engine, struct loader *loader,
                      const struct rdb_file_item *item) {
    const struct load_history *history = &engine->load->history;
    note_fact(engine, loader->flags, item);
    if (history->id[0] && history->offset >= 0) loader->keeps_expired = true;
}

static bool take_item(struct engine *engine, struct loader *loader,
                      const struct rdb_file_item *item) {
    switch (item->kind) {
    case RDB_ITEM_AUX: take_fact(engine, loader, item); return true;
    case RDB_ITEM_DATABASE: return select_database(engine, loader, item->database);
    case RDB_ITEM_ENTRY: return add_entry(engine, loader, item);
    case RDB_ITEM_FUNCTION: return add_function(engine, loader, item);
    case RDB_ITEM_SKIPPED: note_left_out(engine, loader, LEFT_FOREIGN, item); return true;
    /* As Redis does: some versions of it wrote such keys. */
    case RDB_ITEM_EMPTY: note_left_out(engine, loader, LEFT_EMPTY, item); return true;
    default: return true;
    }
}

/* Returns false, for the caller. If the file holds a value that could be skipped, the log explains
 * how. */
static bool note_foreign(const struct rdb_file *file, const struct rdb_file_item *item) {
    if (item->kind == RDB_ITEM_SKIPPED && item->can_be_skipped && !file->options.skip_unknown)
        log_warning("The file holds values of unsupported types (packlist-check names them). With "
                    "rdb-skip-unknown-types yes the rest is loaded; the next snapshot then "
                    "replaces the file: keep a copy.");
    return false;
}

/* Adds all items of an RDB file to the databases. Returns false when the file is bad: then the file
 * has an error. */
static bool load_items(struct engine *engine, struct rdb_file *file,
                       const struct load_order *order) {
    struct loader loader = {.file = file,
                            .flags = order->flags,
                            .keyspaces = order->keyspaces ? order->keyspaces : engine->keyspaces,
                            .functions = order->functions};
    struct rdb_file_item item = {0};
    do {
        if (!rdb_file_next(file, &item)) return note_foreign(file, &item);
        if (!take_item(engine, &loader, &item)) return false;
    } while (item.kind != RDB_ITEM_END);
    log_left_out_in_total(&loader);
    return true;
}

/* --- Files --- */

struct source {
    struct engine *engine;
    struct rdb_source bytes;
    struct rdb_file file;
};

/* The `read` of a struct rdb_source. Clients are served even in the middle of a large value. */
static ssize_t read_source(void *arg, void *bytes, size_t room) {
    struct source *source = arg;
    if (!load_note_offset(source->engine, rdb_reader_offset(&source->file.reader))) {
        errno = ECANCELED;
        return -1;
    }
    return source->bytes.read(source->bytes.arg, bytes, room);
}

/* The `read` of a struct rdb_source whose `arg` is a struct read_ahead. */
static ssize_t read_file(void *arg, void *bytes, size_t room) {
    return read_ahead_read(arg, bytes, room);
}

/* Logs why loading ended. The file is not called bad if loading ended because the server is
 * ending. */
static void note_failure(const struct rdb_file *file, const char *name, enum load_status status) {
    unsigned long long offset = rdb_reader_error_offset(&file->reader);
    if (status == LOAD_STOPPED)
        log_notice("Loading %s ends at byte %llu: the server is ending", name, offset);
    else
        log_warning("Error loading %s: Internal error in RDB reading offset %llu: %s", name, offset,
                    rdb_reader_error(&file->reader));
}

static enum load_status load_source(struct engine *engine, struct rdb_source bytes,
                                    const struct load_order *order, uint64_t *end) {
    struct rdb_file_options options = {
        .values = {.limits = *engine->value_limits},
        .checksum = engine->config.rdbchecksum && !engine->skip_checksums,
        .skip_unknown = engine->config.rdb_skip_unknown_types,
        .hide_keys = engine->config.hide_user_data_from_log,
    };
    struct source source = {.engine = engine, .bytes = bytes};
    rdb_file_start(&source.file, (struct rdb_source){read_source, &source}, &options);
    enum load_status status = LOAD_DONE;
    if (!load_items(engine, &source.file, order)) {
        status = engine->shutting_down ? LOAD_STOPPED : LOAD_FAILED;
        note_failure(&source.file, order->name, status);
    }
    *end = rdb_reader_offset(&source.file.reader);
    rdb_file_finish(&source.file);
    return status;
}

enum load_status load_rdb_stream(struct engine *engine, int fd, const char *name, unsigned flags,
                                 uint64_t *end) {
    struct read_ahead *ahead = read_ahead_new(fd);
    const struct load_order order = {.name = name, .flags = flags};
    enum load_status status =
        load_source(engine, (struct rdb_source){read_file, ahead}, &order, end);
    read_ahead_free(ahead);
    return status;
}

static void note_success(const struct load *load) {
    log_notice("Done loading RDB, keys loaded: %llu, keys expired: %llu.",
               (unsigned long long)load->keys_loaded, (unsigned long long)load->keys_expired);
}

enum load_status load_rdb_source(struct engine *engine, struct rdb_source source,
                                 const struct load_order *order, uint64_t *end) {
    load_begin(engine, order->name, order->total_bytes, order->flags);
    enum load_status status = load_source(engine, source, order, end);
    load_end(engine);
    if (status == LOAD_DONE) note_success(engine->load);
    return status;
}

enum load_status load_rdb_file(struct engine *engine, const char *path, unsigned flags) {
    struct stat facts = {0};
    uint64_t end;
    int fd = file_open_plain(path, O_RDONLY);
    if (fd < 0 && errno == ENOENT) return LOAD_ABSENT;
    if (fd < 0) {
        log_warning("Can't open %s (in server root dir %s): %s", path, engine->config.dir,
                    strerror(errno));
        return LOAD_FAILED;
    }
    fstat(fd, &facts);
    load_begin(engine, path, (uint64_t)facts.st_size, flags);
    enum load_status status = load_rdb_stream(engine, fd, engine->load->name, flags, &end);
    load_end(engine);
    close(fd);
    if (status == LOAD_DONE) note_success(engine->load);
    return status;
}

enum load_status load_snapshot(struct engine *engine) {
    /* A replica's expired keys are deleted when the primary says so. */
    unsigned flags = LOAD_SERVE | LOAD_HISTORY | (engine->is_replica ? LOAD_EXPIRED : 0);
    enum load_status status = load_rdb_file(engine, engine->config.dbfilename, flags);
    if (status == LOAD_DONE)
        log_notice("DB loaded from disk: %.3f seconds",
                   (double)(clock_monotonic_us() - engine->load->begin_us) / 1e6);
    return status;
}
