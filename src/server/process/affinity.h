/* affinity: on which processors threads run (server-cpulist, bio-cpulist). */
#ifndef PACKLIST_SERVER_PROCESS_AFFINITY_H
#define PACKLIST_SERVER_PROCESS_AFFINITY_H

struct engine;

/* Starts the threads that work in the background (net/loop/pool.h, and the allocator's) on the
 * processors of bio-cpulist, and has the calling thread, and those that it starts later, run on
 * those of server-cpulist. A list that the system refuses changes nothing, with a warning. Called
 * once, from the loop's thread, before it starts others. */
void affinity_start(struct engine *engine);

#endif
