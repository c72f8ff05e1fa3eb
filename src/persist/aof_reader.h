/* aof_reader: reads a file of commands (aof_format.h) item by item, and keeps track of where it is
 * complete.
 *
 *      struct aof_reader reader;
 *      aof_reader_start(&reader, source, offset);
 *      while ((read = aof_reader_next(&reader)) <= AOF_READ_ANNOTATION) …
 *      … AOF_READ_END, or what is wrong …
 *      aof_reader_end(&reader);
 *
 * A transaction from MULTI to EXEC is complete or not as a whole: a file that ends inside one is
 * cut off there. */
#ifndef PACKLIST_PERSIST_AOF_READER_H
#define PACKLIST_PERSIST_AOF_READER_H

#include "persist/aof_format.h"
#include "persist/rdb_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum aof_read {
    AOF_READ_COMMAND,    /* belongs to a transaction if `in_multi` */
    AOF_READ_MULTI,      /* begin of a transaction */
    AOF_READ_EXEC,       /* end of a transaction */
    AOF_READ_ANNOTATION, /* argv[0] is its line */
    AOF_READ_END,        /* the file is complete */
    AOF_READ_CUT,        /* the file ends inside a command or a transaction */
    AOF_READ_BAD,        /* `error` says what is wrong, `error_offset` where */
    AOF_READ_FAILED      /* the source has failed, with errno set */
};

/* Lives on the caller's stack. The caller may only read the fields. */
struct aof_reader {
    struct rdb_source source;
    /* Its argv and argc are views, valid until the next call. For an item that is cut off or bad,
     * they are the arguments before the end. */
    struct aof_parser parser;
    char *bytes; /* [begin, end) is not parsed yet */
    size_t begin;
    size_t end;
    size_t capacity;
    bool at_end;           /* the source has no more bytes */
    uint64_t offset;       /* of the item that was read, from the start of the file */
    uint64_t next_offset;  /* of the item after it */
    uint64_t whole;        /* the file is complete up to here */
    uint64_t multi_offset; /* of the last MULTI */
    bool in_multi;         /* after MULTI, before EXEC */
    const char *error;     /* static text */
    uint64_t error_offset;
};

/* Starts a reader. The first byte of the source is the one at `offset` of the file. */
void aof_reader_start(struct aof_reader *reader, struct rdb_source source, uint64_t offset);

/* Frees the reader's memory. */
void aof_reader_end(struct aof_reader *reader);

/* Reads the next item. Must not be called again after one of the last four results. Memory grows in
 * proportion to the bytes read. O(item). */
enum aof_read aof_reader_next(struct aof_reader *reader);

/* Returns the bytes read so far of an item that is cut off or bad. */
static inline struct slice aof_reader_rest(const struct aof_reader *reader) {
    return slice_make(reader->bytes + reader->begin, reader->end - reader->begin);
}

#endif
