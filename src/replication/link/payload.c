#include "replication/link/payload.h"

#include "base/files/new_file.h"
#include "base/memory/alloc.h"
#include "engine/engine.h"
#include "net/loop/pool.h"
#include "net/net.h"
#include "snapshot/disk_file.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Belongs to a thread while it is busy. */
struct payload_file {
    struct link_payload *payload; /* NULL: it was given up */
    struct net *net;
    struct disk_file disk;
    sds path;
    struct reply bytes; /* to be written */
    bool is_busy;
    bool is_last;   /* nothing comes after these bytes */
    bool is_closed; /* it is whole, and on the disk */
    bool is_kept;
    int error;
};

/* --- The file --- */

static void free_file(void *arg) {
    struct payload_file *file = arg;
    reply_free(&file->bytes);
    sds_free(file->path);
    mem_free(file);
}

/* Removing a large file takes long. */
static void remove_file(void *arg) {
    struct payload_file *file = arg;
    if (!file->is_closed) disk_file_close(&file->disk, false);
    if (!file->is_kept) unlink(file->path);
}

static void give_up_file(struct payload_file *file) {
    file->payload = NULL;
    if (!file->is_busy) net_pool_run(file->net, remove_file, free_file, file);
}

static void write_file(void *arg) {
    struct payload_file *file = arg;
    if (!disk_file_write(&file->disk, file->bytes.data, file->bytes.len)) {
        file->error = errno;
    } else if (file->is_last) {
        file->is_closed = true;
        if (!disk_file_close(&file->disk, true)) file->error = errno;
    }
}

static void write_more(struct link_payload *payload);

static void on_written(void *arg) {
    struct payload_file *file = arg;
    file->is_busy = false;
    file->bytes.len = 0;
    struct link_payload *payload = file->payload;
    if (!payload) {
        give_up_file(file);
        return;
    }
    if (!file->error && !file->is_closed) write_more(payload);
    payload->moved(payload->engine);
}

/* Lets a thread write what has come, unless it is busy or too little has come. */
static void write_more(struct link_payload *payload) {
    struct payload_file *file = payload->file;
    if (file->is_busy || (payload->bytes.len < PAYLOAD_WRITE_AT && !payload->is_whole)) return;
    struct reply empty = file->bytes;
    file->bytes = payload->bytes;
    payload->bytes = empty;
    file->is_busy = true;
    file->is_last = payload->is_whole;
    net_pool_run(file->net, write_file, on_written, file);
}

static struct payload_file *open_file(struct link_payload *payload) {
    struct engine *engine = payload->engine;
    struct payload_file *file = mem_alloc_zeroed(sizeof(*file));
    file->payload = payload;
    file->net = engine->net;
    sds name = new_file_name("temp-sync-", ".rdb");
    file->path = sds_format("%s/%s", engine->config.dir, name);
    sds_free(name);
    reply_init(&file->bytes, 0);
    if (disk_file_create(&file->disk, file->path, engine->config.rdb_save_incremental_fsync))
        return file;
    int error = errno;
    free_file(file);
    errno = error;
    return NULL;
}

void link_payload_remove_leftovers(void) {
    disk_file_remove_leftovers(".", "temp-sync-", ".rdb");
}

size_t link_payload_memory(const struct link_payload *payload) {
    return payload->bytes.capacity + (payload->file ? payload->file->bytes.capacity : 0);
}

const char *link_payload_path(const struct link_payload *payload) {
    return payload->file ? payload->file->path : NULL;
}

void link_payload_keep_file(struct link_payload *payload) {
    payload->file->is_kept = true;
}

/* --- Begin and end --- */

void link_payload_init(struct link_payload *payload, struct engine *engine,
                       void (*moved)(struct engine *engine)) {
    *payload = (struct link_payload){.engine = engine, .moved = moved};
    reply_init(&payload->bytes, 0);
}

void link_payload_end(struct link_payload *payload) {
    if (!payload->is_active) return;
    bool is_loading = payload->is_loading;
    if (payload->file) give_up_file(payload->file);
    reply_free(&payload->bytes);
    link_payload_init(payload, payload->engine, payload->moved);
    payload->is_loading = payload->is_failed = is_loading;
}

