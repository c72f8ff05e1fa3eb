#include "commands/strings/string_common.h"

#include "base/hash/public_hash.h"

#include <inttypes.h>
#include <stdio.h>

void string_refer(struct reply *reply, struct entry *entry, size_t start, size_t len) {
    reply_bulk_captured(reply, text_capture_begin(string_share(entry), NULL), start, start + len);
}

uint32_t string_make_way_for_large(struct call *call, struct keyref *ref) {
    if (entry_type(ref->entry) == VALUE_STRING && !call_replaces_in_pool(call, ref->entry))
        return 0;
    uint32_t clock = entry_clock(ref->entry);
    call_remove(call, ref, entry_key(ref->entry), REMOVAL_OVERWRITTEN);
    return clock;
}

/* A short text is not taken over: it may be an integer, or be stored in the entry. */
static sds take_text(struct call *call, size_t index) {
    return call->argv[index].len < CALL_LARGE_ARGUMENT ? NULL : call_take_argument(call, index);
}

void string_set_argument(struct call *call, struct keyref *ref, struct slice key, size_t index,
                         bool keeps_expiry) {
    sds text = take_text(call, index);
    if (text && keeps_expiry)
        string_set_raw_keep_expiry(ref, key, text);
    else if (text)
        string_set_raw(ref, key, text);
    else if (keeps_expiry)
        string_set_keep_expiry(ref, key, call->argv[index]);
    else
        string_set(ref, key, call->argv[index]);
}

uint8_t *string_open_or_error(struct call *call, struct keyref *ref, struct slice key, size_t from,
                              size_t to) {
    uint8_t *bytes = string_open(ref, key, from, to);
    if (bytes == NULL) call_too_long(call);
    return bytes;
}

/* --- Conditions --- */

enum condition string_condition(struct slice word) {
    if (slice_is(word, "ifeq")) return CONDITION_IFEQ;
    if (slice_is(word, "ifne")) return CONDITION_IFNE;
    if (slice_is(word, "ifdeq")) return CONDITION_IFDEQ;
    if (slice_is(word, "ifdne")) return CONDITION_IFDNE;
    return CONDITION_NONE;
}

static bool compares_digests(enum condition condition) {
    return condition == CONDITION_IFDEQ || condition == CONDITION_IFDNE;
}

bool string_check_condition(struct call *call, enum condition condition, struct slice operand) {
    if (!compares_digests(condition) || operand.len == STRING_DIGEST_LENGTH) return true;
    return call_fail(call, CALL_ERROR_OTHER, "ERR must be exactly 16 hexadecimal characters");
}

bool string_meets(const struct entry *entry, enum condition condition, struct slice operand) {
    char buffer[INT64_TEXT_MAX], digest[STRING_DIGEST_LENGTH + 1];
    bool is_equal = false;
    if (entry && compares_digests(condition)) {
        string_digest(string_text(entry, buffer), digest);
        is_equal = slice_is(operand, digest); /* digits may be upper case */
    } else if (entry) {
        is_equal = slice_equal(string_text(entry, buffer), operand);
    }
    return is_equal == (condition == CONDITION_IFEQ || condition == CONDITION_IFDEQ);
}

struct slice string_digest(struct slice text, char digest[STRING_DIGEST_LENGTH + 1]) {
    snprintf(digest, STRING_DIGEST_LENGTH + 1, "%016" PRIx64, public_hash(text));
    return slice_make(digest, STRING_DIGEST_LENGTH);
}

/* --- Expiries --- */

bool string_parse_expiry(struct call *call, enum expiry_option option, size_t index,
                         int64_t *expiry_ms) {
    int64_t time;
    if (!call_integer(call, index, &time)) return false;
    return (time > 0 && !__builtin_mul_overflow(time, expiry_unit_ms(option), &time) &&
            !__builtin_add_overflow(time, expiry_base_ms(call, option), expiry_ms)) ||
           call_bad_expiry(call);
}
