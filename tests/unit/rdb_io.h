/* rdb_io: sinks and sources of tests: bytes in memory, in pieces of any size. */
#ifndef PACKLIST_TESTS_UNIT_RDB_IO_H
#define PACKLIST_TESTS_UNIT_RDB_IO_H

#include "base/hash/random.h"
#include "base/text/sds.h"
#include "persist/rdb_reader.h"
#include "persist/rdb_writer.h"

#include <errno.h>

struct rdb_io {
    sds bytes;      /* what was written */
    size_t room;    /* bytes that may still be written before the sink fails */
    size_t at;      /* how far it was read */
    size_t fail_at; /* where reading fails; SIZE_MAX: nowhere */
    struct random *random;
};

static inline struct rdb_io rdb_io_new(struct random *random) {
    return (struct rdb_io){sds_new(SLICE("")), SIZE_MAX, 0, SIZE_MAX, random};
}

static inline bool rdb_io_write(void *arg, const void *bytes, size_t len) {
    struct rdb_io *io = arg;
    errno = ENOSPC;
    if (len > io->room) return false;
    io->room -= io->room == SIZE_MAX ? 0 : len;
    /* With TINY_LIMITS a text of megabytes would otherwise be copied for each few kilobytes. */
    if (sds_available(io->bytes) < len)
        io->bytes = sds_reserve(io->bytes, sds_len(io->bytes) + len);
    io->bytes = sds_append(io->bytes, slice_make(bytes, len));
    return true;
}

static inline ssize_t rdb_io_read(void *arg, void *bytes, size_t room) {
    struct rdb_io *io = arg;
    size_t left = sds_len(io->bytes) - io->at;
    errno = EIO;
    if (io->at >= io->fail_at) return -1;
    if (left > io->fail_at - io->at) left = io->fail_at - io->at;
    size_t len = 1 + random_below(io->random, random_below(io->random, 2) ? 5 : 5000);
    if (len > room) len = room;
    if (len > left) len = left;
    memcpy(bytes, io->bytes + io->at, len);
    io->at += len;
    return (ssize_t)len;
}

static inline struct rdb_sink rdb_io_sink(struct rdb_io *io) {
    return (struct rdb_sink){.write = rdb_io_write, .arg = io};
}

static inline struct rdb_source rdb_io_source(struct rdb_io *io) {
    return (struct rdb_source){rdb_io_read, io};
}

#endif
