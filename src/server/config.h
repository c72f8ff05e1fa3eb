/* config: the directives: their values, texts, checks, and where they come from (file, command
 * line, CONFIG SET).
 *
 * One table (config_table.c) has a row for each directive: name, alias, kind, place in struct
 * config, limits, default, whether it can be set at run time, and what must happen when it changed.
 * Everything else (reading files, CONFIG GET, SET, REWRITE, --help) works from that table. */
#ifndef PACKLIST_SERVER_CONFIG_H
#define PACKLIST_SERVER_CONFIG_H

#include "base/log.h"
#include "base/sds.h"
#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum debug_access { DEBUG_ACCESS_NO, DEBUG_ACCESS_LOCAL, DEBUG_ACCESS_YES };

/* client-output-buffer-limit, by class of client. */
enum client_class {
    CLIENT_CLASS_NORMAL,
    CLIENT_CLASS_REPLICA,
    CLIENT_CLASS_PUBSUB,
    CLIENT_CLASS_COUNT
};

struct output_limit {
    uint64_t hard_bytes; /* 0 = none */
    uint64_t soft_bytes;
    int64_t soft_seconds;
};

/* The values in force. Strings and lists are owned by the configuration. */
struct config {
    int64_t port; /* 0 = no TCP */
    sds *bind;    /* addresses, a leading '-' makes one optional */
    size_t bind_count;
    sds unixsocket; /* "" = none */
    int64_t unixsocketperm;
    int64_t tcp_backlog;
    int64_t tcp_keepalive; /* seconds */
    int64_t timeout;       /* seconds a client may idle; 0 = for ever */
    int64_t maxclients;
    int64_t databases;
    sds requirepass; /* "" = none */
    bool protected_mode;
    bool daemonize;
    sds pidfile;
    sds logfile;
    int64_t loglevel; /* enum log_level */
    int64_t hz;
    int64_t proto_max_bulk_len;
    int64_t client_query_buffer_limit;
    struct output_limit output_limits[CLIENT_CLASS_COUNT];
    int64_t enable_debug_command; /* enum debug_access */
    int64_t list_max_listpack_size;
    int64_t list_compress_depth;
};

/* Sets every directive to its default. */
void config_init(struct config *config);

/* Frees what the values own. */
void config_free(struct config *config);

/* Where the configuration came from. */
struct config_source {
    sds path; /* absolute path of the file; "" when there is none (then CONFIG REWRITE cannot be
                 done) */
};

/* Reads the whole command line as Redis does: an optional config file (or "-" for standard input)
 * first, then directives as --name value… . Directives of Redis that do not apply are logged as
 * ignored (after the log file is known). False, with `*error` a text to print (owned by the caller:
 * file, line and text of what is wrong), when anything is malformed. --version and --help are
 * main's matter and must not be among `args`. */
bool config_load(struct config *config, struct config_source *source, int argc, char **argv,
                 sds *error);

/* --- For the CONFIG command --- */

struct config_directive; /* a row of the table */

const struct config_directive *config_directives(size_t *count);
const struct config_directive *
config_find(struct slice name); /* name or alias, any case; NULL when unknown */
const char *config_name(const struct config_directive *directive);
const char *config_alias(const struct config_directive *directive); /* or NULL */

/* Appends the value's text as CONFIG GET shows it. */
sds config_append_value(const struct config *config, const struct config_directive *directive,
                        sds out);

/* Parses and sets one value. False with *error (static or owned by config until the next call)
 * naming why. */
bool config_set(struct config *config, const struct config_directive *directive,
                const struct slice *values, size_t count, const char **error);

#endif
