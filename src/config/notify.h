/* notify: the letters of notify-keyspace-events, which select the published events. Pure;
 * session/publish.h publishes them. */
#ifndef PACKLIST_CONFIG_NOTIFY_H
#define PACKLIST_CONFIG_NOTIFY_H

#include "base/slice.h"
#include "base/text/sds.h"

#include <stdbool.h>
#include <stdint.h>

/* To which channels events go, in addition to their classes (enum event_class). Without one of
 * these nothing is published. */
enum notify_flag {
    NOTIFY_KEYSPACE = 1 << 16, /* K: __keyspace@<database>__:<key> gets the event */
    NOTIFY_KEYEVENT = 1 << 17, /* E: __keyevent@<database>__:<event> gets the key */
    /* These get events of fields of hashes. A field, or a key among them, is written as
     * <length>:<name>. */
    NOTIFY_FIELDSPACE = 1 << 18, /* S: __subkeyspace@…__:<key> gets <event>|<field>,<field>… */
    NOTIFY_FIELDEVENT = 1 << 19, /* T: __subkeyevent@…__:<event> gets <key>|<field>,… */
    NOTIFY_EACH_FIELD = 1 << 20, /* I: __subkeyspaceitem@…__:<key>LF<field> gets the event */
    NOTIFY_EVENT_FIELDS = 1 << 21, /* V: __subkeyspaceevent@…__:<event>|<key> gets <field>,… */
    NOTIFY_FIELDS = 0xf << 18      /* any of these four */
};

/* Parses the letters: those of classes, K, E, S, T, I, V, and A for all classes but n, o, c
 * and m. Returns false, with *flags unchanged, for other letters. */
bool notify_parse(struct slice text, uint32_t *flags);

/* Appends the letters of the flags in Redis's order, with A in place of its classes if all of them
 * are there. Redis then leaves n, o and c out, and loses them when it rewrites the configuration.
 * Returns `out`. */
sds notify_append(sds out, uint32_t flags);

#endif
