#include "server/process/oom_score.h"

#include "base/log/log.h"
#include "engine/engine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SCORE_PATH "/proc/self/oom_score_adj"

enum { SCORE_MIN = -1000, SCORE_MAX = 1000 };

static bool read_score(int64_t *value) {
    FILE *file = fopen(SCORE_PATH, "r");
    if (!file) return false;
    long long found;
    bool done = fscanf(file, "%lld", &found) == 1;
    fclose(file);
    if (done) *value = found;
    return done;
}

static bool write_score(int64_t value) {
    FILE *file = fopen(SCORE_PATH, "w");
    if (!file) return false;
    bool done = fprintf(file, "%lld", (long long)value) > 0;
    return fclose(file) == 0 && done;
}

bool oom_score_apply(struct engine *engine) {
    const struct config *config = &engine->config;
    struct oom_score *score = engine->oom_score;
    bool wanted = config->oom_score_adj != OOM_ADJUST_NO;
    score->for_replica = engine->is_replica;
    if (!wanted && !score->is_changed) return true;
    if (!score->is_changed && !read_score(&score->initial)) score->initial = 0;
    int64_t value = wanted ? config->oom_score_adj_values[engine->is_replica] : score->initial;
    if (config->oom_score_adj == OOM_ADJUST_RELATIVE) value += score->initial;
    if (value < SCORE_MIN) value = SCORE_MIN;
    if (value > SCORE_MAX) value = SCORE_MAX;
    if (!write_score(value)) {
        log_warning("Unable to write %lld to %s: %s", (long long)value, SCORE_PATH,
                    strerror(errno));
        return false;
    }
    score->is_changed = wanted;
    return true;
}

void oom_score_tick(struct engine *engine) {
    if (engine->oom_score->for_replica != engine->is_replica) oom_score_apply(engine);
}
