/* start_load: loads the snapshot, or runs the commands of the append-only file again
 * (docs/durability.md, section 7).
 *
 * Nothing expires meanwhile (call_is_loading): the file itself says which keys expired. Commands
 * between MULTI and EXEC run when EXEC has been read. A damaged file must not be able to do more
 * than change data, so other commands are refused. */
#include "server/start/start_load.h"

#include "aof/aof.h"
#include "aof/aof_files.h"
#include "base/clock.h"
#include "base/files/file.h"
#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "engine/args.h"
#include "engine/engine.h"
#include "execute/execute.h"
#include "persist/command_reader.h"
#include "persist/rdb_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct queued {
    struct args *args;
    uint64_t offset; /* of the command in the file */
};

struct loader {
    const char *name; /* of the file */
    uint64_t before;  /* bytes of the files loaded before */
    uint64_t total;   /* bytes of all files */
    int fd;
    struct command_reader reader;
    struct requester requester;
    struct reply reply;
    uint64_t offset;      /* of the command that runs */
    struct queued *queue; /* commands since MULTI */
    size_t queue_count;
    size_t queue_capacity;
};

/* --- Running commands --- */

/* Returns a text of the file as the log may show it: users may have written it. */
static struct slice log_safe(struct engine *engine, struct slice text) {
    return engine->config.hide_user_data_from_log ? SLICE(RDB_HIDDEN_KEY) : text;
}

/* Logs why a command of the file was not run. */
static void log_refusal(struct engine *engine, const struct loader *loader, struct slice command) {
    enum call_error error = loader->requester.error;
    const char *why = error == CALL_ERROR_UNKNOWN ? "Unknown command"
                      : error == CALL_ERROR_ARITY ? "Wrong number of arguments for"
                                                  : "Command that has no place there,";
    struct slice name = log_safe(engine, command);
    log_warning("%s '%.*s' reading the append only file %s at offset %llu", why,
                slice_precision(name), name.ptr, loader->name, (unsigned long long)loader->offset);
}

/* The command has replied an error. It had none when it was written to the file: the data would
 * differ from then on, or, after a SELECT, another database would change. */
static void log_failure(struct engine *engine, const struct loader *loader) {
    struct slice error =
        log_safe(engine, slice_make(loader->reply.data + 1, loader->reply.len - 3));
    log_warning("'%s' of the append only file %s at offset %llu cannot be run here: %.*s",
                loader->requester.last_command->name, loader->name,
                (unsigned long long)loader->offset, slice_precision(error), error.ptr);
}

/* Runs the command at an offset of the file. Returns false on failure. */
static bool run(struct engine *engine, struct loader *loader, const struct slice *argv, size_t argc,
                uint64_t offset) {
    loader->offset = offset;
    if (execute_from_file(&loader->requester, &loader->reply, argv, argc) == EXECUTION_REFUSED) {
        log_refusal(engine, loader, argv[0]);
        return false;
    }
    if (loader->requester.error) {
        log_failure(engine, loader);
        return false;
    }
    loader->reply.len = 0;
    return load_note_key(engine, loader->before + loader->reader.offset);
}

/* --- MULTI and EXEC --- */

static void queue(struct loader *loader, const struct slice *argv, size_t argc) {
    MEM_RESERVE(loader->queue, loader->queue_capacity, loader->queue_count + 1);
    loader->queue[loader->queue_count++] =
        (struct queued){args_copy(argv, argc), loader->reader.offset};
}

static void drop_queue(struct loader *loader) {
    for (size_t i = 0; i < loader->queue_count; i++) args_free(loader->queue[i].args);
    loader->queue_count = 0;
}

static bool run_queue(struct engine *engine, struct loader *loader) {
    bool done = true;
    for (size_t i = 0; done && i < loader->queue_count; i++) {
        const struct queued *queued = &loader->queue[i];
        done = run(engine, loader, queued->args->argv, queued->args->argc, queued->offset);
    }
    drop_queue(loader);
    return done;
}

/* --- Reading --- */

/* The `read` of a struct rdb_source. */
static ssize_t read_source(void *arg, void *bytes, size_t room) {
    struct loader *loader = arg;
    struct engine *engine = loader->requester.engine;
    ssize_t count = file_read_some(loader->fd, bytes, room);
    if (count < 0)
        log_warning("Unrecoverable error reading the append only file %s: %s", loader->name,
                    strerror(errno));
    if (count < 0 || load_note_offset(engine, loader->before + loader->reader.offset)) return count;
    errno = ECANCELED;
    return -1;
}

