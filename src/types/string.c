/* Strings: the layouts are drawn in string.h.
 *
 * Invariants: an integer has as few bytes as it needs; a text is out-of-line if and only if it is
 * longer than STRING_EMBEDDED_MAX. Whether a text that reads as an integer has the integer layout
 * depends on how it was made. Each function that changes the length of a text reports it to the
 * keyspace. */
#include "types/string.h"

#include "base/checked.h"
#include "base/memory/relocate.h"
#include "base/prefetch.h"
#include "types/type_operations.h"
#include "types/value.h"

/* How a value will be stored. */
struct plan {
    enum string_encoding encoding;
    size_t size;   /* of the value inside the entry */
    size_t length; /* of the text */
    struct slice text;
    int64_t integer;
    sds out_of_line; /* the entry takes ownership of it; if NULL, `text` is copied */
};

/* --- Integers: the value is in the highest of the eight bytes that end with it. All eight lie in
 * the entry after its first byte, so it is read and written as one word. --- */

/* Bytes that hold `value` in two's complement. */
static size_t integer_size(int64_t value) {
    uint64_t magnitude = value < 0 ? ~(uint64_t)value : (uint64_t)value;
    return (64 - (unsigned)__builtin_clzll(magnitude | 1)) / 8 + 1;
}

static int64_t read_integer(const struct entry *entry) {
    size_t size = entry_byte(entry);
    int64_t word;
    memcpy(&word, entry_value(entry) + size - sizeof(word), sizeof(word));
    return word >> (64 - 8 * size);
}

static void write_integer(struct entry *entry, size_t size, int64_t value) {
    uint8_t *at = entry_value(entry) + size - sizeof(uint64_t);
    unsigned shift = 64 - 8 * (unsigned)size;
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    word = (word & (((uint64_t)1 << shift) - 1)) | (uint64_t)value << shift;
    memcpy(at, &word, sizeof(word));
    CHECKED_ASSERT(read_integer(entry) == value);
}

/* --- Storing --- */

static struct plan plan_integer(int64_t value, size_t length) {
    return (struct plan){.encoding = STRING_INTEGER,
                         .size = integer_size(value),
                         .length = length,
                         .integer = value};
}

static struct plan plan_text(struct slice text) {
    bool embedded = text.len <= STRING_EMBEDDED_MAX;
    return (struct plan){.encoding = embedded ? STRING_EMBEDDED : STRING_OUT_OF_LINE,
                         .size = embedded ? text.len : sizeof(sds),
                         .length = text.len,
                         .text = text};
}

static struct plan plan_any(struct slice text) {
    int64_t integer;
    return number_parse_int64(text, &integer) ? plan_integer(integer, text.len) : plan_text(text);
}

/* Sets the encoding of the entry, which has `size` bytes for its value. */
static void set_layout(struct entry *entry, enum string_encoding encoding, size_t size) {
    entry_set_type(entry, VALUE_STRING, encoding);
    entry_set_byte(entry, encoding >= STRING_OUT_OF_LINE ? 0 : (uint8_t)size);
}

/* --- Out-of-line texts --- */

static struct shared_text *shared_text_of(const struct entry *entry) {
    return entry_pointer(entry);
}

/* The text of an out-of-line value. */
static sds out_of_line_text(const struct entry *entry) {
    return entry_encoding(entry) == STRING_SHARED ? shared_text_of(entry)->text
                                                  : entry_pointer(entry);
}

static bool string_is_captured(const struct entry *entry) {
    return entry_encoding(entry) == STRING_SHARED && shared_text_is_captured(shared_text_of(entry));
}

/* Gives an entry that is labelled as out-of-line its text. */
static void set_out_of_line(struct entry *entry, sds text) {
    set_layout(entry, STRING_OUT_OF_LINE, sizeof(text));
    entry_set_pointer(entry, text);
}

/* Returns whether the whole text may be overwritten in place. False while it is captured: all of
 * it would be copied, and a new buffer costs no more. A capture that has ended does not matter. */
