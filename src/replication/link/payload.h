/* payload: the bytes of all data, which come from the primary: an RDB file of a known length, or
 * one that ends with a mark.
 *
 *      connection ── bytes ─┬─ a temporary file, written by a thread ── link_work loads it
 *                           └─ link_work loads them as they come
 *
 * Memory is bounded, if nothing more is given while it is full. */
#ifndef PACKLIST_REPLICATION_LINK_PAYLOAD_H
#define PACKLIST_REPLICATION_LINK_PAYLOAD_H

#include "base/text/sds.h"
#include "resp/reply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct engine;
struct payload_file;

enum {
    PAYLOAD_MARK_LEN = 40,
#ifdef TINY_LIMITS
    PAYLOAD_WRITE_AT = 100,
    PAYLOAD_BYTES_MAX = 1000
#else
    PAYLOAD_WRITE_AT = 256 * 1024, /* bytes of a write, at least */
    PAYLOAD_BYTES_MAX = 8 * 1024 * 1024
#endif
};

struct link_payload {
    struct engine *engine;
    /* A write has ended, or bytes were loaded and there is room for more. May end the payload. */
    void (*moved)(struct engine *engine);
    bool is_active;
    bool is_whole;   /* all of it has come */
    bool is_marked;  /* it ends with the mark */
    bool is_loading; /* link_work loads it */
    bool is_failed;  /* while it was being loaded */
    char mark[PAYLOAD_MARK_LEN];
    char tail[PAYLOAD_MARK_LEN]; /* of a marked one: the last bytes, perhaps the mark */
    size_t tail_len;
    uint64_t total;            /* bytes; of a marked one 0 */
    uint64_t received;         /* bytes */
    struct reply bytes;        /* received, but neither written nor loaded */
    size_t begin;              /* of those in `bytes` that are not loaded */
    struct payload_file *file; /* NULL: it is loaded as it comes */
};

void link_payload_init(struct link_payload *payload, struct engine *engine,
                       void (*moved)(struct engine *engine));

/* Call once at the start: removes files of payloads that an earlier server has left. */
void link_payload_remove_leftovers(void);

/* Begins a payload of `total` bytes, or one up to the mark if that is not NULL, in a file or not.
 * Returns false, with errno set, when there can be no file. */
bool link_payload_begin(struct link_payload *payload, const char *mark, uint64_t total,
                        bool to_disk);

/* Forgets the payload, and removes its file. Does nothing when there is none. */
void link_payload_end(struct link_payload *payload);

/* Takes bytes of it. Returns how many. O(bytes). */
size_t link_payload_take(struct link_payload *payload, const char *bytes, size_t len);

/* Returns whether all of it has come, and is in the file if there is one. */
bool link_payload_is_whole(const struct link_payload *payload);

/* Returns whether too much waits for the disk or the loader. */
bool link_payload_is_full(const struct link_payload *payload);

/* Returns the errno of the file; 0: it is good, or there is none. */
int link_payload_error(const struct link_payload *payload);

/* Returns the memory of what has come and is neither written nor loaded. O(1). */
size_t link_payload_memory(const struct link_payload *payload);

/* Returns the path of its file; NULL when it is loaded as it comes. */
const char *link_payload_path(const struct link_payload *payload);

/* The file is the user's from now on. */
void link_payload_keep_file(struct link_payload *payload);

/* The `read` of a struct rdb_source, whose `arg` is the payload: waits for bytes, and lets the loop
 * run until they come. 0 at the end; -1 when the link was closed. Outside of all callbacks. */
ssize_t link_payload_read(void *payload, void *bytes, size_t room);

#endif
