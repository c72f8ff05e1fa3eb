/* script_busy: a script that runs longer than busy-reply-threshold is *busy*: from then on other
 * clients are served between two of its instructions (net/nested_poll.h). They get -BUSY, except
 * for the commands with COMMAND_ALLOW_BUSY, which can end the script or the server.
 *
 * Replicas get what was changed before the script, and PINGs. While it runs, nothing else happens:
 * no timer fires, no key expires, no blocked client is served, what the server's primary sends
 * waits, and the changes of the script stay one unit. For the script the clock stands still, but
 * TIME moves on once the script is busy: else one that waits for a time would never end. */
#ifndef PACKLIST_SCRIPT_SCRIPT_BUSY_H
#define PACKLIST_SCRIPT_SCRIPT_BUSY_H

#include <stdbool.h>
#include <stdint.h>

struct call;
struct script_run;

/* Call them right before and after the machine runs the script. */
void script_busy_begin(struct script_run *run);
void script_busy_end(struct script_run *run);

/* Returns how long the script has run, in milliseconds. */
int64_t script_busy_duration(const struct script_run *run);

/* Returns what TIME tells the script, in microseconds: when it began; once it has run longer than
 * busy-reply-threshold (5 seconds, where scripts never become busy) the time that it is. */
int64_t script_busy_wall_us(const struct script_run *run);

/* SCRIPT KILL, or FUNCTION KILL with `of_functions`: ends the run that is under way, unless it has
 * written or is one of the other kind. Replies. */
void script_busy_kill(struct call *call, bool of_functions);

/* Replies the error that other clients get during this run. */
void script_busy_refuse(struct call *call, const struct script_run *run);

#endif