static bool may_overwrite(struct entry *entry) {
    if (string_is_captured(entry)) return false;
    if (entry_encoding(entry) == STRING_SHARED)
        set_out_of_line(entry, shared_text_take(shared_text_of(entry)));
    return entry_encoding(entry) == STRING_OUT_OF_LINE;
}

/* Writes a value into an entry that has `plan->size` bytes for it. */
static void write_value(struct entry *entry, const struct plan *plan) {
    set_layout(entry, plan->encoding, plan->size);
    if (plan->encoding == STRING_INTEGER)
        write_integer(entry, plan->size, plan->integer);
    else if (plan->encoding == STRING_OUT_OF_LINE)
        entry_set_pointer(entry, plan->out_of_line ? plan->out_of_line : sds_new(plan->text));
    else
        slice_copy((char *)entry_value(entry), plan->text);
}

static struct entry *new_entry(struct slice key, const struct plan *plan) {
    struct entry *entry = entry_new(key, VALUE_STRING, plan->encoding, plan->size);
    write_value(entry, plan);
    return entry;
}

struct entry *string_new(struct slice key, struct slice text) {
    struct plan plan = plan_any(text);
    return new_entry(key, &plan);
}

struct entry *string_copy_with(const struct entry *entry, struct slice key, sds text) {
    CHECKED_ASSERT(entry_is_out_of_line(entry) && sds_len(text) == string_length(entry));
    struct entry *copy = entry_copy(entry, key, sizeof(sds));
    entry_set_clock(copy, 0);
    set_out_of_line(copy, text);
    return copy;
}

/* If the present value is an out-of-line text with memory of exactly the size that `text` needs,
 * overwrites it and returns true. */
static bool overwrite_out_of_line(struct entry *entry, const struct plan *plan) {
    struct slice text = plan->text;
    if (plan->encoding != STRING_OUT_OF_LINE || plan->out_of_line || !may_overwrite(entry))
        return false;
    sds present = entry_pointer(entry);
    size_t capacity = sds_capacity(present);
    if (text.len > capacity || text.len < capacity - capacity / 8) return false;
    memcpy(present, text.ptr, text.len);
    sds_set_len(present, text.len);
    return true;
}

/* Makes a value of another type an empty string. */
static void become_string(struct keyref *ref) {
    enum value_type old_type = entry_type(ref->entry);
    uint64_t old_length = value_length(ref->entry);
    size_t old_size = value_size(ref->entry);
    value_free_out_of_line(ref->entry);
    struct entry *entry = entry_resize(ref->entry, old_size, 0);
    set_layout(entry, STRING_EMBEDDED, 0);
    keyref_moved(ref, entry);
    keyspace_recount(ref, old_type, old_length);
}

static void string_free_value(struct entry *entry) {
    if (entry_encoding(entry) == STRING_SHARED)
        shared_text_free(shared_text_of(entry));
    else
        sds_free(entry_pointer(entry));
}

/* Stores the value over the present string. */
static void replace(struct keyref *ref, const struct plan *plan) {
    struct entry *entry = ref->entry;
    if (overwrite_out_of_line(entry, plan)) return;
    bool was_out_of_line = entry_is_out_of_line(entry);
    size_t old_size = was_out_of_line ? sizeof(sds) : entry_byte(entry);
    if (was_out_of_line) string_free_value(entry);
    if (plan->size != old_size) entry = entry_resize(entry, old_size, plan->size);
    write_value(entry, plan);
    keyref_moved(ref, entry);
}

static void store(struct keyref *ref, struct slice key, const struct plan *plan) {
    if (ref->entry == NULL) {
        keyspace_add(ref, new_entry(key, plan));
        return;
    }
    CHECKED_ASSERT(slice_equal(entry_key(ref->entry), key));
    CHECKED_ASSERT(!value_entry_overlaps(ref->entry, plan->text));
    if (entry_type(ref->entry) != VALUE_STRING) become_string(ref);
    size_t old_length = string_length(ref->entry);
    replace(ref, plan);
    keyspace_resized(ref, old_length, plan->length);
}

