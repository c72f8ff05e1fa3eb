/* usage: the access bits of entries, as the eviction policy in force counts uses
 * (store/access.h). */
#ifndef PACKLIST_ENGINE_USAGE_H
#define PACKLIST_ENGINE_USAGE_H

#include <stdint.h>

struct engine;

/* The access bits of a key that was just made. */
uint32_t usage_fresh(struct engine *engine);

/* Those of a key that has not been used for `idle_s` seconds, or whose LFU counter is `frequency`
 * (0 … 255); -1 where that is not known. As the policy in force counts it; a fresh key's, if what
 * it counts is not known. */
uint32_t usage_given(struct engine *engine, int64_t idle_s, int64_t frequency);

#endif
