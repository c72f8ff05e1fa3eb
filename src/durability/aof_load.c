/* aof_load: the commands of the append-only file are run again.
 *
 * Nothing expires meanwhile (call->is_loading): that keys ended is told by the file. Commands
 * between MULTI and EXEC are run when EXEC has come, so that a file which ends before it leaves no
 * trace of them. A damaged file must not do anything but change data: other commands are not
 * run. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "durability/aof_files.h"
#include "durability/aof_internal.h"
#include "persist/aof_format.h"
#include "persist/rdb_file.h"
#include "server/args.h"
#include "server/dispatch.h"
#include "server/server_commands.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Read at once; a longer command makes the buffer grow with what has come of it. */
#ifdef TINY_LIMITS
enum { BUFFER_SIZE = 64 };
#else
enum { BUFFER_SIZE = 128 * 1024 };
#endif

struct loader {
    const char *name; /* of the file */
    uint64_t before;  /* bytes of the files before it */
    int fd;
    char *bytes; /* [begin, end) are to be parsed */
    size_t begin;
    size_t end;
    size_t capacity;
    uint64_t offset; /* of bytes[begin] in the file */
    bool at_end;     /* of the file */
    struct aof_parser parser;
    struct session session; /* of no connection */
    struct reply reply;
    const struct command *last_command;
    struct args **queue; /* commands since MULTI */
    size_t queue_count;
    size_t queue_capacity;
    bool in_multi;
    uint64_t whole;  /* the file is whole up to here */
    uint64_t errors; /* that commands have answered */
};

static bool fail_format(struct loader *loader, const char *what) {
    log_warning("Bad file format reading the append only file %s, in the command at offset %llu: "
                "%s. Make a backup of your AOF file, then use packlist-check --fix.",
                loader->name, (unsigned long long)loader->offset, what);
    return false;
}

/* --- Running commands --- */

/* Those that write, and SELECT; but a file reaches no other server. */
static bool may_stand_in_file(const struct command *command) {
    if (command->run == migrate_command) return false;
    return command->flags & COMMAND_WRITE || command->run == select_command;
}

/* Finds the command; NULL, with a line in the log, if it is none that may stand in the file. */
static const struct command *find_command(struct loader *loader, const struct slice *argv,
                                          size_t argc) {
    const struct command *command = command_find_cached(loader->last_command, argv[0]);
    const char *why = NULL;
    if (command == NULL)
        why = "Unknown command";
    else if (!may_stand_in_file(command))
        why = "Command that has no place there,";
    else if (!command_accepts(command, argc))
        why = "Wrong number of arguments for";
    if (why) {
        log_warning("%s '%.*s' reading the append only file %s at offset %llu", why,
                    slice_precision(argv[0]), argv[0].ptr, loader->name,
                    (unsigned long long)loader->offset);
        return NULL;
    }
    return loader->last_command = command;
}

/* A command that did not fail when it was written to the file does so now. */
static void note_answer(struct loader *loader, const struct command *command) {
    enum { SHOWN_MAX = 10 };
    const struct reply *reply = &loader->reply;
    if (reply->len == 0 || reply->data[0] != '-' || ++loader->errors > SHOWN_MAX) return;
    log_warning("'%s' of the append only file %s at offset %llu answers an error: %.*s",
                command->name, loader->name, (unsigned long long)loader->offset,
                (int)reply->len - 3, reply->data + 1);
}

static bool run(struct loader *loader, const struct slice *argv, size_t argc) {
    const struct command *command = find_command(loader, argv, argc);
    if (command == NULL) return false;
    struct call call = dispatch_call(&loader->session, &loader->reply, command, argv, argc);
    call.may_block = false;
    call.is_loading = true;
    command->run(&call);
    note_answer(loader, command);
    loader->reply.len = 0;
    return load_note_key(loader->before + loader->offset);
}

/* --- MULTI and EXEC --- */

static void queue(struct loader *loader, const struct slice *argv, size_t argc) {
    if (loader->queue_count == loader->queue_capacity)
        loader->queue = mem_grow(loader->queue, &loader->queue_capacity, sizeof(*loader->queue));
    loader->queue[loader->queue_count++] = args_copy(argv, argc);
}

