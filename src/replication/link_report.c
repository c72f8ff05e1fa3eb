#include "replication/link_report.h"

#include "engine/call.h"
#include "engine/engine.h"
#include "replication/link.h"

typedef unsigned long long llu;

/* Seconds since a steady_ms; -1 when there is none. */
static long long seconds_since(const struct engine *engine, int64_t then_ms) {
    return then_ms < 0 ? -1 : (long long)((engine->steady_ms - then_ms) / 1000);
}

static bool is_syncing(const struct link *link) {
    return link->state == LINK_HEADER || link->state == LINK_RECEIVES || link->state == LINK_LOADS;
}

static sds append_progress(const struct engine *engine, sds out) {
    const struct link *link = link_of(engine);
    const struct link_payload *payload = &link->payload;
    uint64_t total = payload->is_marked ? 0 : payload->total;
    uint64_t left = total > payload->received ? total - payload->received : 0;
    double percent = total ? 100.0 * (double)payload->received / (double)total : 0;
    return sds_append_format(out,
                             "master_sync_total_bytes:%llu\r\n"
                             "master_sync_read_bytes:%llu\r\n"
                             "master_sync_left_bytes:%llu\r\n"
                             "master_sync_perc:%.2f\r\n"
                             "master_sync_last_io_seconds_ago:%lld\r\n",
                             (llu)total, (llu)payload->received, (llu)left, percent,
                             seconds_since(engine, link->io_ms));
}

/* Before the first synchronization Redis shows the offset 1. */
static llu shown_offset(const struct engine *engine) {
    const struct link *link = link_of(engine);
    return link->has_position ? (llu)history_offset(engine) : 1;
}

/* Bytes of a unit that has not ended are read, but not applied. */
static llu read_offset(const struct engine *engine) {
    const struct link *link = link_of(engine);
    return shown_offset(engine) + (link_is_up(engine) ? (llu)link->stream.unit.len : 0);
}

sds link_report_append(const struct engine *engine, sds out) {
    const struct link *link = link_of(engine);
    const struct config *config = &engine->config;
    bool is_up = link_is_up(engine);
    out = sds_append_format(out,
                            "master_host:%s\r\n"
                            "master_port:%d\r\n"
                            "master_link_status:%s\r\n"
                            "master_last_io_seconds_ago:%lld\r\n"
                            "master_sync_in_progress:%d\r\n"
                            "slave_read_repl_offset:%llu\r\n"
                            "slave_repl_offset:%llu\r\n",
                            link->host, link->port, is_up ? "up" : "down",
                            is_up ? seconds_since(engine, link->io_ms) : -1, is_syncing(link),
                            read_offset(engine), shown_offset(engine));
    if (is_syncing(link)) out = append_progress(engine, out);
    if (!is_up)
        out = sds_append_format(out, "master_link_down_since_seconds:%lld\r\n",
                                seconds_since(engine, link->down_ms));
    if (link->refusals.count > 0)
        out = sds_append_format(out,
                                "master_refused_commands:%llu\r\n"
                                "master_last_refused_command:%s\r\n",
                                (llu)link->refusals.count, link->refusals.recent[0].name);
    return sds_append_format(out,
                             "slave_priority:%lld\r\n"
                             "slave_read_only:%d\r\n"
                             "replica_announced:%d\r\n",
                             (long long)config->replica_priority, config->replica_read_only,
                             config->replica_announced);
}

static const char *state_name(const struct link *link) {
    switch (link->state) {
    case LINK_WAITS: return "connect";
    case LINK_CONNECTS: return "connecting";
    case LINK_PINGS:
    case LINK_CONFIGURES:
    case LINK_ASKS: return "handshake";
    case LINK_HEADER:
    case LINK_RECEIVES:
    case LINK_LOADS: return "sync";
    case LINK_STREAMS: return "connected";
    }
    return "unknown";
}

void link_report_role(struct call *call) {
    const struct engine *engine = call->engine;
    const struct link *link = link_of(engine);
    reply_array(call->reply, 5);
    reply_bulk_cstr(call->reply, "slave");
    reply_bulk(call->reply, sds_slice(link->host));
    reply_integer(call->reply, link->port);
    reply_bulk_cstr(call->reply, state_name(link));
    reply_integer(call->reply, link_is_up(engine) ? (int64_t)history_offset(engine) : -1);
}
