/* aof_format: what stands in a file of commands.
 *
 *      #TS:1700000000\r\n                          an annotation: a line for people and tools
 *      *3\r\n$5\r\nLPUSH\r\n$1\r\nk\r\n$1\r\na\r\n    a command: an array of bulk strings of RESP
 *
 * The parser is stricter than the one for clients: every line end must be where it belongs, counts
 * are plain decimals, a command has at least one argument; so that damage is noticed. The format is
 * the one of Redis's append-only files. Pure. */
#ifndef PACKLIST_PERSIST_AOF_FORMAT_H
#define PACKLIST_PERSIST_AOF_FORMAT_H

#include "base/slice.h"

#include <stddef.h>
#include <stdint.h>

enum aof_item {
    AOF_ITEM_COMMAND,    /* argv and argc: slices into the bytes */
    AOF_ITEM_ANNOTATION, /* argv[0] is the line without its end */
    AOF_ITEM_MORE,       /* the bytes end inside an item, or there are none */
    AOF_ITEM_BAD         /* `error` says what is wrong, `error_at` where */
};

/* All zero at first. */
struct aof_parser {
    struct slice *argv;
    size_t argc;
    size_t capacity;   /* of argv */
    size_t consumed;   /* after a command or an annotation: its length */
    const char *error; /* static */
    size_t error_at;   /* offset from the beginning of the item */
};

/* Parses the item that begins at bytes[0]. After AOF_ITEM_MORE call again with more bytes. What an
 * item announces is believed when it has come: memory is taken in proportion to the bytes.
 * O(arguments). */
enum aof_item aof_parse(struct aof_parser *parser, const char *bytes, size_t len);

void aof_parser_free(struct aof_parser *parser);

#endif