static void drop_queue(struct loader *loader) {
    for (size_t i = 0; i < loader->queue_count; i++) args_free(loader->queue[i]);
    loader->queue_count = 0;
    loader->in_multi = false;
}

static bool run_queue(struct loader *loader) {
    bool done = true;
    for (size_t i = 0; done && i < loader->queue_count; i++)
        done = run(loader, loader->queue[i]->argv, loader->queue[i]->argc);
    drop_queue(loader);
    return done;
}

static bool take_command(struct loader *loader, const struct slice *argv, size_t argc) {
    if (argc == 1 && slice_is(argv[0], "multi")) {
        if (loader->in_multi) return fail_format(loader, "MULTI inside MULTI");
        loader->in_multi = true;
        return true;
    }
    if (argc == 1 && slice_is(argv[0], "exec"))
        return loader->in_multi ? run_queue(loader) : fail_format(loader, "EXEC without MULTI");
    if (!loader->in_multi) return run(loader, argv, argc);
    queue(loader, argv, argc);
    return true;
}

/* --- Reading --- */

/* Reads more behind the bytes that are there; false, with a line in the log, when that fails. */
static bool fill(struct loader *loader) {
    size_t have = loader->end - loader->begin;
    if (loader->begin > 0) {
        memmove(loader->bytes, loader->bytes + loader->begin, have);
        loader->begin = 0;
        loader->end = have;
    }
    if (have == loader->capacity) {
        loader->capacity = have ? have * 2 : BUFFER_SIZE;
        loader->bytes = mem_realloc(loader->bytes, loader->capacity);
    }
    ssize_t count = read(loader->fd, loader->bytes + have, loader->capacity - have);
    if (count < 0 && errno == EINTR) return true;
    if (count < 0) {
        log_warning("Unrecoverable error reading the append only file %s: %s", loader->name,
                    strerror(errno));
        return false;
    }
    loader->end += (size_t)count;
    loader->at_end = count == 0;
    return load_note_offset(loader->before + loader->offset);
}

static void consume(struct loader *loader, size_t count) {
    loader->begin += count;
    loader->offset += count;
    if (!loader->in_multi) loader->whole = loader->offset;
}

enum step { STEP_DONE, STEP_MORE, STEP_FAILED };

/* Takes one command, or one annotation, if it is there whole. */
static enum step take_one(struct loader *loader) {
    struct aof_parser *parser = &loader->parser;
    switch (aof_parse(parser, loader->bytes + loader->begin, loader->end - loader->begin)) {
    case AOF_ITEM_MORE: return STEP_MORE;
    case AOF_ITEM_BAD: fail_format(loader, parser->error); return STEP_FAILED;
    case AOF_ITEM_ANNOTATION: break;
    case AOF_ITEM_COMMAND:
        if (!take_command(loader, parser->argv, parser->argc)) return STEP_FAILED;
    }
    consume(loader, parser->consumed);
    return STEP_DONE;
}

/* Runs the commands of a file as far as it is whole. */
static bool run_commands(struct loader *loader) {
    for (;;) {
        enum step step = take_one(loader);
        if (step == STEP_FAILED) return false;
        if (step == STEP_DONE) continue;
        if (loader->at_end) return true;
        if (!fill(loader)) return false;
    }
}

static bool begins_with(int fd, struct slice text) {
    char bytes[RDB_MAGIC_SIZE];
    return pread(fd, bytes, text.len, 0) == (ssize_t)text.len &&
           memcmp(bytes, text.ptr, text.len) == 0;
}

/* A base may begin with a snapshot, and commands may stand behind it. */
static bool load_preamble(struct loader *loader, unsigned flags) {
    if (!begins_with(loader->fd, SLICE(RDB_MAGIC)) &&
        !begins_with(loader->fd, SLICE(RDB_MAGIC_VALKEY)))
        return true;
    log_notice("Reading RDB base file on AOF loading...");
    if (load_rdb_stream(loader->fd, loader->name, flags | LOAD_EXPIRED, &loader->offset) !=
        LOAD_DONE)
        return false;
    loader->whole = loader->offset;
    return lseek(loader->fd, (off_t)loader->offset, SEEK_SET) >= 0;
}

/* --- Files --- */

