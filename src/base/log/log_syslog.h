/* log_syslog: lines of the log for the system's logger. Only log.c calls it, from which it is
 * separate because <syslog.h> gives its levels the same names. */
#ifndef PACKLIST_BASE_LOG_LOG_SYSLOG_H
#define PACKLIST_BASE_LOG_LOG_SYSLOG_H

/* LOG_LOCAL0 to LOG_LOCAL7, and LOG_USER. */
enum { LOG_FACILITY_LOCALS = 8, LOG_FACILITY_USER = LOG_FACILITY_LOCALS };

/* Connects to the system's logger. `ident` begins each line and must stay; `facility` is 0 … 7, or
 * LOG_FACILITY_USER. */
void log_syslog_open(const char *ident, int facility);

/* Sends a line of the level 0 (debug) to 3 (warning), the texts of enum log_level. May allocate. */
void log_syslog_write(int level, const char *text);

#endif
