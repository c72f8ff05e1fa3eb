/* tls_watch: looks after the certificates in use: reads their files again when they have changed
 * (tls-auto-reload-interval), and warns before one expires. */
#ifndef PACKLIST_SERVER_TLS_WATCH_H
#define PACKLIST_SERVER_TLS_WATCH_H

#include "net/tls_context.h"

struct engine;

struct tls_watch {
    uint64_t generation; /* of what is in use: what a thread has made for another one is dropped */
    uint64_t files;      /* state of the files when they were last read, successfully or not */
    int64_t looked_ms;   /* steady_ms when it was last asked for */
    int64_t warned_ms;   /* steady_ms when dates were last looked at */
    bool is_used;        /* a role has a context */
    bool is_looking;     /* a thread looks at the files, and reads them */
};

/* Returns the state of all files that the options of the roles name; a role without is NULL.
 * Blocks. */
uint64_t tls_watch_files(const struct tls_options *const options[TLS_ROLES]);

/* New connections use these contexts from now on (NULL: a role has none), made from files that had
 * this state before they were read. Takes the contexts. */
void tls_watch_use(struct engine *engine, struct tls_context *const contexts[TLS_ROLES],
                   uint64_t files);

/* Called by cron. */
void tls_watch_tick(struct engine *engine);

/* What a thread is reading will not be used. */
void tls_watch_stop(struct engine *engine);

#endif