static void drop_expiry(struct keyref *ref) {
    if (ref->entry && entry_expiry(ref->entry) != -1)
        keyspace_set_expiry(ref, -1, value_size(ref->entry));
}

void string_set(struct keyref *ref, struct slice key, struct slice text) {
    drop_expiry(ref);
    string_set_keep_expiry(ref, key, text);
}

void string_set_keep_expiry(struct keyref *ref, struct slice key, struct slice text) {
    struct plan plan = plan_any(text);
    store(ref, key, &plan);
}

void string_set_text(struct keyref *ref, struct slice key, struct slice text) {
    struct plan plan = plan_text(text);
    store(ref, key, &plan);
}

void string_set_built(struct keyref *ref, struct slice key, struct slice text) {
    struct plan plan = plan_text(text);
    if (plan.encoding == STRING_EMBEDDED) plan.encoding = STRING_EMBEDDED_RAW;
    store(ref, key, &plan);
}

/* If the present value is an integer of as many bytes and digits, overwrites it; returns true. */
static bool overwrite_integer(struct entry *entry, int64_t value) {
    int64_t present;
    if (entry_type(entry) != VALUE_STRING || !string_integer(entry, &present)) return false;
    size_t size = entry_byte(entry);
    if (size != integer_size(value) || !number_int64_same_length(present, value)) return false;
    write_integer(entry, size, value);
    return true;
}

void string_set_integer(struct keyref *ref, struct slice key, int64_t value) {
    if (ref->entry && overwrite_integer(ref->entry, value)) return;
    struct plan plan = plan_integer(value, number_int64_length(value));
    store(ref, key, &plan);
}

void string_set_raw(struct keyref *ref, struct slice key, sds text) {
    drop_expiry(ref);
    string_set_raw_keep_expiry(ref, key, text);
}

void string_set_raw_keep_expiry(struct keyref *ref, struct slice key, sds text) {
    struct plan plan = plan_text(sds_slice(text));
    bool is_out_of_line = plan.encoding == STRING_OUT_OF_LINE;
    if (is_out_of_line)
        plan.out_of_line = text;
    else
        plan.encoding = STRING_EMBEDDED_RAW;
    store(ref, key, &plan);
    if (!is_out_of_line) sds_free(text);
}

uint8_t *string_overwrite(struct keyref *ref, size_t len) {
    CHECKED_ASSERT(entry_type(ref->entry) == VALUE_STRING);
    if (!may_overwrite(ref->entry)) return NULL;
    sds text = entry_pointer(ref->entry);
    if (sds_len(text) != len) return NULL;
    drop_expiry(ref);
    return (uint8_t *)text;
}

/* --- Editing in place --- */

/* Reserves space for `more` bytes in an out-of-line text. */
static bool grow_out_of_line(struct entry *entry, size_t more) {
    if (entry_encoding(entry) == STRING_SHARED)
        return shared_text_try_grow(shared_text_of(entry), more);
    sds text = sds_try_grow(entry_pointer(entry), more);
    if (text == NULL) return false;
    entry_set_pointer(entry, text);
    return true;
}

/* Makes an out-of-line text `len` bytes long; the new bytes are uninitialised. */
static char *extend_out_of_line(struct entry *entry, size_t len) {
    sds text = out_of_line_text(entry);
    size_t old_len = sds_len(text);
    if (len <= old_len) return text;
    if (len > sds_capacity(text)) {
        if (!grow_out_of_line(entry, len - old_len)) return NULL;
        text = out_of_line_text(entry);
    }
    sds_set_len(text, len);
    return text;
}

/* Makes a value inside the entry a raw one of `len` bytes, at least its present length; the new
 * bytes are uninitialised. */
