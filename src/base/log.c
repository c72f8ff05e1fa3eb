#include "base/log.h"

#include "base/clock.h"
#include "base/log_syslog.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The process has one log; it must be reachable from anywhere, also when memory has run out. */
static struct {
    enum log_level level;
    char path[PATH_MAX]; /* empty: standard output */
    char role;
    bool has_syslog;
} logger = {.level = LOG_NOTICE, .role = 'M'};

void log_set_level(enum log_level level) {
    logger.level = level;
}

void log_set_child(void) {
    logger.role = 'C';
}

static int open_log(const char *path) {
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
}

bool log_set_file(const char *path) {
    if (strlen(path) >= sizeof(logger.path)) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (path[0] != '\0') {
        int fd = open_log(path);
        if (fd < 0) return false;
        close(fd);
    }
    memmove(logger.path, path, strlen(path) + 1);
    return true;
}

void log_set_syslog(const char *ident, int facility) {
    log_syslog_open(ident, facility);
    logger.has_syslog = true;
}

/* "PID:M DD Mon YYYY HH:MM:SS.mmm * " at `dst`; returns its length. */
static size_t format_head(char *dst, size_t size, enum log_level level) {
    int64_t now_ms = clock_wall_ms();
    time_t now = now_ms / 1000;
    struct tm parts;
    char date[32];
    localtime_r(&now, &parts);
    strftime(date, sizeof(date), "%d %b %Y %H:%M:%S", &parts);
    int len = snprintf(dst, size, "%d:%c %s.%03d %c ", (int)getpid(), logger.role, date,
                       (int)(now_ms % 1000), ".-*#"[level]);
    return (size_t)len;
}

static void write_line(const char *line, size_t len) {
    int fd = logger.path[0] == '\0' ? STDOUT_FILENO : open_log(logger.path);
    if (fd < 0) return;
    while (write(fd, line, len) < 0 && errno == EINTR) {
    }
    if (fd != STDOUT_FILENO) close(fd);
}

/* What a message quotes of a file or a client neither begins lines nor drives a terminal. */
static void mask_controls(char *text, size_t len) {
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7F) text[i] = '?';
}

void log_write(enum log_level level, const char *format, ...) {
    enum { HEAD_MAX = 64 };
    char line[HEAD_MAX + LOG_TEXT_MAX + 1];
    if (level < logger.level || level >= LOG_NOTHING) return;
    int saved_errno = errno;
    size_t len = format_head(line, HEAD_MAX, level);
    va_list args;
    va_start(args, format);
    int wanted = vsnprintf(line + len, LOG_TEXT_MAX + 1, format, args);
    va_end(args);
    size_t text_len = wanted < 0 ? 0 : wanted < LOG_TEXT_MAX ? (size_t)wanted : LOG_TEXT_MAX;
    mask_controls(line + len, text_len);
    if (logger.has_syslog) log_syslog_write((int)level, line + len);
    len += text_len;
    line[len++] = '\n'; /* over the terminator */
    write_line(line, len);
    errno = saved_errno;
}
