/* load: brings data back from the disk: when the server starts, and for DEBUG RELOAD.
 *
 * While the server starts, clients are served in between: they get -LOADING for all that needs the
 * data, and see in INFO how far it is. */
#ifndef PACKLIST_SNAPSHOT_LOAD_H
#define PACKLIST_SNAPSHOT_LOAD_H

#include "base/sds.h"
#include "persist/rdb_file.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

struct load {
    bool running;
    bool serves;      /* clients in between */
    sds name;         /* while it runs */
    int64_t begin_us; /* monotonic */
    int64_t begin_s;  /* wall clock */
    uint64_t total_bytes;
    uint64_t loaded_bytes;
    uint64_t served_bytes; /* when clients were last served … */
    int64_t served_us;     /* … and the time */
    int64_t logged_us;
    uint64_t used_memory;  /* of the server that wrote the file, when it did */
    uint64_t keys_visited; /* by the last load: expired … */
    uint64_t keys_expired;
    uint64_t keys_loaded; /* … and not */
};

enum load_status {
    LOAD_DONE,
    LOAD_ABSENT, /* there is no such file */
    LOAD_FAILED, /* the log says why; keys read before stay */
    LOAD_STOPPED /* the server is to end */
};

enum load_flag {
    LOAD_SERVE = 1 << 0,   /* serve clients in between; from outside any callback only */
    LOAD_REPLACE = 1 << 1, /* a key that is there already is replaced; else it is an error */
    LOAD_EXPIRED =
        1 << 2 /* keys whose time has come are kept: what follows may tell more of them */
};

/* Loads the snapshot that the configuration names. */
enum load_status load_snapshot(struct engine *engine);

/* Adds the keys of an RDB file in the working directory. Keys whose time has come are left out. */
enum load_status load_rdb_file(struct engine *engine, const char *path, unsigned flags);

/* --- For loaders --- */

/* The file `name` of so many bytes is being loaded, until load_end. Copies the name: a client may
 * change the configuration, from which it comes, meanwhile. */
void load_begin(struct engine *engine, const char *name, uint64_t total_bytes, bool serves);
void load_end(struct engine *engine);

/* The file is read up to `offset`. Serves clients when that is due. False when the server is to
 * end. For every 100 KB or so. */
bool load_note_offset(struct engine *engine, uint64_t offset);

/* The same after each key: cheap, as it does not look at the time each time. */
bool load_note_key(struct engine *engine, uint64_t offset);

/* Adds the keys of an RDB file, at whose begin the descriptor stands, to its end; more may follow
 * behind it. Where the descriptor stands then is not said; *end gets the bytes up to the end.
 * `name` is what the log calls it. Between load_begin and load_end. */
enum load_status load_rdb_stream(struct engine *engine, int fd, const char *name, unsigned flags,
                                 uint64_t *end);

/* 0 … 100; seconds that are left, by what it took so far. */
double load_percent(struct engine *engine);
int64_t load_seconds_left(struct engine *engine);

#endif
