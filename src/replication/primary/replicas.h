/* replicas: the clients that have asked for the stream of changes, and what each has confirmed.
 *
 *      REPLCONF … ── new ── PSYNC ─┬─ the stream from an offset ──────────────────────┬─ online
 *                                  └─ waits ── loads: the payload is sent (full_sync.h) ┘
 *
 * A replica belongs to its session, and ends with it (primary_end_session). */
#ifndef PACKLIST_REPLICATION_PRIMARY_REPLICAS_H
#define PACKLIST_REPLICATION_PRIMARY_REPLICAS_H

#include "base/slice.h"
#include "base/text/sds.h"
#include "replication/primary/outflow.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

enum replica_state {
    REPLICA_NEW,        /* it has sent REPLCONF, but has not asked for the stream */
    REPLICA_WAITS,      /* for a full synchronization to begin */
    REPLICA_WAITS_FILE, /* for the file that it gets as its payload */
    REPLICA_LOADS,      /* it is sent the payload */
    REPLICA_ONLINE      /* it has the payload, or needed none */
};

struct replica {
    struct session *session;
    enum replica_state state;
    bool awaits_ack; /* online, but the stream begins with its first REPLCONF ACK */
    bool has_acked;  /* perhaps before the server has noticed that all of the payload is sent */
    bool has_aof_acked;
    bool takes_eof;          /* REPLCONF capa eof: a payload of unknown length */
    bool takes_new_id;       /* REPLCONF capa psync2 */
    bool takes_redis_fields; /* REPLCONF capa redis-fields: hashes as Redis writes them */
    bool is_valkey;      /* REPLCONF version from 9 on: hashes and streams as Valkey writes them */
    bool is_silent;      /* it has used SYNC: it sends no REPLCONF ACK */
    bool only_payload;   /* REPLCONF rdb-only: its connection ends with the payload */
    bool only_functions; /* REPLCONF rdb-filter-only functions: the payload has no keys */
    int listening_port;
    sds ip;      /* REPLCONF ip-address; NULL: the next one counts */
    sds address; /* of the connection */
    /* Offsets that it has confirmed: applied, and written to its append-only file. Each says
     * nothing before the first confirmation: has_acked, has_aof_acked. */
    uint64_t ack;
    uint64_t aof_ack;
    int64_t ack_ms;      /* steady_ms of its last REPLCONF ACK, or when it came online */
    int64_t waits_ms;    /* steady_ms when it began to wait */
    int64_t progress_ms; /* steady_ms when it last took something of the payload */
    struct outflow stream;
    struct outflow bulk;      /* the payload */
    struct sync_group *group; /* those that get the same payload; or NULL */
    struct replica *prev;
    struct replica *next;
};

/* Of INFO stats. */
struct sync_stats {
    uint64_t full_syncs;
    uint64_t partial_syncs;
    uint64_t partial_refusals;
};

/* Those that have asked for the stream, oldest first. */
struct replicas {
    struct replica *first;
    struct replica *last;
    size_t count;
    size_t good;       /* online, and heard of within min-replicas-max-lag */
    bool wants_acks;   /* GETACK goes into the stream at the end of the loop iteration */
    int64_t second_ms; /* steady_ms of the last tick that did its work */
    int64_t polled_ms; /* steady_ms of the last one outside of busy scripts */
    struct sync_stats stats;
};

/* --- One replica --- */

/* Returns what is known of the session as a replica, made when it is new; the session owns it. */
struct replica *replica_of(struct session *session);

/* The session counts as a replica from now on: CLIENT_TYPE_REPLICA. */
void replica_join(struct replica *replica);

/* The session ends: forgets its replica, whose payload was released. */
void replica_leave(struct session *session);

/* The replica has the data: it gets the stream, after its first ACK if `after_ack`. */
void replica_go_online(struct replica *replica, bool after_ack);

/* The replica has confirmed offsets (REPLCONF ACK and FACK; the latter may be NULL). */
void replica_note_ack(struct replica *replica, uint64_t offset, const uint64_t *aof_offset);

/* Returns whether the replica announced this address and port. */
bool replica_is_at(const struct replica *replica, struct slice host, int64_t port);

/* Writes "address:port" as the log and INFO name it, and returns the buffer. */
enum { REPLICA_NAME_MAX = 320 };
const char *replica_name(const struct replica *replica, char buffer[REPLICA_NAME_MAX]);

/* Returns the address that ROLE and INFO show. */
const char *replica_ip(const struct replica *replica);

/* Returns the state as INFO names it. */
const char *replica_state_name(const struct replica *replica);

/* Returns the steady_ms when the replica last sent anything. */
int64_t replica_heard_ms(const struct replica *replica);

/* --- All of them --- */

/* Returns the number of replicas that have confirmed an offset: applied, or written to their
 * append-only files. O(replicas). */
size_t replicas_confirmed(const struct engine *engine, uint64_t offset, bool on_disk);

/* Returns whether all replicas that can confirm have confirmed an offset. O(replicas). */
bool replicas_all_confirmed(const struct engine *engine, uint64_t offset);

/* Logs which replicas have not confirmed an offset, if there are replicas. O(replicas). */
void replicas_log_lag(const struct engine *engine, uint64_t offset);

/* Asks all replicas to confirm, once per loop iteration. */
void replicas_ask_for_acks(struct engine *engine);

/* Counts good replicas, and with too few of them restricts the server (RESTRICTED_FEW_REPLICAS).
 * O(replicas). */
void replicas_count_good(struct engine *engine);

/* Closes the connections of a group of replicas; NULL: of all. */
void replicas_close(struct engine *engine, const struct sync_group *group);

#endif
