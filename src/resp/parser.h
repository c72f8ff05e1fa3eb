/* parser: bytes from a client → requests of RESP arrays of bulk strings, and inline commands.
 *
 * Pure: no I/O, no knowledge of commands. Arguments are slices into the bytes given; only the array
 * of slices is allocated, and reused from request to request. Resumable: when the bytes end inside
 * a request the parser keeps what it has seen, and the caller comes back with the same bytes
 * (possibly moved) plus more; nothing is scanned twice.
 *
 * Protocol: https://redis.io/docs/latest/develop/reference/protocol-spec/ (RESP2, RESP3 requests
 * are the same). */
#ifndef PACKLIST_RESP_PARSER_H
#define PACKLIST_RESP_PARSER_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits on what is believed of a header, by what the client may do. */
struct resp_limits {
    int64_t arguments_max; /* multibulk length: INT32_MAX; 10 before authentication */
    int64_t bulk_max;   /* bytes of one argument: proto-max-bulk-len; 16384 before authentication */
    bool authenticated; /* chooses the error text ("unauthenticated multibulk length", …) */
};

enum resp_status {
    RESP_REQUEST, /* a whole request: argv and argc are set; argc may be 0 (empty line, *0, *-1):
                     nothing to run, no reply */
    RESP_MORE,    /* the bytes end inside a request */
    RESP_ERROR /* malformed: `error` has the text for "-ERR Protocol error: <text>"; the connection
                  must be closed */
};

struct resp_parser {
    struct slice *argv; /* owned array; slices point into the caller's bytes */
    size_t argc;        /* arguments complete so far; all of them when RESP_REQUEST */
    size_t capacity;    /* of argv */
    size_t consumed;  /* bytes parsed of the current request; when RESP_REQUEST, its whole length */
    int64_t expected; /* arguments announced; 0 between requests */
    int64_t bulk_length; /* announced length of the argument being read; -1 when its header is not
                            read yet */
    const char *base;    /* where the current request began when the arguments were recorded */
    const char *error;   /* static text, or `error_buffer` */
    char error_buffer[64];
};

void resp_parser_init(struct resp_parser *parser);

/* Frees the argument array. */
void resp_parser_free(struct resp_parser *parser);

/* Forgets a half-read request: the next call begins at its first byte again. The array is kept. */
void resp_parser_reset(struct resp_parser *parser);

/* Parses one request that begins at bytes[0]; `len` bytes are there. After RESP_MORE call again
 * with the same request still beginning at bytes[0] (the bytes may have moved: slices are rebased)
 * and more bytes behind. After RESP_REQUEST the next call, at bytes + consumed, begins a new
 * request. Inline commands are unquoted in place, so `bytes` is writable. O(new bytes). */
enum resp_status resp_parse(struct resp_parser *parser, char *bytes, size_t len,
                            const struct resp_limits *limits);

/* After RESP_MORE: how many bytes from the beginning of the request are needed at least before
 * calling again can make progress (a whole bulk when its length is known). */
size_t resp_parser_needs(const struct resp_parser *parser);

/* True when the parser stands inside a request. */
static inline bool resp_parser_is_partial(const struct resp_parser *parser) {
    return parser->consumed != 0;
}

enum resp_split {
    RESP_SPLIT_ARGUMENT,  /* *argument is the next one */
    RESP_SPLIT_END,       /* no more */
    RESP_SPLIT_UNBALANCED /* unbalanced quotes: the whole line is invalid */
};

/* Takes the next argument off a line, as inline commands and the configuration file write them:
 * blanks separate; "…" with \n \r \t \b \a \\ \" \xHH escapes; '…' with \' ; a closing quote must
 * be followed by a blank or the end. Unquotes in place: the slice points into the line. *at moves
 * from the line's start towards `end`. O(argument). */
enum resp_split resp_split_next(char **at, char *end, struct slice *argument);

#endif