/* The file ends inside a command. */
static bool cut_off(struct loader *loader, const char *path) {
    if (!server.config.aof_load_truncated) {
        log_warning("Unexpected end of file reading the append only file %s: it is whole up to "
                    "offset %llu. Make a backup of it, then either cut it with packlist-check "
                    "--fix, or set aof-load-truncated to yes and start the server again.",
                    loader->name, (unsigned long long)loader->whole);
        return false;
    }
    log_warning("!!! Warning: short read while loading the AOF file %s!!!", loader->name);
    log_warning("AOF %s loaded anyway because aof-load-truncated is enabled: truncating it at "
                "offset %llu",
                loader->name, (unsigned long long)loader->whole);
    if (truncate(path, (off_t)loader->whole) != 0) {
        log_warning("Error truncating the AOF file %s: %s", loader->name, strerror(errno));
        return false;
    }
    loader->offset = loader->whole;
    return true;
}

static bool load_opened(struct loader *loader, const char *path, unsigned flags, bool is_last) {
    if (!load_preamble(loader, flags) || !run_commands(loader)) return false;
    if (loader->end == loader->begin && !loader->in_multi) return true;
    if (is_last) return cut_off(loader, path);
    log_warning(
        "The append only file %s ends inside a command at offset %llu, and others follow it",
        loader->name, (unsigned long long)loader->whole);
    return false;
}

/* Loads one file behind the bytes of others; *size gets its own. */
static bool load_file(const struct aof_file *file, unsigned flags, bool is_last, uint64_t before,
                      uint64_t *size) {
    struct loader loader = {.name = file->name, .before = before};
    sds path = aof_files_path(file->name);
    int64_t begun_us = clock_monotonic_us();
    reply_init(&loader.reply, 0);
    loader.fd = open(path, O_RDONLY | O_CLOEXEC);
    bool done = loader.fd >= 0 && load_opened(&loader, path, flags, is_last);
    if (loader.fd < 0)
        log_warning("Can't open the append only file %s: %s", path, strerror(errno));
    else
        close(loader.fd);
    if (done)
        log_notice("DB loaded from %s file %s: %.3f seconds",
                   file->type == AOF_FILE_BASE ? "base" : "incr", file->name,
                   (double)(clock_monotonic_us() - begun_us) / 1e6);
    *size = loader.offset;
    drop_queue(&loader);
    mem_free(loader.queue);
    reply_free(&loader.reply);
    aof_parser_free(&loader.parser);
    mem_free(loader.bytes);
    sds_free(path);
    return done;
}

static bool load_files(unsigned flags) {
    struct aof *aof = aof_state();
    const struct aof_manifest *manifest = &aof->manifest;
    aof->total_size = aof->base_size = 0;
    for (size_t i = 0; i < manifest->count; i++) {
        const struct aof_file *file = &manifest->files[i];
        uint64_t size;
        if (file->type == AOF_FILE_HISTORY) continue;
        if (!load_file(file, flags, i + 1 == manifest->count, aof->total_size, &size)) return false;
        aof->total_size += size;
        if (file->type == AOF_FILE_BASE) aof->base_size = size;
    }
    return true;
}

/* Bytes of the files that are to be loaded. */
static uint64_t bytes_to_load(void) {
    const struct aof_manifest *manifest = &aof_state()->manifest;
    uint64_t total = 0;
    for (size_t i = 0; i < manifest->count; i++) {
        struct stat facts;
        sds path = aof_files_path(manifest->files[i].name);
        bool counts = manifest->files[i].type != AOF_FILE_HISTORY && stat(path, &facts) == 0;
        total += counts ? (uint64_t)facts.st_size : 0;
        sds_free(path);
    }
    return total;
}

/* What is loaded is no change, and not to be told again. */
enum load_status aof_load(unsigned flags) {
    uint64_t dirty = server.dirty;
    bool was_told = server.propagation.is_on;
    load_begin(server.config.appendfilename, bytes_to_load(), flags & LOAD_SERVE);
    server.propagation.is_on = false;
    bool done = load_files(flags);
    server.propagation.is_on = was_told;
    server.dirty = dirty;
    load_end();
    if (done) return LOAD_DONE;
    return server.shutting_down ? LOAD_STOPPED : LOAD_FAILED;
}
