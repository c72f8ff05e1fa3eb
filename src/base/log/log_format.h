/* log_format: how a line of the log looks, for base/log/log.c.
 *
 *      legacy   PID:M DD Mon YYYY HH:MM:SS.mmm * text              with . - * # by level
 *      logfmt   pid=PID role=primary timestamp="…" level=notice message="text"
 *      json     {"pid":PID,"role":"primary","timestamp":"…","level":"notice","message":"text"}
 *
 * The names of keys, roles and levels are those of Valkey 9.1. Its level `info` is our verbose. */
#ifndef PACKLIST_BASE_LOG_LOG_FORMAT_H
#define PACKLIST_BASE_LOG_LOG_FORMAT_H

#include "base/slice.h"

#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_DEBUG, LOG_VERBOSE, LOG_NOTICE, LOG_WARNING, LOG_NOTHING };

enum log_format { LOG_FORMAT_LEGACY, LOG_FORMAT_LOGFMT, LOG_FORMAT_JSON };

/* The local time as Redis writes it or as in ISO 8601, or milliseconds since 1970. */
enum log_timestamp { LOG_TIMESTAMP_LEGACY, LOG_TIMESTAMP_ISO8601, LOG_TIMESTAMP_MILLISECONDS };

enum { LOG_TEXT_MAX = 1024 };

/* A text of LOG_TEXT_MAX bytes never makes a longer line. */
enum { LOG_LINE_MAX = 2 * LOG_TEXT_MAX + 256 };

struct log_style {
    enum log_format format;
    enum log_timestamp timestamp;
};

struct log_line {
    enum log_level level;
    char role;         /* M or S */
    int64_t wall_ms;   /* when */
    struct slice text; /* at most LOG_TEXT_MAX bytes, without control characters */
};

/* Writes a line with its newline to `dst`, of LOG_LINE_MAX bytes. Returns its length. In logfmt a
 * quote becomes an apostrophe, as in Valkey, and backslashes are doubled; in json both are escaped,
 * and bytes that are not UTF-8 become question marks. Allocates nothing. */
size_t log_format_line(char *dst, struct log_style style, const struct log_line *line);

#endif
