/* aof_format: parses a file of commands.
 *
 *      #TS:1700000000\r\n                          an annotation: a line for people and tools
 *      *3\r\n$5\r\nLPUSH\r\n$1\r\nk\r\n$1\r\na\r\n    a command: a RESP array of bulk strings
 *
 * The parser is stricter than the one for clients, to notice damage: each line end must be where it
 * belongs, numbers are plain decimals, and a command has at least one argument. The format is that
 * of Redis's append-only files. Pure. */
#ifndef PACKLIST_PERSIST_AOF_FORMAT_H
#define PACKLIST_PERSIST_AOF_FORMAT_H

#include "base/slice.h"

#include <stddef.h>
#include <stdint.h>

enum aof_item {
    AOF_ITEM_COMMAND,    /* argv and argc: slices that point into the input */
    AOF_ITEM_ANNOTATION, /* argv[0] is the line without its end */
    AOF_ITEM_MORE,       /* the input ends inside an item, or is empty */
    AOF_ITEM_BAD         /* `error` says what is wrong, `error_at` where */
};

/* Must be all zero before the first call. */
struct aof_parser {
    struct slice *argv;
    size_t argc;
    size_t capacity;   /* of argv */
    size_t consumed;   /* length of the command or annotation */
    const char *error; /* static text */
    size_t error_at;   /* offset from the begin of the item */
};

/* Parses the item that begins at bytes[0]. After AOF_ITEM_MORE, call again with the same bytes and
 * more. aof_parser_free releases the memory. It does not trust announced counts: memory grows in
 * proportion to the input. O(arguments). */
enum aof_item aof_parse(struct aof_parser *parser, const char *bytes, size_t len);

void aof_parser_free(struct aof_parser *parser);

#endif
