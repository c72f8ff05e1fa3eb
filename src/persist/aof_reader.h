/* aof_reader: what stands in a file of commands (aof_format.h), item by item, and how far the file
 * is whole.
 *
 *      struct aof_reader reader;
 *      aof_reader_start(&reader, source, offset);
 *      while ((read = aof_reader_next(&reader)) <= AOF_READ_ANNOTATION) …
 *      … AOF_READ_END, or what is wrong …
 *      aof_reader_end(&reader);
 *
 * What lies between MULTI and EXEC counts as a whole: a file that ends there is cut off. */
#ifndef PACKLIST_PERSIST_AOF_READER_H
#define PACKLIST_PERSIST_AOF_READER_H

#include "persist/aof_format.h"
#include "persist/rdb_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum aof_read {
    AOF_READ_COMMAND,    /* in a transaction when `in_multi` */
    AOF_READ_MULTI,      /* the first command of a transaction … */
    AOF_READ_EXEC,       /* … and the last one */
    AOF_READ_ANNOTATION, /* argv[0] is its line */
    AOF_READ_END,        /* of a file that is whole */
    AOF_READ_CUT,        /* the file ends inside a command or a transaction */
    AOF_READ_BAD,        /* `error` says what is wrong, `error_offset` where */
    AOF_READ_FAILED      /* the source has, with errno */
};

/* Lives on the caller's stack. Fields are to be read only. */
struct aof_reader {
    struct rdb_source source;
    struct aof_parser parser; /* argv and argc: views that live until the next call; of an item that
                                 is cut off or bad, the arguments before that */
    char *bytes;              /* [begin, end) are to be parsed */
    size_t begin;
    size_t end;
    size_t capacity;
    bool at_end;           /* of the source */
    uint64_t offset;       /* in the file, of the item that was read … */
    uint64_t next_offset;  /* … and of what follows it */
    uint64_t whole;        /* the file is whole up to here */
    uint64_t multi_offset; /* of the last MULTI */
    bool in_multi;         /* since it */
    const char *error;     /* static */
    uint64_t error_offset;
};

/* The source's bytes are those of the file from `offset` on. */
void aof_reader_start(struct aof_reader *reader, struct rdb_source source, uint64_t offset);

/* Frees what the reader holds. */
void aof_reader_end(struct aof_reader *reader);

/* Reads the next item; not to be called again after one of the last four. Memory is taken in
 * proportion to the bytes that have come. O(item). */
enum aof_read aof_reader_next(struct aof_reader *reader);

/* The bytes of the item that was cut off or is bad, as far as they are at hand. */
static inline struct slice aof_reader_rest(const struct aof_reader *reader) {
    return slice_make(reader->bytes + reader->begin, reader->end - reader->begin);
}

#endif
