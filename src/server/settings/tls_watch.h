/* tls_watch: looks after the certificates in use: reads their files again when they have changed
 * (tls-auto-reload-interval), and warns before one expires. */
#ifndef PACKLIST_SERVER_SETTINGS_TLS_WATCH_H
#define PACKLIST_SERVER_SETTINGS_TLS_WATCH_H

#include "base/text/sds.h"
#include "net/tls/tls_context.h"

#include <stdbool.h>

struct engine;

/* What new connections use, and what it was made from. */
struct tls_setup {
    struct tls_context *contexts[TLS_ROLES]; /* owned; NULL: the role has none */
    uint64_t files;                          /* state of the files before they were read */
    int64_t port;                            /* tls-port */
    uint64_t generation;                     /* of tls_watch; set by tls_watch_save */
};

struct tls_watch {
    uint64_t generation; /* of what is in use: what a thread has made for another one is dropped */
    uint64_t files;      /* tls_setup of what is in use */
    int64_t port;        /* the same */
    uint64_t refused_files;      /* state of those that could not be used when last read … */
    char refusal[TLS_ERROR_MAX]; /* … and why; "": nothing since the setup is in use */
    int64_t looked_ms;           /* steady_ms when it was last asked for */
    int64_t warned_ms;           /* steady_ms when dates were last looked at */
    bool is_used;                /* a role has a context */
    bool is_looking;             /* a thread looks at the files, and reads them */
};

/* Has new connections use the directives' values, and the files as they are now; nothing for
 * clients with tls-port 0, and for other servers unless tls-replication or tls-cluster is on.
 * Returns false with *error (the caller's), and nothing changed, when something is wrong. Reads
 * files. */
bool tls_watch_configure(struct engine *engine, sds *error);

/* Returns what is in use, for tls_watch_restore; the caller frees it. */
struct tls_setup tls_watch_save(const struct engine *engine);

/* New connections use again what was saved, unless they do; reads no file and cannot fail. Takes
 * the contexts of a setup that was not in use. A second call changes nothing. */
void tls_watch_restore(struct engine *engine, struct tls_setup *saved);

void tls_setup_free(struct tls_setup *setup);

/* Called by cron. */
void tls_watch_tick(struct engine *engine);

/* What a thread is reading will not be used. */
void tls_watch_stop(struct engine *engine);

#endif
