/* oom_score: which processes the system kills first when memory is short (oom-score-adj). */
#ifndef PACKLIST_PROCESS_OOM_SCORE_H
#define PACKLIST_PROCESS_OOM_SCORE_H

#include <stdbool.h>
#include <stdint.h>

struct engine;

struct oom_score {
    bool is_changed;
    int64_t initial; /* the score before the first change */
};

/* Sets this process's score as oom-score-adj says, for a primary or a replica, or back to its value
 * at the start after oom-score-adj was set to `no`. Returns false, with a line in the log, when the
 * system refuses: lowering a score needs a privilege. */
bool oom_score_apply(struct engine *engine);

#endif
