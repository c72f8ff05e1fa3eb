/* oom_score: which processes the system kills first when memory is short (oom-score-adj). */
#ifndef PACKLIST_PROCESS_OOM_SCORE_H
#define PACKLIST_PROCESS_OOM_SCORE_H

#include <stdbool.h>

struct engine;

/* Which number of oom-score-adj-values holds. */
enum oom_role { OOM_PRIMARY, OOM_REPLICA, OOM_CHILD };

/* Puts this process's score to what the configuration says; to what it was at the start after
 * oom-score-adj went back to `no`. False, with a line in the log, when the system refuses: lowering
 * a score needs a privilege. */
bool oom_score_apply(struct engine *engine, enum oom_role role);

#endif
