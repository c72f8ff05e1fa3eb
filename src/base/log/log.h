/* log: lines of text for the operator, to a file or to standard output; log_format.h shows them. */
#ifndef PACKLIST_BASE_LOG_LOG_H
#define PACKLIST_BASE_LOG_LOG_H

#include "base/log/log_format.h"

#include <stdbool.h>
#include <stdint.h>

/* Lines below `level` are dropped. Default LOG_NOTICE. */
void log_set_level(enum log_level level);

/* How lines look from now on. Defaults are the first ones. */
void log_set_format(enum log_format format, enum log_timestamp timestamp);

/* Appends to the file at `path` from now on; "" is standard output (the default). The file is
 * opened for each line, so that it can be rotated by renaming. Returns false with errno set, and
 * changes nothing, when it cannot be opened for writing. The path is copied. */
bool log_set_file(const char *path);

/* Every line also goes to the system's logger from now on: as `ident`, which must stay, to the
 * facility local0 to local7 (0 … 7) or user (LOG_FACILITY_USER of base/log/log_syslog.h). */
void log_set_syslog(const char *ident, int facility);

/* The letter after the process's number: M for a primary (the default), S for a replica. */
void log_set_role(char role);

/* Writes one line: a printf format without the newline, cut to LOG_TEXT_MAX bytes; control
 * characters become question marks. Never fails: a line that cannot be written is lost. Allocates
 * nothing (but syslog(3) may), and keeps errno. Only the main thread logs. */
void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Lines of one kind that were logged lately. All zero at first. */
struct log_limit {
    int64_t until_ms; /* monotonic: the end of the minute */
    unsigned count;   /* in it */
};

/* Writes a line that strangers can cause as often as they like: the first LOG_LIMIT_LINES of a kind
 * in a minute have the level notice, the others verbose. The next minute begins with a line that
 * says how many these were. */
enum { LOG_LIMIT_LINES = 5 };
void log_notice_limited(struct log_limit *limit, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns whether a reader of `fd` sees the lines of `level` already: they go to standard output,
 * and that is the same file, terminal or pipe as `fd`. */
bool log_is_shown_on(int fd, enum log_level level);

/* --- For handlers of signals: both are async-signal-safe --- */

/* A descriptor to which the log's next line would go, or standard error when the file cannot be
 * opened; log_close closes it unless it is a standard stream. */
int log_open(void);
void log_close(int fd);

/* Writes the lines that were logged last to `fd`: those that fit in 8 KB, without the beginning of
 * a line that does not. */
void log_write_recent(int fd);

#define log_debug(...)   log_write(LOG_DEBUG, __VA_ARGS__)
#define log_verbose(...) log_write(LOG_VERBOSE, __VA_ARGS__)
#define log_notice(...)  log_write(LOG_NOTICE, __VA_ARGS__)
#define log_warning(...) log_write(LOG_WARNING, __VA_ARGS__)

#endif
