#include "commands/hash_expiry.h"

#include "base/alloc.h"
#include "base/number.h"

bool field_list_parse(struct call *call, size_t index, const char *count_error,
                      struct field_list *fields) {
    int64_t count;
    if (index + 1 >= call->argc) return call_wrong_arity(call);
    if (!slice_is(call->argv[index], "fields"))
        return reply_error(call->reply,
                           "ERR Mandatory argument FIELDS is missing or not at the right position");
    if (!call_integer_in(call, index + 1, 1, INT64_MAX, &count, count_error)) return false;
    *fields = (struct field_list){call->argv + index + 2, call->argc - index - 2};
    if ((uint64_t)count == fields->count) return true;
    return reply_error(call->reply,
                       "ERR The `numfields` parameter must match the number of arguments");
}

bool field_expiry_parse(struct call *call, size_t index, int64_t unit_ms, int64_t base_ms,
                        int64_t *expiry_ms) {
    int64_t time;
    if (!call_integer(call, index, &time)) return false;
    if (time < 0) return reply_error(call->reply, "ERR invalid expire time, must be >= 0");
    bool is_late =
        time > HASH_EXPIRY_MAX_MS / unit_ms || time * unit_ms > HASH_EXPIRY_MAX_MS - base_ms;
    if (is_late && !call_is_repeated(call)) return call_bad_expiry(call);
    *expiry_ms = is_late ? HASH_EXPIRY_MAX_MS : base_ms + time * unit_ms;
    return true;
}

bool field_expiry_is_option(struct slice word) {
    return slice_is(word, "ex") || slice_is(word, "px") || slice_is(word, "exat") ||
           slice_is(word, "pxat");
}

bool field_expiry_option(struct call *call, size_t index, int64_t *expiry_ms) {
    struct slice option = call->argv[index];
    bool relative = slice_is(option, "ex") || slice_is(option, "px");
    bool seconds = slice_is(option, "ex") || slice_is(option, "exat");
    if (index + 1 == call->argc) return call_wrong_arity(call);
    return field_expiry_parse(call, index + 1, seconds ? 1000 : 1, relative ? call->now_ms : 0,
                              expiry_ms);
}

/* --- What follows a change --- */

void field_changes_begin(struct field_changes *changes, size_t capacity) {
    *changes = (struct field_changes){.expiring = mem_alloc(capacity * sizeof(*changes->expiring)),
                                      .deleted = mem_alloc(capacity * sizeof(*changes->deleted))};
}

void field_changes_note(struct field_changes *changes, struct slice field,
                        enum hash_expiry_result result) {
    if (result == HASH_EXPIRY_SET) changes->expiring[changes->expiring_count++] = field;
    if (result == HASH_FIELD_DELETED) changes->deleted[changes->deleted_count++] = field;
}

void field_changes_end(struct field_changes *changes) {
    mem_free(changes->expiring);
    mem_free(changes->deleted);
}

void field_propagate(struct call *call, const struct slice *words, size_t word_count,
                     const struct slice *fields, size_t count) {
    if (!call->propagates) return;
    char digits[INT64_TEXT_MAX];
    struct slice *argv = mem_alloc((word_count + 2 + count) * sizeof(*argv));
    memcpy(argv, words, word_count * sizeof(*argv));
    argv[word_count] = SLICE("FIELDS");
    argv[word_count + 1] = number_text(digits, (int64_t)count);
    memcpy(argv + word_count + 2, fields, count * sizeof(*argv));
    call_propagate_as(call, argv, word_count + 2 + count);
    mem_free(argv);
}

void field_propagate_deleted(struct call *call, const struct slice *fields, size_t count) {
    if (!call->propagates) return;
    struct slice *argv = mem_alloc((2 + count) * sizeof(*argv));
    argv[0] = SLICE("HDEL");
    argv[1] = call->argv[1];
    memcpy(argv + 2, fields, count * sizeof(*argv));
    call_propagate_as(call, argv, 2 + count);
    mem_free(argv);
}

void field_changes_report(struct call *call, struct keyref *ref,
                          const struct field_changes *changes, int64_t expiry_ms) {
    struct slice key = call->argv[1];
    if (changes->expiring_count) {
        char digits[INT64_TEXT_MAX];
        struct slice words[] = {SLICE("HPEXPIREAT"), key, number_text(digits, expiry_ms)};
        field_propagate(call, words, 3, changes->expiring, changes->expiring_count);
        call_touched(call, ref, key, EVENT_HASH, "hexpire", changes->expiring_count);
    }
    if (changes->deleted_count) {
        field_propagate_deleted(call, changes->deleted, changes->deleted_count);
        call_touched(call, ref, key, EVENT_HASH, "hdel", changes->deleted_count);
    }
}