/* Runs or queues the item. Returns false on failure. */
static bool take_item(struct engine *engine, struct loader *loader, enum command_read read) {
    const struct command_parser *item = &loader->reader.parser;
    if (read == COMMAND_READ_EXEC) return run_queue(engine, loader);
    if (read != COMMAND_READ_COMMAND) return true;
    if (!loader->reader.in_multi)
        return run(engine, loader, item->argv, item->argc, loader->reader.offset);
    queue(loader, item->argv, item->argc);
    return true;
}

/* Runs all commands of a file. Returns what is at its end, or COMMAND_READ_FAILED when a command
 * failed. */
static enum command_read run_commands(struct engine *engine, struct loader *loader) {
    enum command_read read;
    while ((read = command_reader_next(&loader->reader)) <= COMMAND_READ_ANNOTATION)
        if (!take_item(engine, loader, read)) return COMMAND_READ_FAILED;
    return read;
}

/* Loads the snapshot at the begin of a base, if there is one; *end gets its end. Commands may
 * follow it. */
static bool load_preamble(struct engine *engine, struct loader *loader, unsigned flags,
                          uint64_t *end) {
    char magic[RDB_MAGIC_SIZE];
    ssize_t count = pread(loader->fd, magic, sizeof(magic), 0);
    *end = 0;
    if (count == 0 && rdb_file_is_named(loader->name)) {
        log_warning("The base file %s of the append-only file is empty: its snapshot is lost",
                    loader->name);
        return false;
    }
    if (count < 0 || !rdb_file_begins(slice_make(magic, (size_t)count))) return true;
    log_notice("Reading RDB base file on AOF loading...");
    return load_rdb_stream(engine, loader->fd, loader->name, flags | LOAD_EXPIRED, end) ==
               LOAD_DONE &&
           lseek(loader->fd, (off_t)*end, SEEK_SET) >= 0;
}

/* --- Files --- */

/* Returns whether all later files are empty. A rewrite that was ended early leaves empty files. */
static bool is_last(const struct loader *loader) {
    struct stat facts;
    return fstat(loader->fd, &facts) == 0 &&
           loader->before + (uint64_t)facts.st_size >= loader->total;
}

/* Truncates the file after its last whole command or transaction. */
static bool truncate_file(const struct loader *loader, const char *path) {
    if (truncate(path, (off_t)loader->reader.whole) == 0) return true;
    log_warning("Error truncating the AOF file %s: %s", loader->name, strerror(errno));
    return false;
}

/* Handles a file that ends inside a command: truncates it, if aof-load-truncated allows that. */
static bool cut_off(struct engine *engine, struct loader *loader, const char *path) {
    unsigned long long whole = loader->reader.whole;
    if (!engine->config.aof_load_truncated) {
        log_warning("Unexpected end of file reading the append only file %s: it is whole up to "
                    "offset %llu. Make a backup of it, then either cut it with packlist-check "
                    "--fix, or set aof-load-truncated to yes and start the server again.",
                    loader->name, whole);
        return false;
    }
    log_warning("!!! Warning: short read while loading the AOF file %s!!!", loader->name);
    log_warning("AOF %s loaded anyway because aof-load-truncated is enabled: truncating it at "
                "offset %llu",
                loader->name, whole);
    return truncate_file(loader, path);
}

/* Handles a file with bytes that are no command: truncates it there, if
 * aof-load-corrupt-tail-max-size allows to lose so many bytes. As in Redis, they must be fewer. */
static bool cut_corrupt(struct engine *engine, struct loader *loader, const char *path) {
    unsigned long long whole = loader->reader.whole;
    struct stat facts;
    log_warning("Bad file format reading the append only file %s, in the command at offset %llu: "
                "%s. Make a backup of your AOF file, then use packlist-check --fix.",
                loader->name, (unsigned long long)loader->reader.offset, loader->reader.error);
    if (!is_last(loader) || fstat(loader->fd, &facts) != 0) return false;
    unsigned long long lost = (unsigned long long)facts.st_size - whole;
    if (lost >= (uint64_t)engine->config.aof_load_corrupt_tail_max_size) {
        log_warning("To lose the last %llu bytes of %s, set aof-load-corrupt-tail-max-size to %llu "
                    "and start the server again.",
                    lost, loader->name, lost + 1);
        return false;
    }
    log_warning("!!! Warning: corrupt AOF file tail!!!");
    log_warning("AOF %s loaded anyway because aof-load-corrupt-tail-max-size is enabled: "
                "truncating it at offset %llu, without the last %llu bytes",
                loader->name, whole, lost);
    return truncate_file(loader, path);
}