bool link_payload_begin(struct link_payload *payload, const char *mark, uint64_t total,
                        bool to_disk) {
    assert(!payload->is_active && !payload->is_loading);
    payload->is_active = true;
    payload->is_marked = mark != NULL;
    payload->total = total;
    if (mark) memcpy(payload->mark, mark, PAYLOAD_MARK_LEN);
    if (to_disk && !(payload->file = open_file(payload))) return false;
    payload->is_whole = !mark && total == 0;
    if (to_disk) write_more(payload);
    return true;
}

bool link_payload_is_whole(const struct link_payload *payload) {
    const struct payload_file *file = payload->file;
    return payload->is_whole && (!file || (!file->is_busy && file->is_closed));
}

bool link_payload_is_full(const struct link_payload *payload) {
    return payload->bytes.len - payload->begin >= PAYLOAD_BYTES_MAX;
}

int link_payload_error(const struct link_payload *payload) {
    const struct payload_file *file = payload->file;
    return file && !file->is_busy ? file->error : 0;
}

/* --- Bytes --- */

/* Takes bytes that may end with the mark: the last ones are held back. */
static void take_marked(struct link_payload *payload, const char *bytes, size_t len) {
    size_t more = len < PAYLOAD_MARK_LEN ? len : PAYLOAD_MARK_LEN; /* of the new ones, kept */
    size_t most = PAYLOAD_MARK_LEN - more;                         /* of the old ones, kept */
    size_t old = payload->tail_len < most ? payload->tail_len : most;
    size_t out = payload->tail_len - old;
    reply_raw(&payload->bytes, slice_make(payload->tail, out));
    memmove(payload->tail, payload->tail + out, old);
    reply_raw(&payload->bytes, slice_make(bytes, len - more));
    memcpy(payload->tail + old, bytes + len - more, more);
    payload->tail_len = old + more;
    payload->is_whole = payload->tail_len == PAYLOAD_MARK_LEN &&
                        memcmp(payload->tail, payload->mark, PAYLOAD_MARK_LEN) == 0;
}

size_t link_payload_take(struct link_payload *payload, const char *bytes, size_t len) {
    uint64_t left = payload->total - payload->received;
    if (payload->is_whole) return 0;
    if (!payload->is_marked && len > left) len = (size_t)left;
    payload->received += len;
    if (payload->is_marked) {
        take_marked(payload, bytes, len);
    } else {
        reply_raw(&payload->bytes, slice_make(bytes, len));
        payload->is_whole = payload->received == payload->total;
    }
    if (payload->file) write_more(payload);
    return len;
}

/* Drops what was loaded once it is all, or much of what is there. */
static void drop_loaded(struct link_payload *payload) {
    struct reply *bytes = &payload->bytes;
    if (payload->begin < bytes->len && payload->begin < PAYLOAD_BYTES_MAX / 2) return;
    memmove(bytes->data, bytes->data + payload->begin, bytes->len - payload->begin);
    bytes->len -= payload->begin;
    payload->begin = 0;
}

ssize_t link_payload_read(void *arg, void *bytes, size_t room) {
    struct link_payload *payload = arg;
    struct engine *engine = payload->engine;
    while (!payload->is_failed && payload->begin == payload->bytes.len && !payload->is_whole &&
           !engine->shutting_down)
        net_wait(engine->net);
    if (payload->is_failed || engine->shutting_down) {
        errno = engine->shutting_down ? ECANCELED : ECONNRESET;
        return -1;
    }
    size_t left = payload->bytes.len - payload->begin;
    size_t count = left < room ? left : room;
    if (count == 0) return 0;
    memcpy(bytes, payload->bytes.data + payload->begin, count);
    payload->begin += count;
    drop_loaded(payload);
    if (!payload->is_whole && payload->bytes.len - payload->begin < PAYLOAD_BYTES_MAX / 2)
        payload->moved(engine);
    return (ssize_t)count;
}
