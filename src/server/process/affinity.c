#define _GNU_SOURCE /* for sched_setaffinity */
#include "server/process/affinity.h"

#include "base/log/log.h"
#include "base/text/cpu_list.h"
#include "engine/engine.h"
#include "net/loop/pool.h"
#include "server/process/memory_return.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

/* Has the calling thread run on the processors of the list. */
static void use(const char *directive, sds list) {
    bool is_in[CPU_LIST_MAX];
    cpu_set_t set;
    if (sds_len(list) == 0) return;
    CPU_ZERO(&set);
    cpu_list_parse(sds_slice(list), is_in);
    for (size_t i = 0; i < CPU_LIST_MAX; i++)
        if (is_in[i]) CPU_SET(i, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0)
        log_warning("%s %s has no effect: %s", directive, list, strerror(errno));
}

/* A thread runs on the processors of the one that has started it. */
void affinity_start(struct engine *engine) {
    const struct config *config = &engine->config;
    cpu_set_t before;
    if (sds_len(config->bio_cpulist) == 0 && sds_len(config->server_cpulist) == 0) return;
    bool is_known = sched_getaffinity(0, sizeof(before), &before) == 0;
    use("bio-cpulist", config->bio_cpulist);
    net_pool_run(engine->net, NULL, NULL, NULL); /* starts all of its threads */
    memory_return_configure(engine);
    if (is_known) sched_setaffinity(0, sizeof(before), &before);
    use("server-cpulist", config->server_cpulist);
}
