/* put_off: work that must not be done inside a transaction is put off to the end of its EXEC.
 *
 * A transaction is one unit of the command log. Whatever begins or ends a file, or decides who
 * reads the log, would cut the unit in two: one half in one file, or for one role, and one half in
 * the other. So the directive changes at once, and its effect follows when EXEC has ended, before
 * the next command runs. */
#ifndef PACKLIST_ENGINE_PUT_OFF_H
#define PACKLIST_ENGINE_PUT_OFF_H

#include <stdbool.h>

struct engine;

enum put_off_work {
    PUT_OFF_APPENDONLY = 1 << 0, /* aof/aof.h: the append-only file is turned on or off */
    PUT_OFF_ROLE = 1 << 1        /* replication/replication.h: whose replica the server is */
};

/* Returns whether the work will be done when EXEC has ended: false outside of EXEC, where the
 * caller does it at once. O(1). */
bool put_off_add(struct engine *engine, enum put_off_work work);

/* Call it after the queue of EXEC. Returns whether there is work for put_off_run. */
bool put_off_end(struct engine *engine);

/* Does the work that is due. Outside of units. */
void put_off_run(struct engine *engine);

#endif
