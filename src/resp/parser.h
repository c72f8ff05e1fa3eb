/* parser: bytes from a client → requests of RESP arrays of bulk strings, and inline commands.
 *
 * Pure: no I/O, no knowledge of commands. Arguments are slices into the bytes given; only the array
 * of slices is allocated, and reused from request to request. Resumable: when the bytes end inside
 * a request the parser keeps its state, and the caller comes back with the same bytes
 * (possibly moved) plus more; nothing is scanned twice. The result does not depend on where the
 * bytes were cut.
 *
 * Protocol: https://redis.io/docs/latest/develop/reference/protocol-spec/ (RESP2, RESP3 requests
 * are the same). What that page leaves open is as in Redis:
 *   - A header ends at its \r; the byte after it is skipped unchecked, and so are the two bytes
 *     after an argument.
 *   - An inline command ends at \n.
 *   - A NUL in a header or an inline command hides the end of the line: it runs on until it is
 *     too long.
 *   - Lengths are strict signed 64-bit decimals: no blanks, no '+', no leading zeros. */
#ifndef PACKLIST_RESP_PARSER_H
#define PACKLIST_RESP_PARSER_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A header or an inline command that does not end within its first RESP_LINE_MAX + 1 bytes is an
 * error. */
#ifdef TINY_LIMITS
enum { RESP_LINE_MAX = 100 };
#else
enum { RESP_LINE_MAX = 64 * 1024 };
#endif

/* The most arguments of a request, and the limits for a client that has yet to authenticate. */
#define RESP_ARGUMENTS_MAX INT32_MAX
enum { RESP_UNAUTHENTICATED_ARGUMENTS_MAX = 10, RESP_UNAUTHENTICATED_BULK_MAX = 16384 };

/* Limits of the lengths in headers, by the client's rights. */
struct resp_limits {
    int64_t bulk_max;   /* bytes of one argument: proto-max-bulk-len */
    bool authenticated; /* false: RESP_UNAUTHENTICATED_… hold too, with error texts of their own */
};

enum resp_status {
    /* A whole request: argv and argc are set; argc may be 0 (empty line, *0, *-1): nothing to run,
     * no reply. */
    RESP_REQUEST,
    /* The bytes end inside a request. */
    RESP_MORE,
    /* Malformed: `error` has the text for "-ERR Protocol error: <text>"; the connection must be
     * closed. */
    RESP_ERROR
};

struct resp_parser {
    struct slice *argv;  /* owned array; the slices are valid after RESP_REQUEST */
    size_t argc;         /* arguments complete so far; all of them after RESP_REQUEST */
    size_t consumed;     /* after RESP_REQUEST: the request's whole length */
    const char *error;   /* after RESP_ERROR: static, or error_buffer; may hold a line break */
    size_t capacity;     /* of argv */
    uint32_t expected;   /* arguments announced; 0 until the count is read */
    size_t position;     /* where the header, or the argument, begins that is being read */
    size_t scanned;      /* bytes looked at; 0 between requests */
    int64_t bulk_length; /* of the argument being read; -1 until its header is read */
    const char *base;    /* where the request began at first; recorded slices are relative to it */
    char error_buffer[24];
};

void resp_parser_init(struct resp_parser *parser);

/* Frees the argument array. */
void resp_parser_free(struct resp_parser *parser);

/* Drops an incomplete request: the next call begins at its first byte again. The array is kept. */
void resp_parser_reset(struct resp_parser *parser);

/* Parses one request that begins at bytes[0]; `len` bytes are there. After RESP_MORE call again
 * with the same request still beginning at bytes[0] (the bytes may have moved: slices are rebased)
 * and more bytes after it. After RESP_REQUEST the next call, at bytes + consumed, begins a new
 * request. Inline commands are unquoted in place, so `bytes` is writable. O(new bytes) for headers
 * and lines, O(1) for an argument of any length. */
enum resp_status resp_parse(struct resp_parser *parser, char *bytes, size_t len,
                            const struct resp_limits *limits);

/* As resp_parse, but refuses lines of text that are not empty. Slower: resp_parse has one caller,
 * into which it is compiled as a whole, which saves 20 instructions a request. */
enum resp_status resp_parse_array(struct resp_parser *parser, char *bytes, size_t len,
                                  const struct resp_limits *limits);

/* After RESP_MORE: how many bytes from the beginning of the request are needed at least before
 * calling again can make progress (a whole argument when its length is known). O(1). */
size_t resp_parser_needs(const struct resp_parser *parser);

/* After RESP_MORE inside an argument whose header was read (bulk_length >= 0): the caller collects
 * its bytes elsewhere. From now on the caller passes the request without them, but with the two
 * bytes after them. Returns the argument's index: when the request is complete the slice there is
 * empty, and the caller sets it. O(1). */
size_t resp_parser_take_out(struct resp_parser *parser);

/* Bytes of the argument array. O(1). */
size_t resp_parser_allocated(const struct resp_parser *parser);

enum resp_split {
    RESP_SPLIT_ARGUMENT,  /* *argument is the next one */
    RESP_SPLIT_END,       /* no more */
    RESP_SPLIT_UNBALANCED /* unbalanced quotes: the whole line is invalid */
};

/* Takes the next argument off a line, as inline commands and the configuration file write them:
 * blanks separate; "…" with \n \r \t \b \a \xHH escapes, any other byte after a \ standing for
 * itself; '…' with \' only; a closing quote must be followed by a blank or the end. Unquotes in
 * place: the slice points into the line. *at moves from the line's start towards `end`.
 * O(argument). */
enum resp_split resp_split_next(char **at, char *end, struct slice *argument);

#endif