static char *extend_embedded(struct keyref *ref, size_t len) {
    char buffer[INT64_TEXT_MAX];
    struct entry *entry = ref->entry;
    struct slice old = string_text(entry, buffer);
    size_t old_size = entry_byte(entry);
    sds out_of_line = NULL;
    if (len > STRING_EMBEDDED_MAX) {
        out_of_line = sds_try_new_uninit(len);
        if (out_of_line == NULL) return NULL;
        slice_copy(out_of_line, old);
    }
    size_t size = out_of_line ? sizeof(sds) : len;
    bool was_integer = entry_encoding(entry) == STRING_INTEGER;
    if (size != old_size) entry = entry_resize(entry, old_size, size);
    set_layout(entry, out_of_line ? STRING_OUT_OF_LINE : STRING_EMBEDDED_RAW, size);
    if (out_of_line)
        entry_set_pointer(entry, out_of_line);
    else if (was_integer)
        slice_copy((char *)entry_value(entry), old);
    keyref_moved(ref, entry);
    return out_of_line ? out_of_line : (char *)entry_value(entry);
}

static char *extend(struct keyref *ref, size_t len) {
    return entry_is_out_of_line(ref->entry) ? extend_out_of_line(ref->entry, len)
                                            : extend_embedded(ref, len);
}

bool string_append(struct keyref *ref, struct slice text) {
    size_t old_len = string_length(ref->entry);
    CHECKED_ASSERT(old_len + text.len <= STRING_LENGTH_MAX);
    CHECKED_ASSERT(!value_entry_overlaps(ref->entry, text));
    char *bytes = extend(ref, old_len + text.len);
    if (bytes == NULL) return false;
    slice_copy(bytes + old_len, text);
    keyspace_resized(ref, old_len, old_len + text.len);
    return true;
}

/* A new raw value of `len` zero bytes. */
static uint8_t *create_zeroed(struct keyref *ref, struct slice key, size_t len) {
    static const char zeros[STRING_EMBEDDED_MAX];
    if (len <= STRING_EMBEDDED_MAX) {
        struct plan plan = plan_text(slice_make(zeros, len));
        plan.encoding = STRING_EMBEDDED_RAW;
        keyspace_add(ref, new_entry(key, &plan));
        return entry_value(ref->entry);
    }
    sds text = sds_try_new_uninit(len);
    if (text == NULL) return NULL;
    memset(text, 0, len);
    string_set_raw(ref, key, text);
    return (uint8_t *)text;
}

uint8_t *string_open(struct keyref *ref, struct slice key, size_t from, size_t to) {
    CHECKED_ASSERT(from <= to && to <= STRING_LENGTH_MAX);
    if (ref->entry == NULL) return create_zeroed(ref, key, to);
    CHECKED_ASSERT(slice_equal(entry_key(ref->entry), key));
    size_t old_len = string_length(ref->entry), len = to > old_len ? to : old_len;
    char *bytes = extend(ref, len);
    if (bytes == NULL) return NULL;
    memset(bytes + old_len, 0, len - old_len);
    keyspace_resized(ref, old_len, len);
    string_before_write(ref->entry, from, to);
    return (uint8_t *)bytes;
}

/* --- Captures --- */

struct shared_text *string_share(struct entry *entry) {
    CHECKED_ASSERT(entry_type(entry) == VALUE_STRING && entry_is_out_of_line(entry));
    if (entry_encoding(entry) == STRING_OUT_OF_LINE) {
        entry_set_pointer(entry, shared_text_new(entry_pointer(entry)));
        set_layout(entry, STRING_SHARED, sizeof(struct shared_text *));
    }
    return shared_text_of(entry);
}

void string_before_shared_write(struct entry *entry, size_t from, size_t to) {
    CHECKED_ASSERT(from <= to && to <= string_length(entry));
    shared_text_before_write(shared_text_of(entry), from, to);
}

/* --- Reading --- */

bool string_integer(const struct entry *entry, int64_t *value) {
    CHECKED_ASSERT(entry_type(entry) == VALUE_STRING);
    if (entry_encoding(entry) != STRING_INTEGER) return false;
    *value = read_integer(entry);
    return true;
}

bool string_parse_integer(const struct entry *entry, int64_t *value) {
    char buffer[INT64_TEXT_MAX];
    return string_integer(entry, value) || number_parse_int64(string_text(entry, buffer), value);
}

