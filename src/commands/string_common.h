/* string_common: what the string commands share. */
#ifndef PACKLIST_COMMANDS_STRING_COMMON_H
#define PACKLIST_COMMANDS_STRING_COMMON_H

#include "engine/call.h"
#include "types/string.h"

/* Answers the text of a string, or null when there is no entry. */
static inline void string_reply(struct reply *reply, const struct entry *entry) {
    char buffer[INT64_TEXT_MAX];
    if (entry)
        reply_bulk(reply, string_text(entry, buffer));
    else
        reply_null(reply);
}

/* The text of a string, or the empty one when there is no entry. */
static inline struct slice string_text_or_empty(const struct entry *entry,
                                                char buffer[INT64_TEXT_MAX]) {
    return entry ? string_text(entry, buffer) : SLICE("");
}

/* Before a new string takes the place of what `ref` names. A value of another type, and a large
 * text that another thread is to free, go as call_replace does: the key loses its expiry and its
 * access bits. Returns those bits, for string_came; 0 when nothing went. */
uint32_t string_make_way_for_large(struct call *call, struct keyref *ref);
static inline uint32_t string_make_way(struct call *call, struct keyref *ref) {
    const struct entry *entry = ref->entry;
    if (!entry || (entry_type(entry) == VALUE_STRING && !string_is_out_of_line(entry))) return 0;
    return string_make_way_for_large(call, ref);
}

/* The new string is there: it keeps the access bits of its key, which is not a new one. */
static inline void string_came(struct keyref *ref, uint32_t clock) {
    if (clock) entry_set_clock(ref->entry, clock);
}

/* As string_set, or string_set_keep_expiry, with the text argv[index], which is taken over if that
 * is possible (call_take_argument): the value must stay as it is until the command ends. */
void string_set_argument(struct call *call, struct keyref *ref, struct slice key, size_t index,
                         bool keeps_expiry);

/* As string_open: the bytes of the string `ref` under `key`, of which [from, to) may be written.
 * Answers the error and returns NULL when the memory can't be had. */
uint8_t *string_open_or_error(struct call *call, struct keyref *ref, struct slice key, size_t from,
                              size_t to);

void string_no_memory_error(struct call *call);

/* When a key is to expire, as SET and GETEX name it. */
enum expiry_option {
    EXPIRY_NONE,
    EXPIRY_KEEP,    /* KEEPTTL */
    EXPIRY_PERSIST, /* PERSIST */
    EXPIRY_EX,
    EXPIRY_PX,
    EXPIRY_EXAT,
    EXPIRY_PXAT
};

/* Is `option` the name of a time to expire at, EX, PX, EXAT or PXAT? EXPIRY_NONE when not. */
enum expiry_option string_expiry_option(struct slice option);

/* Reads the time at argv[index], given as `option`, to *expiry_ms; else answers the error and
 * returns false. */
bool string_parse_expiry(struct call *call, enum expiry_option option, size_t index,
                         int64_t *expiry_ms);

#endif
