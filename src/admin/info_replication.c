#include "admin/info_replication.h"

#include "engine/engine.h"
#include "replication/link.h"
#include "replication/link_report.h"
#include "replication/replication.h"

typedef unsigned long long llu;

static sds append_replica(const struct engine *engine, sds out, const struct replica *replica,
                          size_t number) {
    int64_t lag_ms =
        replica->state == REPLICA_ONLINE ? engine->steady_ms - replica_heard_ms(replica) : 0;
    return sds_append_format(out, "slave%zu:ip=%s,port=%d,state=%s,offset=%llu,lag=%lld\r\n",
                             number, replica_ip(replica), replica->listening_port,
                             replica_state_name(replica), (llu)replica->ack,
                             (long long)(lag_ms / 1000));
}

static sds append_replicas(const struct engine *engine, sds out) {
    const struct replicas *replicas = &engine->replication->replicas;
    size_t number = 0;
    out = sds_append_format(out, "connected_slaves:%zu\r\n", replicas->count);
    if (engine->config.min_replicas_to_write > 0 && engine->config.min_replicas_max_lag > 0)
        out = sds_append_format(out, "min_slaves_good_slaves:%zu\r\n", replicas->good);
    for (const struct replica *replica = replicas->first; replica; replica = replica->next)
        out = append_replica(engine, out, replica, number++);
    return out;
}

static sds append_backlog(const struct engine *engine, sds out) {
    const struct backlog *backlog = engine->replication->backlog;
    return sds_append_format(out,
                             "repl_backlog_active:%d\r\n"
                             "repl_backlog_size:%lld\r\n"
                             "repl_backlog_first_byte_offset:%llu\r\n"
                             "repl_backlog_histlen:%llu\r\n",
                             backlog != NULL, (long long)engine->config.repl_backlog_size,
                             backlog ? (llu)backlog->begin + 1 : 0,
                             backlog ? (llu)backlog_len(backlog) : 0);
}

sds info_append_replication(struct engine *engine, sds out) {
    const struct replication *replication = engine->replication;
    out = sds_append_format(out, "role:%s\r\n", link_of(engine) ? "slave" : "master");
    if (link_of(engine)) out = link_report_append(engine, out);
    out = append_replicas(engine, out);
    out = sds_append_format(out,
                            "master_failover_state:%s\r\n"
                            "master_replid:%s\r\n"
                            "master_replid2:%s\r\n"
                            "master_repl_offset:%llu\r\n"
                            "second_repl_offset:%lld\r\n",
                            failover_state_name(&replication->failover), replication->id,
                            replication->second_id, (llu)replication_offset(engine),
                            (long long)replication->second_offset);
    return append_backlog(engine, out);
}
