/* load: loads data from the disk: when the server starts, and for DEBUG RELOAD.
 *
 * While the server starts, the loader serves clients from time to time. Commands that need the data
 * get -LOADING; INFO shows the progress. */
#ifndef PACKLIST_SNAPSHOT_LOAD_H
#define PACKLIST_SNAPSHOT_LOAD_H

#include "base/text/sds.h"
#include "persist/rdb_file.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct function_set;
struct keyspace;

/* Where the data stands in the history of a primary (replication/replication.h): AUX fields. */
struct load_history {
    char id[41];      /* empty: the file does not say */
    int64_t offset;   /* -1: likewise */
    int64_t database; /* in which the stream goes on; 0: likewise */
};

struct load {
    bool running;
    bool serves;      /* whether clients are served while loading */
    sds name;         /* of the file; NULL when nothing is loaded */
    int64_t begin_us; /* monotonic */
    int64_t begin_s;  /* wall clock */
    uint64_t total_bytes;
    uint64_t loaded_bytes;
    uint64_t served_bytes; /* loaded_bytes when clients were last served */
    int64_t served_us;     /* … and the time */
    int64_t logged_us;
    uint64_t used_memory;  /* memory used by the server that wrote the file, when it wrote it */
    uint64_t keys_visited; /* by the last load: all keys */
    uint64_t keys_expired;
    uint64_t keys_loaded;        /* … those added */
    struct load_history history; /* of the last load with LOAD_HISTORY */
};

enum load_status {
    LOAD_DONE,
    LOAD_ABSENT, /* there is no such file */
    LOAD_FAILED, /* the log says why; keys read before stay */
    LOAD_STOPPED /* the server is ending */
};

enum load_flag {
    LOAD_SERVE = 1 << 0,   /* serve clients while loading; not allowed inside a callback */
    LOAD_REPLACE = 1 << 1, /* replace a key that exists; otherwise such a key is an error */
    /* Keep expired keys: commands that follow may still change them. */
    LOAD_EXPIRED = 1 << 2,
    /* Beside the data in force: clients go on using that. Needs databases of its own. */
    LOAD_BESIDE = 1 << 3,
    LOAD_HISTORY = 1 << 4 /* note what the file says of its place in a history */
};

/* What is loaded, and where to. */
struct load_order {
    const char *name;               /* for log and INFO */
    uint64_t total_bytes;           /* 0: not known */
    unsigned flags;                 /* enum load_flag */
    struct keyspace **keyspaces;    /* as many as there are databases; NULL: the server's */
    struct function_set *functions; /* NULL: those in force */
};

/* Loads the snapshot named by the configuration. O(file). */
enum load_status load_snapshot(struct engine *engine);

/* Loads an RDB file of the working directory. Leaves out expired keys, unless `flags` has
 * LOAD_EXPIRED. `flags`: enum load_flag. O(file). */
enum load_status load_rdb_file(struct engine *engine, const char *path, unsigned flags);

/* Loads an RDB file from a source. *end gets its length in bytes. O(file). */
enum load_status load_rdb_source(struct engine *engine, struct rdb_source source,
                                 const struct load_order *order, uint64_t *end);

/* --- For loaders --- */

/* Call load_begin before loading the file `name` of `total_bytes` bytes, and load_end after it.
 * load_begin copies the name, because a client may change the configuration during the load.
 * `flags`: LOAD_SERVE and LOAD_BESIDE. */
void load_begin(struct engine *engine, const char *name, uint64_t total_bytes, unsigned flags);
void load_end(struct engine *engine);

/* Notes that the file is read up to `offset`, and serves clients when that is due. Returns false
 * when the server is ending. Call every 100 KB or so. */
bool load_note_offset(struct engine *engine, uint64_t offset);

/* The same, for calls after each key: it seldom reads the clock. */
bool load_note_key(struct engine *engine, uint64_t offset);

/* Adds the keys of an RDB file to the databases. The file begins at the descriptor's position, and
 * other bytes may follow it. *end gets the number of bytes up to the end of the RDB file; the
 * position of the descriptor is then undefined. `name` appears in log messages. Call between
 * load_begin and load_end. O(file). */
enum load_status load_rdb_stream(struct engine *engine, int fd, const char *name, unsigned flags,
                                 uint64_t *end);

/* Progress of the load: 0 to 100 per cent, and the estimated seconds left. */
double load_percent(struct engine *engine);
int64_t load_seconds_left(struct engine *engine);

#endif
