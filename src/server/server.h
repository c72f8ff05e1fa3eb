/* server: the process's state. Only server/ and admin/ see it; what belongs to one file of server/
 * alone (sockets, cron's timer, the lookup table of commands) is static there. */
#ifndef PACKLIST_SERVER_SERVER_H
#define PACKLIST_SERVER_SERVER_H

#include "config/config.h"
#include "durability/durability.h"
#include "log/command_log.h"
#include "log/reply_gate.h"
#include "net/listener.h"
#include "net/net.h"
#include "resp/parser.h"
#include "resp/reply.h"
#include "server/monitor.h"
#include "server/pubsub.h"
#include "server/session.h"
#include "server/session_list.h"
#include "server/watch.h"
#include "stats/latency.h"
#include "stats/slowlog.h"
#include "stats/stats.h"
#include "store/eviction.h"
#include "store/keyspace.h"
#include "table/command.h"
#include "types/value_limits.h"

/* The version of Redis whose commands and replies clients may count on. */
#define PACKLIST_REDIS_VERSION "7.2.4"

/* Said to a client that asks for what is refused while data is loaded. */
#define LOADING_REFUSAL "LOADING Redis is loading the dataset in memory"

/* Why commands are refused at the moment. */
enum refusal {
    REFUSING_LOADING = 1 << 0,  /* all that need the data: it is being loaded */
    REFUSING_UNSAVED = 1 << 1,  /* those that write: what they wrote could not be saved, … */
    REFUSING_UNWRITTEN = 1 << 2 /* … or not be added to the append-only file */
};

struct server {
    struct config config;
    struct config_source config_source;
    struct net *net;
    struct keyspace **keyspaces;      /* config.databases of them */
    struct value_limits value_limits; /* as the directives say */
    struct session_list sessions;
    void (*retire_session)(struct session *session); /* it ends: server/session_input.h */
    struct session *current;                         /* who is being served, or NULL */
    struct resp_parser parser; /* shared by all sessions that are not inside a request */
    sds argument;              /* of the request being served, to be taken over; or NULL */
    struct reply reply;        /* replies of the read being served */
    size_t counted_output;     /* what the output limits count of the client being served */
    size_t dropped_output;     /* bytes of its reply over its hard limit that were not kept */
    struct reply pushes;       /* messages to who is being served, behind its reply */
    struct session *side;      /* somebody else who is being answered, or NULL */
    struct reply side_reply;   /* that answer */
    struct reply side_pushes;  /* messages that follow it */
    struct blocking *blocking; /* server/blocking.c */
    struct watches watches;
    struct monitors monitors;
    struct pubsub pubsub;
    struct command_log command_log;
    struct reply_gate reply_gate;
    struct stats stats;
    struct slowlog slowlog;
    struct latency_monitor latency;
    uint64_t slow_ticks; /* commands that take so long are noted: server/slow.h */
    int64_t now_ms;      /* wall clock when the batch began, or the command, if it is 1 ms older */
    int64_t steady_ms;   /* monotonic clock of that time: for all that lasts for a while */
    int64_t start_ms;    /* steady_ms when it started */
    size_t startup_memory; /* mem_used() when it began to serve */
    uint64_t ticks;        /* clock_ticks at the end of the last command */
    uint64_t ticks_per_ms;
    uint64_t clock_due; /* clock_ticks when a batch that lasts must read the wall clock again */
    uint64_t dirty;     /* changes since the start */
    uint32_t refusing;  /* enum refusal; 0 nearly always */
    struct durability durability;
    uint64_t next_session_id;
    struct eviction_rules eviction; /* with the time, for entries' access bits */
    struct random random;           /* for choices that need no secrecy */
    size_t clients_memory;          /* see server/evict.h, as the next */
    size_t unauthenticated_memory;
    const char *executable;
    char run_id[41];
    char replication_id[41];
    int64_t pause_until_ms; /* CLIENT PAUSE: until this steady_ms; 0 = none */
    bool pause_writes_only;
    bool shutting_down;
    bool active_expire;  /* DEBUG SET-ACTIVE-EXPIRE */
    bool pause_cron;     /* DEBUG PAUSE-CRON */
    bool skip_checksums; /* DEBUG SET-SKIP-CHECKSUM-VALIDATION */
};

extern struct server server;

/* Ends the process in order after the current turn of the loop: data saved as the options (enum
 * shutdown_option) or else the save points ask for, listeners closed, pid file and socket removed.
 * False when the data could not be saved: then it goes on. */
bool server_shutdown(int options);

#endif
