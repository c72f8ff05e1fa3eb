/* oom_score: which processes the system kills first when memory is short (oom-score-adj). */
#ifndef PACKLIST_SERVER_PROCESS_OOM_SCORE_H
#define PACKLIST_SERVER_PROCESS_OOM_SCORE_H

#include <stdbool.h>
#include <stdint.h>

struct engine;

struct oom_score {
    bool is_changed;
    bool for_replica; /* the role when it was applied */
    int64_t initial;  /* the score before the first change */
};

/* Sets this process's score as oom-score-adj says, for a primary or a replica, or back to its value
 * at the start after oom-score-adj was set to `no`. Returns false, with a line in the log, when the
 * system refuses: lowering a score needs a privilege. */
bool oom_score_apply(struct engine *engine);

/* Applies it again after the role has changed. Called by cron; O(1). */
void oom_score_tick(struct engine *engine);

#endif