static bool load_opened(struct engine *engine, struct loader *loader, const char *path,
                        unsigned flags) {
    uint64_t begin;
    if (!load_preamble(engine, loader, flags, &begin)) return false;
    command_reader_start(&loader->reader, (struct rdb_source){read_source, loader}, begin);
    enum command_read read = run_commands(engine, loader);
    if (read == COMMAND_READ_BAD) return cut_corrupt(engine, loader, path);
    if (read != COMMAND_READ_CUT) return read == COMMAND_READ_END;
    if (is_last(loader)) return cut_off(engine, loader, path);
    log_warning(
        "The append only file %s ends inside a command at offset %llu, and others follow it",
        loader->name, (unsigned long long)loader->reader.whole);
    return false;
}

/* Loads one file. `before`: bytes of the files loaded before it; `total`: bytes of all files. *size
 * gets the bytes of this one. */
static bool load_file(struct engine *engine, const struct aof_file *file, unsigned flags,
                      uint64_t before, uint64_t total, uint64_t *size) {
    struct loader loader = {
        .name = file->name, .before = before, .total = total, .requester = {.engine = engine}};
    sds path = aof_files_path(engine, file->name);
    int64_t begun_us = clock_monotonic_us();
    reply_init(&loader.reply, 0);
    loader.fd = file_open_plain(path, O_RDONLY);
    bool done = loader.fd >= 0 && load_opened(engine, &loader, path, flags);
    if (loader.fd < 0)
        log_warning("Can't open the append only file %s: %s", path, strerror(errno));
    else
        close(loader.fd);
    if (done)
        log_notice("DB loaded from %s file %s: %.3f seconds",
                   file->type == AOF_FILE_BASE ? "base" : "incr", file->name,
                   (double)(clock_monotonic_us() - begun_us) / 1e6);
    *size = loader.reader.whole;
    drop_queue(&loader);
    mem_free(loader.queue);
    reply_free(&loader.reply);
    command_reader_end(&loader.reader);
    sds_free(path);
    return done;
}

static bool load_files(struct engine *engine, unsigned flags, uint64_t total) {
    struct aof *aof = engine->aof;
    const struct aof_manifest *manifest = &aof->manifest;
    aof->total_size = aof->size_after_rewrite = 0;
    for (size_t i = 0; i < manifest->count; i++) {
        const struct aof_file *file = &manifest->files[i];
        uint64_t size;
        if (file->type == AOF_FILE_HISTORY) continue;
        if (!load_file(engine, file, flags, aof->total_size, total, &size)) return false;
        aof->total_size += size;
        if (file->type == AOF_FILE_BASE) aof->size_after_rewrite = size;
    }
    return true;
}

/* Returns the bytes of all files to be loaded. */
static uint64_t bytes_to_load(struct engine *engine) {
    const struct aof_manifest *manifest = &engine->aof->manifest;
    uint64_t total = 0;
    for (size_t i = 0; i < manifest->count; i++) {
        struct stat facts;
        sds path = aof_files_path(engine, manifest->files[i].name);
        bool counts = manifest->files[i].type != AOF_FILE_HISTORY && stat(path, &facts) == 0;
        total += counts ? (uint64_t)facts.st_size : 0;
        sds_free(path);
    }
    return total;
}

/* Loading changes neither the dirty counter nor the command log. */
enum load_status start_load_aof(struct engine *engine, unsigned flags) {
    assert(!command_log_is_inside_unit(&engine->command_log));
    uint64_t dirty = engine->dirty;
    uint64_t total = bytes_to_load(engine);
    load_begin(engine, engine->config.appendfilename, total, flags);
    command_log_suspend(&engine->command_log);
    bool done = load_files(engine, flags, total);
    command_log_resume(&engine->command_log);
    engine->dirty = dirty;
    load_end(engine);
    if (done) return LOAD_DONE;
    return engine->shutting_down ? LOAD_STOPPED : LOAD_FAILED;
}

/* --- The start --- */

/* A client may have changed appendonly while data was loaded. */
static void follow_appendonly(struct engine *engine) {
    sds error = NULL;
    if (aof_configure(engine, &error)) return;
    log_warning("appendonly: %s", error);
    engine->config.appendonly = false;
    sds_free(error);
}

static enum load_status load_with_aof(struct engine *engine) {
    struct aof_opening opening;
    if (!aof_open(engine, &opening)) return LOAD_FAILED;
    enum load_status status =
        opening.is_new ? load_snapshot(engine) : start_load_aof(engine, LOAD_SERVE);
    if (status == LOAD_FAILED || status == LOAD_STOPPED) return status;
    if (opening.is_new && status == LOAD_DONE)
        log_notice("There is no append-only file yet: it begins with the data of the snapshot");
    return aof_begin(engine, opening) ? LOAD_DONE : LOAD_FAILED;
}

enum load_status start_load(struct engine *engine) {
    enum load_status status =
        engine->config.appendonly ? load_with_aof(engine) : load_snapshot(engine);
    if (status == LOAD_DONE || status == LOAD_ABSENT) follow_appendonly(engine);
    return status;
}
