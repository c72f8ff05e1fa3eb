/* upward: what the engine asks of the modules above it, which it cannot include.
 *
 * There is one table of these functions, in server/parts.c, and whoever asks reads
 * engine->upward->…; no other struct of engine/ or session/ holds a function of a module above. */
#ifndef PACKLIST_ENGINE_UPWARD_H
#define PACKLIST_ENGINE_UPWARD_H

#include "base/slice.h"
#include "store/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blocking;
struct command;
struct engine;
struct keyspace;
struct rdb_history;
struct session;

struct upward {
    /* Publish a keyspace event where clients may listen to it. Asked by engine/call.c; answered by
     * session/publish.h. */
    void (*publish_event)(struct engine *engine, int database, const char *event, struct slice key);
    void (*publish_fields)(struct engine *engine, int database, const char *event, struct slice key,
                           struct event_fields fields);

    /* Deletes all keys of a keyspace, which a snapshot may still need. Asked by engine/changes.c;
     * answered by snapshot/incremental.h. */
    bool (*empty_keyspace)(struct engine *engine, struct keyspace *keyspace, bool in_pool,
                           uint64_t number);

    /* A keyspace with this number has been freed. From engine/lazyfree.c, never from inside another
     * function of it, to execute/flush.h. */
    void (*keyspace_freed)(struct engine *engine, uint64_t number);

    /* A client's command that runs in another thread, or in steps, has ended after so many ticks.
     * From engine/work.c and engine/steps.c to execute/blocking_serve.h. */
    void (*work_has_ended)(struct session *session, uint64_t ticks);

    /* Slots of the cluster have got other owners: clients that wait for keys of these must go
     * there. From cluster/slots_changed.c to execute/blocking_serve.h. */
    void (*redirect_waiters)(struct blocking *blocking);

    /* The deadline of a client that waits has come. From engine/blocking.c to
     * execute/blocking_serve.h. */
    void (*time_is_up)(struct session *session);

    /* Returns how many bytes of output close a session; SIZE_MAX: any number is allowed. Asked by
     * engine/call.c; answered by session/client_limits.h. */
    size_t (*output_max)(const struct session *session);

    /* Bring the append-only file, and whose replica the server is, in line with their directives.
     * Asked by engine/put_off.c; answered by aof/aof.h and
     * replication/replication.h. */
    void (*apply_appendonly)(struct engine *engine);
    void (*apply_role)(struct engine *engine);

    /* Returns the flags with which a command that runs a script is admitted. Asked by
     * execute/admission.c; answered by script/script_run.h. */
    uint32_t (*script_flags)(const struct engine *engine, const struct command *command,
                             const struct slice *argv);

    /* Says where the data stands in a history of replication, if that is known. Asked by
     * snapshot/snapshot.c; answered by replication/replication.h. */
    bool (*describe_history)(const struct engine *engine, struct rdb_history *history);

    /* A session ends, or sends nothing more that counts; the link to the primary (SESSION_PRIMARY)
     * is closed. From session/session.c to requests/session_input.h and
     * replication/link/link.h. */
    void (*session_ends)(struct session *session);
    void (*primary_closed)(struct session *session);
};

#endif
