#include "server/sample_rates.h"

#include "base/clock.h"
#include "base/memory/alloc.h"
#include "engine/engine.h"
#include "net/connections/conn.h"
#include "net/net.h"

enum { SAMPLE_EVERY_MS = 100 };

static void sample_counters(struct engine *engine) {
    struct stats *stats = &engine->stats;
    if (engine->steady_ms - stats->commands_rate.last_ms < SAMPLE_EVERY_MS) return;
    struct conn_totals totals = conn_totals(engine->net);
    rate_sample(&stats->commands_rate, stats->commands, engine->steady_ms);
    rate_sample(&stats->input_rate, totals.input_bytes, engine->steady_ms);
    rate_sample(&stats->output_rate, totals.output_bytes, engine->steady_ms);
    rate_sample(&stats->primary_input_rate, conn_totals_of(engine->net, CONN_PRIMARY).input_bytes,
                engine->steady_ms);
    rate_sample(&stats->replica_output_rate, conn_totals_of(engine->net, CONN_REPLICA).output_bytes,
                engine->steady_ms);
    struct net_totals loop = net_totals(engine->net);
    rate_sample(&stats->iterations_rate, loop.iterations, engine->steady_ms);
    rate_sample(&stats->active_rate, clock_ticks_to_us(loop.active_ticks), engine->steady_ms);
}

void sample_rates(struct engine *engine) {
    sample_counters(engine);
    stats_note_memory(&engine->stats, mem_used(), engine->now_ms / 1000);
}
