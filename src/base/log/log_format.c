#include "base/log/log_format.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TIME_MAX = 64 };

static void format_time(char dst[TIME_MAX], enum log_timestamp style, int64_t wall_ms) {
    time_t seconds = wall_ms / 1000;
    int ms = (int)(wall_ms % 1000);
    struct tm parts;
    char date[32], zone[8];
    localtime_r(&seconds, &parts);
    switch (style) {
    case LOG_TIMESTAMP_MILLISECONDS: snprintf(dst, TIME_MAX, "%lld", (long long)wall_ms); break;
    case LOG_TIMESTAMP_ISO8601:
        strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &parts);
        strftime(zone, sizeof(zone), "%z", &parts); /* +hhmm */
        snprintf(dst, TIME_MAX, "%s.%03d%.3s:%s", date, ms, zone, zone + 3);
        break;
    case LOG_TIMESTAMP_LEGACY:
        strftime(date, sizeof(date), "%d %b %Y %H:%M:%S", &parts);
        snprintf(dst, TIME_MAX, "%s.%03d", date, ms);
        break;
    }
}

/* Returns the length of the character of UTF-8 with which a text begins; 0 when it is none. */
static size_t utf8_length(const unsigned char *text, size_t len) {
    size_t wanted = text[0] < 0x80   ? 1
                    : text[0] < 0xC2 ? 0
                    : text[0] < 0xE0 ? 2
                    : text[0] < 0xF0 ? 3
                    : text[0] < 0xF5 ? 4
                                     : 0;
    if (wanted > len) return 0;
    for (size_t i = 1; i < wanted; i++)
        if ((text[i] & 0xC0) != 0x80) return 0;
    bool is_overlong = (text[0] == 0xE0 && text[1] < 0xA0) || (text[0] == 0xF0 && text[1] < 0x90);
    bool is_surrogate = text[0] == 0xED && text[1] >= 0xA0;
    bool is_too_large = text[0] == 0xF4 && text[1] >= 0x90;
    return is_overlong || is_surrogate || is_too_large ? 0 : wanted;
}

/* Appends a text for between quotes. Returns the end. */
static char *append_quoted(char *at, struct slice text, bool is_json) {
    for (size_t i = 0; i < text.len;) {
        size_t len = 1;
        if (is_json) len = utf8_length((const unsigned char *)text.ptr + i, text.len - i);
        bool is_quote = text.ptr[i] == '"';
        if (text.ptr[i] == '\\' || (is_quote && is_json)) *at++ = '\\';
        if (len == 0 || (is_quote && !is_json)) {
            *at++ = is_quote ? '\'' : '?';
            i++;
            continue;
        }
        memcpy(at, text.ptr + i, len);
        at += len;
        i += len;
    }
    return at;
}

/* Appends a text that is not longer than the room for it. */
static char *append(char *at, const char *text) {
    size_t len = strlen(text);
    memcpy(at, text, len);
    return at + len;
}

size_t log_format_line(char *dst, struct log_style style, const struct log_line *line) {
    static const char *const levels[] = {"debug", "info", "notice", "warning"};
    const char *role = line->role == 'S' ? "replica" : "primary";
    char time[TIME_MAX];
    char *at = dst;
    int pid = (int)getpid();
    format_time(time, style.timestamp, line->wall_ms);
    switch (style.format) {
    case LOG_FORMAT_LEGACY:
        at +=
            snprintf(at, LOG_LINE_MAX, "%d:%c %s %c ", pid, line->role, time, ".-*#"[line->level]);
        memcpy(at, line->text.ptr, line->text.len);
        at += line->text.len;
        break;
    case LOG_FORMAT_LOGFMT:
        at += snprintf(at, LOG_LINE_MAX, "pid=%d role=%s timestamp=\"%s\" level=%s message=\"", pid,
                       role, time, levels[line->level]);
        at = append(append_quoted(at, line->text, false), "\"");
        break;
    case LOG_FORMAT_JSON:
        at += snprintf(at, LOG_LINE_MAX,
                       "{\"pid\":%d,\"role\":\"%s\",\"timestamp\":\"%s\",\"level\":\"%s\","
                       "\"message\":\"",
                       pid, role, time, levels[line->level]);
        at = append(append_quoted(at, line->text, true), "\"}");
        break;
    }
    *at++ = '\n';
    return (size_t)(at - dst);
}
