#include "base/log/log_syslog.h"

#include <syslog.h>

void log_syslog_open(const char *ident, int facility) {
    static const int locals[LOG_FACILITY_LOCALS] = {LOG_LOCAL0, LOG_LOCAL1, LOG_LOCAL2, LOG_LOCAL3,
                                                    LOG_LOCAL4, LOG_LOCAL5, LOG_LOCAL6, LOG_LOCAL7};
    openlog(ident, LOG_PID | LOG_NDELAY | LOG_NOWAIT,
            facility == LOG_FACILITY_USER ? LOG_USER : locals[facility]);
}

void log_syslog_write(int level, const char *text) {
    static const int priorities[] = {LOG_DEBUG, LOG_INFO, LOG_NOTICE, LOG_WARNING};
    syslog(priorities[level], "%s", text);
}