struct slice string_text(const struct entry *entry, char buffer[INT64_TEXT_MAX]) {
    CHECKED_ASSERT(entry_type(entry) == VALUE_STRING);
    switch (entry_encoding(entry)) {
    case STRING_INTEGER: return number_text(buffer, read_integer(entry));
    case STRING_OUT_OF_LINE: return sds_slice(entry_pointer(entry));
    case STRING_SHARED: return sds_slice(shared_text_of(entry)->text);
    default: return slice_make(entry_value(entry), entry_byte(entry));
    }
}

size_t string_length(const struct entry *entry) {
    CHECKED_ASSERT(entry_type(entry) == VALUE_STRING);
    switch (entry_encoding(entry)) {
    case STRING_INTEGER: return number_int64_length(read_integer(entry));
    case STRING_OUT_OF_LINE: return sds_len(entry_pointer(entry));
    case STRING_SHARED: return sds_len(shared_text_of(entry)->text);
    default: return entry_byte(entry);
    }
}

static const char *string_encoding_name(const struct entry *entry) {
    switch (entry_encoding(entry)) {
    case STRING_INTEGER: return "int";
    case STRING_EMBEDDED: return entry_byte(entry) <= STRING_EMBSTR_MAX ? "embstr" : "raw";
    default: return "raw";
    }
}

static size_t string_value_size(const struct entry *entry) {
    return entry_byte(entry);
}

static size_t string_allocated(const struct entry *entry) {
    return entry_encoding(entry) == STRING_SHARED ? shared_text_allocated(shared_text_of(entry))
                                                  : sds_allocated(entry_pointer(entry));
}

static size_t string_free_effort(const struct entry *entry) {
    return type_free_effort(1, string_allocated(entry));
}

static bool string_prefetch(struct value_lookup *lookup, unsigned step) {
    (void)step;
    prefetch(entry_pointer(lookup->entry));
    return false;
}

static void string_own_value(struct entry *entry) {
    set_out_of_line(entry, sds_new(sds_slice(out_of_line_text(entry))));
}

/* A shared text is known to its captures, released ones too. */
static void string_relocate(struct entry *entry, struct relocator *relocator,
                            struct relocate_cursor *cursor) {
    *cursor = (struct relocate_cursor){0};
    if (entry_encoding(entry) == STRING_OUT_OF_LINE)
        entry_set_pointer(entry, sds_relocate(entry_pointer(entry), relocator));
}

static bool string_check(const struct entry *entry) {
    if (!entry_check(entry) || entry_type(entry) != VALUE_STRING) return false;
    size_t byte = entry_byte(entry);
    switch (entry_encoding(entry)) {
    case STRING_INTEGER: return byte == integer_size(read_integer(entry));
    case STRING_EMBEDDED:
    case STRING_EMBEDDED_RAW: return byte <= STRING_EMBEDDED_MAX;
    case STRING_SHARED:
        if (!shared_text_check(shared_text_of(entry))) return false;
        __attribute__((fallthrough));
    case STRING_OUT_OF_LINE:
        return byte == 0 && sds_check(out_of_line_text(entry)) &&
               sds_len(out_of_line_text(entry)) > STRING_EMBEDDED_MAX;
    default: return false;
    }
}

/* --- Captures --- */

/* A text is copied at the speed of memory: faster than as many bytes of a collection. */
enum { STRING_CAPTURE_MIN = 4 * VALUE_CAPTURE_MIN };
_Static_assert((int)STRING_CAPTURE_MIN > (int)STRING_EMBEDDED_MAX,
               "only out-of-line texts are shared");

static struct capture *string_capture(struct entry *entry, size_t *left) {
    if (string_length(entry) < STRING_CAPTURE_MIN) return NULL;
    return text_capture_begin(string_share(entry), left);
}

static void *string_captured(const struct capture *capture) {
    (void)capture;
    return NULL;
}

static void *string_copy_captured(struct capture *capture) {
    return string_captured(capture);
}

const struct type_operations string_operations = TYPE_OPERATIONS(string);
