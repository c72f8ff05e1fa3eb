/* event: the classes of events of keys that clients can be notified of: the letters of
 * notify-keyspace-events. */
#ifndef PACKLIST_STORE_EVENT_H
#define PACKLIST_STORE_EVENT_H

#include "base/slice.h"

enum event_class {
    EVENT_NONE = 0,
    EVENT_GENERIC = 1 << 0,      /* g */
    EVENT_STRING = 1 << 1,       /* $ */
    EVENT_LIST = 1 << 2,         /* l */
    EVENT_SET = 1 << 3,          /* s */
    EVENT_HASH = 1 << 4,         /* h */
    EVENT_SORTED_SET = 1 << 5,   /* z */
    EVENT_EXPIRED = 1 << 6,      /* x */
    EVENT_EVICTED = 1 << 7,      /* e */
    EVENT_STREAM = 1 << 8,       /* t */
    EVENT_MODULE = 1 << 9,       /* d */
    EVENT_NEW = 1 << 10,         /* n */
    EVENT_KEY_MISS = 1 << 11,    /* m */
    EVENT_OVERWRITTEN = 1 << 12, /* o */
    EVENT_TYPE_CHANGED = 1 << 13 /* c */
};

/* Names of fields that an event is about, `stride` slices apart. */
struct event_fields {
    const struct slice *first;
    size_t count;
    size_t stride;
};

#endif
