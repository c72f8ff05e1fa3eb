/* string_common: functions that the string commands share. */
#ifndef PACKLIST_COMMANDS_STRINGS_STRING_COMMON_H
#define PACKLIST_COMMANDS_STRINGS_STRING_COMMON_H

#include "commands/common.h"
#include "engine/call.h"
#include "types/string.h"

/* Replies `part` of the text of a string. A large part is not copied: the reply refers to it. */
void string_refer(struct reply *reply, struct entry *entry, size_t start, size_t len);
static inline void string_reply_part(struct reply *reply, struct entry *entry, struct slice text,
                                     struct slice part) {
    if (__builtin_expect(part.len >= REPLY_REFER_AT, 0) && reply->common)
        string_refer(reply, entry, (size_t)(part.ptr - text.ptr), part.len);
    else
        reply_bulk(reply, part);
}

/* Replies the text of a string, or null when there is no entry. */
static inline void string_reply(struct reply *reply, struct entry *entry) {
    char buffer[INT64_TEXT_MAX];
    if (entry == NULL) {
        reply_null(reply);
        return;
    }
    struct slice text = string_text(entry, buffer);
    string_reply_part(reply, entry, text, text);
}

/* Returns the text of a string, or an empty one when there is no entry. */
static inline struct slice string_text_or_empty(const struct entry *entry,
                                                char buffer[INT64_TEXT_MAX]) {
    return entry ? string_text(entry, buffer) : SLICE("");
}

/* Limits a range, whose ends are included, to a string of that length. Negative positions count
 * from its end, and those before it become its first. Returns false when nothing is left. */
static inline bool string_range_clamp(int64_t *start, int64_t *end, int64_t length) {
    if (*start < 0) *start = *start + length > 0 ? *start + length : 0;
    if (*end < 0) *end = *end + length > 0 ? *end + length : 0;
    if (*end >= length) *end = length - 1;
    return *start <= *end;
}

/* Prepares `ref` for a new string. A value of another type, and a large text that another thread is
 * to free, is removed (REMOVAL_OVERWRITTEN): the key loses its expiry and its access bits. Returns
 * those bits for string_came; 0 when nothing was removed. */
uint32_t string_make_way_for_large(struct call *call, struct keyref *ref);
static inline uint32_t string_make_way(struct call *call, struct keyref *ref) {
    const struct entry *entry = ref->entry;
    if (!entry || (entry_type(entry) == VALUE_STRING && !entry_is_out_of_line(entry))) return 0;
    return string_make_way_for_large(call, ref);
}

/* The new string is stored. A key that existed before keeps its access bits `clock`. */
static inline void string_came(struct keyref *ref, uint32_t clock) {
    if (clock) entry_set_clock(ref->entry, clock);
}

/* As string_set, or string_set_keep_expiry, with the text argv[index]. The text is taken over if
 * possible (call_take_argument), so the value must not change until the command ends. */
void string_set_argument(struct call *call, struct keyref *ref, struct slice key, size_t index,
                         bool keeps_expiry);

/* As string_open: returns the bytes of the string `ref` under `key`; [from, to) may be written.
 * Replies the error and returns NULL when there is no memory. */
uint8_t *string_open_or_error(struct call *call, struct keyref *ref, struct slice key, size_t from,
                              size_t to);

/* --- Conditions on the present value: IFEQ value | IFNE value | IFDEQ digest | IFDNE digest --- */

enum condition { CONDITION_NONE, CONDITION_IFEQ, CONDITION_IFNE, CONDITION_IFDEQ, CONDITION_IFDNE };

/* Returns which of the conditions this word is, in any case; CONDITION_NONE if none. */
enum condition string_condition(struct slice word);

/* Returns whether `operand` can stand with the condition: digests have STRING_DIGEST_LENGTH
 * characters. Otherwise replies the error. */
bool string_check_condition(struct call *call, enum condition condition, struct slice operand);

/* Returns whether the condition holds for a string, or for a key that does not exist (NULL).
 * O(text), but O(1) where only the lengths differ. */
bool string_meets(const struct entry *entry, enum condition condition, struct slice operand);

/* What DIGEST replies: XXH3 in 64 bits, in lower-case hexadecimal digits. */
enum { STRING_DIGEST_LENGTH = 16 };

/* Writes the digest of the text to `digest`. O(text). */
struct slice string_digest(struct slice text, char digest[STRING_DIGEST_LENGTH + 1]);

/* Reads the time at argv[index], given as `option`, to *expiry_ms. Otherwise replies the error and
 * returns false. */
bool string_parse_expiry(struct call *call, enum expiry_option option, size_t index,
                         int64_t *expiry_ms);

#endif
