/* notify: which keyspace events are published, as notify-keyspace-events says it in letters. Pure;
 * session/publish.h publishes them. */
#ifndef PACKLIST_CONFIG_NOTIFY_H
#define PACKLIST_CONFIG_NOTIFY_H

#include "base/sds.h"
#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

/* Beside the classes of events (enum event_class): to which channels they go. Nothing is published
 * without either. */
enum notify_flag {
    NOTIFY_KEYSPACE = 1 << 16, /* K: __keyspace@<database>__:<key> gets the event */
    NOTIFY_KEYEVENT = 1 << 17  /* E: __keyevent@<database>__:<event> gets the key */
};

/* Reads the letters: those of classes, K, E, and A for all classes but n and m. False, *flags
 * unchanged, when there is another one. */
bool notify_parse(struct slice text, uint32_t *flags);

/* The letters that Redis shows for the flags, in its order: A when it stands for them (it then
 * hides n). Appended to `out`. */
sds notify_append(sds out, uint32_t flags);

#endif
