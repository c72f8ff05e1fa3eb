/* key_common: what commands share that put values under other keys (rename.c). */
#ifndef PACKLIST_COMMANDS_KEYS_KEY_COMMON_H
#define PACKLIST_COMMANDS_KEYS_KEY_COMMON_H

#include "engine/call.h"

/* Puts the entry in the place of what `ref`, which was looked up for this key, names, if anything,
 * and publishes `event`. Takes ownership of the entry. */
void key_put(struct call *call, struct keyref *ref, struct slice key, struct entry *entry,
             const char *event);

/* Replies that source and destination are the same key. */
void key_fail_same(struct call *call);

#endif
