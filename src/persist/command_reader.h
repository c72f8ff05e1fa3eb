/* command_reader: reads a file of commands item by item, and keeps track of where it is complete.
 *
 *      #TS:1700000000\r\n                          an annotation: a line for people and tools
 *      *3\r\n$5\r\nLPUSH\r\n$1\r\nk\r\n$1\r\na\r\n    a command: a RESP array of bulk strings
 *
 * The format is that of Redis's append-only files. The parser is stricter than the one for clients,
 * to notice damage: each line end must be where it belongs, numbers are plain decimals, and a
 * command has at least one argument. A transaction from MULTI to EXEC is complete or not as a
 * whole: a file that ends inside one is cut off there. */
#ifndef PACKLIST_PERSIST_COMMAND_READER_H
#define PACKLIST_PERSIST_COMMAND_READER_H

#include "base/slice.h"
#include "persist/rdb_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- The parser of one item; pure --- */

enum command_item {
    COMMAND_ITEM_COMMAND,    /* argv and argc: slices that point into the input */
    COMMAND_ITEM_ANNOTATION, /* argv[0] is the line without its end */
    COMMAND_ITEM_MORE,       /* the input ends inside an item, or is empty */
    COMMAND_ITEM_BAD         /* `error` says what is wrong, `error_at` where */
};

/* Must be all zero before the first call. */
struct command_parser {
    struct slice *argv;
    size_t argc;
    size_t capacity;   /* of argv */
    size_t consumed;   /* length of the command or annotation */
    const char *error; /* static text */
    size_t error_at;   /* offset from the begin of the item */
};

/* Parses the item that begins at bytes[0]. After COMMAND_ITEM_MORE, call again with the same bytes
 * and more. command_parser_free releases the memory. It does not trust announced counts: memory
 * grows in proportion to the input. O(arguments). */
enum command_item command_parse(struct command_parser *parser, const char *bytes, size_t len);

void command_parser_free(struct command_parser *parser);

/* --- The reader of a file --- */

/* Up to COMMAND_READ_ANNOTATION an item; the others end reading. */
enum command_read {
    COMMAND_READ_COMMAND,    /* belongs to a transaction if `in_multi` */
    COMMAND_READ_MULTI,      /* begin of a transaction */
    COMMAND_READ_EXEC,       /* end of a transaction */
    COMMAND_READ_ANNOTATION, /* argv[0] is its line */
    COMMAND_READ_END,        /* the file is complete */
    COMMAND_READ_CUT,        /* the file ends inside a command or a transaction */
    COMMAND_READ_BAD,        /* `error` says what is wrong, `error_offset` where */
    COMMAND_READ_FAILED      /* the source has failed, with errno set */
};

/* Lives on the caller's stack. The caller may only read the fields. */
struct command_reader {
    struct rdb_source source;
    /* Its argv and argc are views, valid until the next call. For an item that is cut off or bad,
     * they are the arguments before the end. */
    struct command_parser parser;
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
void command_reader_start(struct command_reader *reader, struct rdb_source source, uint64_t offset);

/* Frees the reader's memory. */
void command_reader_end(struct command_reader *reader);

/* Reads the next item. Must not be called again after a result that ends reading. Memory grows in
 * proportion to the bytes read. O(item). */
enum command_read command_reader_next(struct command_reader *reader);

/* Returns the bytes read so far of an item that is cut off or bad. */
static inline struct slice command_reader_rest(const struct command_reader *reader) {
    return slice_make(reader->bytes + reader->begin, reader->end - reader->begin);
}

/* Writes the annotation of a time, with its line end, to `line`. It may precede any command.
 * Returns its length. */
enum { AOF_TIME_LINE_MAX = 32 };
size_t command_reader_time_line(char line[AOF_TIME_LINE_MAX], int64_t time_s);

#endif
