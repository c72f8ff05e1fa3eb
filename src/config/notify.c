#include "config/notify.h"

#include "store/event.h"

/* The classes of A. */
enum {
    EVENTS_ALL = EVENT_GENERIC | EVENT_STRING | EVENT_LIST | EVENT_SET | EVENT_HASH |
                 EVENT_SORTED_SET | EVENT_EXPIRED | EVENT_EVICTED | EVENT_STREAM | EVENT_MODULE
};

/* In the order in which Redis shows them. */
static const struct {
    char letter;
    uint32_t flag;
} letters[] = {
    {'g', EVENT_GENERIC},      {'$', EVENT_STRING},        {'l', EVENT_LIST},
    {'s', EVENT_SET},          {'h', EVENT_HASH},          {'z', EVENT_SORTED_SET},
    {'x', EVENT_EXPIRED},      {'e', EVENT_EVICTED},       {'t', EVENT_STREAM},
    {'d', EVENT_MODULE},       {'n', EVENT_NEW},           {'o', EVENT_OVERWRITTEN},
    {'c', EVENT_TYPE_CHANGED}, {'K', NOTIFY_KEYSPACE},     {'E', NOTIFY_KEYEVENT},
    {'m', EVENT_KEY_MISS},     {'S', NOTIFY_FIELDSPACE},   {'T', NOTIFY_FIELDEVENT},
    {'I', NOTIFY_EACH_FIELD},  {'V', NOTIFY_EVENT_FIELDS},
};

enum { LETTERS = sizeof(letters) / sizeof(letters[0]) };

/* Returns the flags of one letter; 0 for other letters. */
static uint32_t flags_of(char letter) {
    if (letter == 'A') return EVENTS_ALL;
    for (int i = 0; i < LETTERS; i++)
        if (letters[i].letter == letter) return letters[i].flag;
    return 0;
}

bool notify_parse(struct slice text, uint32_t *flags) {
    uint32_t parsed = 0;
    for (size_t i = 0; i < text.len; i++) {
        uint32_t more = flags_of(text.ptr[i]);
        if (!more) return false;
        parsed |= more;
    }
    *flags = parsed;
    return true;
}

sds notify_append(sds out, uint32_t flags) {
    if ((flags & EVENTS_ALL) == EVENTS_ALL) {
        out = sds_append_cstr(out, "A");
        flags &= ~(uint32_t)EVENTS_ALL;
    }
    for (int i = 0; i < LETTERS; i++)
        if (flags & letters[i].flag) out = sds_append(out, slice_make(&letters[i].letter, 1));
    return out;
}
