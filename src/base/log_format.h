/* log_format: how a line of the log looks, for base/log.c.
 *
 *      legacy   PID:M DD Mon YYYY HH:MM:SS.mmm * text              with . - * # by level
 *      logfmt   pid=PID role=primary timestamp="…" level=notice message="text"
 *      json     {"pid":PID,"role":"primary","timestamp":"…","level":"notice","message":"text"}
 *
 * The names of keys, roles and levels are those of Valkey 9.1. Its level `info` is our verbose. */
#ifndef PACKLIST_BASE_LOG_FORMAT_H
#define PACKLIST_BASE_LOG_FORMAT_H

#include "base/log.h"
#include "base/slice.h"

#include <stddef.h>
#include <stdint.h>

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
