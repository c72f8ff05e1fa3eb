/* usage: the access bits of entries, for the eviction policy in force (store/access.h). */
#ifndef PACKLIST_ENGINE_USAGE_H
#define PACKLIST_ENGINE_USAGE_H

#include <stdint.h>

struct engine;

/* Returns the access bits of a key that was just created. */
uint32_t usage_fresh(struct engine *engine);

/* Returns the access bits of a key that has not been used for `idle_s` seconds, or whose LFU
 * counter is `frequency` (0 … 255); -1 where one is not known. Only the one that the policy in
 * force counts is used; if it is not known, the bits are those of a new key. */
uint32_t usage_given(struct engine *engine, int64_t idle_s, int64_t frequency);

#endif
