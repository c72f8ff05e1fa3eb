/* acl_log: what was refused to users, newest first (ACL LOG). */
#ifndef PACKLIST_USERS_ACL_LOG_H
#define PACKLIST_USERS_ACL_LOG_H

#include "base/text/sds.h"
#include "stats/stats.h"

/* Where it was refused. */
enum acl_context { ACL_CONTEXT_TOPLEVEL, ACL_CONTEXT_MULTI, ACL_CONTEXT_LUA };

struct acl_event {
    enum acl_reason reason;
    enum acl_context context;
    struct slice object; /* what was refused: a command, key, channel or database */
    struct slice user;
    struct slice client; /* its line, as CLIENT INFO shows it */
    int64_t now_ms;      /* wall clock */
};

/* Owned by the log; read-only. Names are cut. */
struct acl_entry {
    struct acl_entry *newer;
    struct acl_entry *older;
    enum acl_reason reason;
    enum acl_context context;
    uint64_t count; /* of events of this kind within a minute of each other */
    int64_t id;
    int64_t created_ms;
    int64_t updated_ms;
    sds object;
    sds user;
    sds client; /* of the last one */
};

/* All zero is an empty log. Numbers continue after a reset. */
struct acl_log {
    struct acl_entry *newest;
    struct acl_entry *oldest;
    size_t count;
    int64_t next_id;
};

/* Adds an event: to the entry of its kind, if that is among the newest ones and no older than a
 * minute, or as a new one; drops the oldest entries beyond `max`. O(1). */
void acl_log_add(struct acl_log *log, const struct acl_event *event, size_t max);

/* Drops all entries. O(entries). */
void acl_log_reset(struct acl_log *log);

#endif
