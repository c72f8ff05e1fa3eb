/* Words are loaded from the bytes as they are; where the order of the bits matters, their bytes are
 * swapped so that the first bit is the highest one.
 *
 * A range of bits is a first byte that may be cut on either side, whole bytes, and a last one that
 * may be cut:
 *
 *      ..111111 11111111 11111111 111.....
 *        ^ from                      ^ to          (head, body, tail) */
#include "types/bits.h"

#include "base/checked.h"
#include "base/processor.h"
#include "ds/strings/shared_text.h"

#include <endian.h>
#ifdef PROCESSOR_X86_64
#include <immintrin.h>
#endif

/* --- Counting --- */

/* Set bits of `len` bytes. The compiler makes one instruction of the builtin where the processor is
 * known to have it, else a dozen; four sums keep the additions from waiting for each other. */
static inline __attribute__((always_inline)) uint64_t count_words(const char *at, size_t len) {
    uint64_t sums[4] = {0}, words[4], last = 0;
    for (; len >= sizeof(words); at += sizeof(words), len -= sizeof(words)) {
        memcpy(words, at, sizeof(words));
        for (int i = 0; i < 4; i++) sums[i] += (unsigned)__builtin_popcountll(words[i]);
    }
    for (; len >= sizeof(last); at += sizeof(last), len -= sizeof(last)) {
        memcpy(&last, at, sizeof(last));
        sums[0] += (unsigned)__builtin_popcountll(last);
    }
    last = 0;
    memcpy(&last, at, len);
    return sums[0] + sums[1] + sums[2] + sums[3] + (unsigned)__builtin_popcountll(last);
}

#ifdef PROCESSOR_X86_64
__attribute__((target("popcnt"))) static uint64_t count_by_instruction(const char *at, size_t len) {
    return count_words(at, len);
}

/* Set bits in each of 32 bytes: both halves of a byte are looked up in a table of sixteen. */
__attribute__((target("avx2"))) static inline __m256i count_in_bytes(const char *at) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                           2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low_half = _mm256_set1_epi8(15);
    __m256i bytes = _mm256_loadu_si256((const __m256i *)at);
    __m256i low = _mm256_and_si256(bytes, low_half);
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low_half);
    return _mm256_add_epi8(_mm256_shuffle_epi8(table, low), _mm256_shuffle_epi8(table, high));
}

/* Twice as fast as a word at a time (W. Mula et al., "Faster population counts using AVX2
 * instructions", 2016; its simpler form, which is bound by memory already). */
__attribute__((target("avx2,popcnt"))) static uint64_t count_wide(const char *at, size_t len) {
    enum { WIDTH = sizeof(__m256i), STEP = 4 * WIDTH };
    __m256i sums = _mm256_setzero_si256();
    for (; len >= STEP; at += STEP, len -= STEP) {
        __m256i left = _mm256_add_epi8(count_in_bytes(at), count_in_bytes(at + WIDTH));
        __m256i right =
            _mm256_add_epi8(count_in_bytes(at + 2 * WIDTH), count_in_bytes(at + 3 * WIDTH));
        __m256i bytes = _mm256_add_epi8(left, right);
        sums = _mm256_add_epi64(sums, _mm256_sad_epu8(bytes, _mm256_setzero_si256()));
    }
    uint64_t parts[4];
    memcpy(parts, &sums, sizeof(parts));
    return parts[0] + parts[1] + parts[2] + parts[3] + count_words(at, len);
}
#endif

static uint64_t count_bytes(const char *at, size_t len) {
#ifdef PROCESSOR_X86_64
    if (__builtin_cpu_supports("avx2")) return count_wide(at, len);
    if (__builtin_cpu_supports("popcnt")) return count_by_instruction(at, len);
#endif
    return count_words(at, len);
}

/* The bits of one byte that lie in the range. */
static uint8_t bits_within(uint64_t byte, uint64_t from, uint64_t to) {
    unsigned mask = 0xFF;
    if (byte == bits_byte(from)) mask &= 0xFFu >> (from & 7);
    if (byte == bits_byte(to)) mask &= ~(0xFFu >> (to & 7));
    return (uint8_t)mask;
}

uint64_t bits_count(struct slice bytes, uint64_t from, uint64_t to) {
    CHECKED_ASSERT(from <= 8 * bytes.len && to <= 8 * bytes.len);
    if (from >= to) return 0;
    uint64_t count = 0, first = bits_byte(from), end = bits_byte(to);
    if (to & 7) {
        unsigned tail = (uint8_t)bytes.ptr[end] & bits_within(end, from, to);
        count += (unsigned)__builtin_popcount(tail);
    }
    if (from & 7 && first < end) {
        unsigned head = (uint8_t)bytes.ptr[first] & bits_within(first, from, to);
        count += (unsigned)__builtin_popcount(head);
        first++;
    }
    return first < end ? count + count_bytes(bytes.ptr + first, end - first) : count;
}

/* --- Searching --- */

/* The first byte of [at, end) that is not `skipped`, or `end`. */
static const char *skip_bytes(const char *at, const char *end, uint8_t skipped) {
    uint64_t pattern = skipped ? UINT64_MAX : 0, words[4];
    for (; (size_t)(end - at) >= sizeof(words); at += sizeof(words)) {
        memcpy(words, at, sizeof(words));
        if (((words[0] ^ pattern) | (words[1] ^ pattern) | (words[2] ^ pattern) |
             (words[3] ^ pattern)) != 0)
            break;
    }
    while (at < end && (uint8_t)*at == skipped) at++;
    return at;
}

int64_t bits_find(struct slice bytes, bool value, uint64_t from, uint64_t to) {
    uint8_t skipped = value ? 0 : 0xFF;
    CHECKED_ASSERT(from >= to || to <= 8 * bytes.len);
    uint64_t byte = bits_byte(from), end = bits_byte(to + 7);
    while (from < to && byte < end) {
        unsigned found = ((uint8_t)bytes.ptr[byte] ^ skipped) & bits_within(byte, from, to);
        if (found) return (int64_t)(8 * byte) + __builtin_clz(found << 24);
        byte = (uint64_t)(skip_bytes(bytes.ptr + byte + 1, bytes.ptr + end, skipped) - bytes.ptr);
    }
    return -1;
}

/* --- Combining --- */

/* 32 bytes a step: one or two of the processor's wide registers. */
typedef uint64_t wide __attribute__((vector_size(32)));

/* A macro, as words of all widths are combined. The operation is a constant where it is used. */
#define COMBINED(operation, a, b)                                                                  \
    ((operation) == BITS_AND || (operation) == BITS_ANDOR ? (a) & (b)                              \
     : (operation) == BITS_OR                             ? (a) | (b)                              \
     : (operation) == BITS_DIFF                           ? (a) & ~(b)                             \
     : (operation) == BITS_DIFF1                          ? ~(a) & (b)                             \
                                                          : (a) ^ (b))

static inline void combine_two(enum bits_operation operation, uint8_t *out, const char *from,
                               size_t len) {
    for (; len >= sizeof(wide); out += sizeof(wide), from += sizeof(wide), len -= sizeof(wide)) {
        wide a, b;
        memcpy(&a, out, sizeof(a)), memcpy(&b, from, sizeof(b));
        a = COMBINED(operation, a, b);
        memcpy(out, &a, sizeof(a));
    }
    for (size_t i = 0; i < len; i++) {
        uint8_t a = out[i], b = (uint8_t)from[i];
        out[i] = (uint8_t)COMBINED(operation, a, b);
    }
}

static void invert(uint8_t *out, size_t len) {
    for (; len >= sizeof(wide); out += sizeof(wide), len -= sizeof(wide)) {
        wide a;
        memcpy(&a, out, sizeof(a));
        a = ~a;
        memcpy(out, &a, sizeof(a));
    }
    for (size_t i = 0; i < len; i++) out[i] = (uint8_t)~out[i];
}

enum { BLOCK = 8192 }; /* stays in the L1 cache while the sources are combined */

struct sources {
    const struct slice *texts;
    struct capture *const *captures; /* NULL: all sources are texts */
    size_t count;
    char *buffer; /* of BLOCK bytes, for parts of captures */
};

static __attribute__((noinline)) void read_part(struct capture *capture, size_t at, char *buffer,
                                                size_t len) {
    enum { PASSED_AT_ONCE = 16 * BLOCK };
    text_capture_read(capture, at, buffer, len);
    if ((at + len) % PASSED_AT_ONCE == 0) text_capture_pass(capture, at + len);
}

/* The part of [at, at + len) that the source has. It may lie in the buffer. */
static struct slice part_of(const struct sources *sources, size_t index, size_t at, size_t len) {
    struct slice text = sources->texts[index];
    if (text.len <= at) return SLICE("");
    if (text.len - at < len) len = text.len - at;
    if (!sources->captures || !sources->captures[index]) return slice_make(text.ptr + at, len);
    read_part(sources->captures[index], at, sources->buffer, len);
    return slice_make(sources->buffer, len);
}

/* The part of the source, and zeros after it. */
static void copy_part(uint8_t *out, const struct sources *sources, size_t index, size_t at,
                      size_t len) {
    struct slice part = part_of(sources, index, at, len);
    if (part.len && part.ptr != (const char *)out) memcpy(out, part.ptr, part.len);
    memset(out + part.len, 0, len - part.len);
}

/* Combines one source after the other, from the one with the index `first` on: AND, OR, XOR,
 * NOT. */
static void combine_all(enum bits_operation operation, uint8_t *out, size_t at, size_t len,
                        const struct sources *sources, size_t first) {
    copy_part(out, sources, first, at, len);
    for (size_t i = first + 1; i < sources->count; i++) {
        struct slice part = part_of(sources, i, at, len);
        if (operation == BITS_AND) {
            combine_two(BITS_AND, out, part.ptr, part.len);
            memset(out + part.len, 0, len - part.len);
        } else if (operation == BITS_OR) {
            combine_two(BITS_OR, out, part.ptr, part.len);
        } else {
            combine_two(BITS_XOR, out, part.ptr, part.len);
        }
    }
    if (operation == BITS_NOT) invert(out, len);
}

/* Combines the first source with what is set in any other one: DIFF, DIFF1, ANDOR. */
static void combine_first(enum bits_operation operation, uint8_t *out, size_t at, size_t len,
                          const struct sources *sources) {
    uint8_t others[BLOCK];
    combine_all(BITS_OR, others, at, len, sources, 1);
    copy_part(out, sources, 0, at, len);
    switch (operation) {
    case BITS_DIFF: combine_two(BITS_DIFF, out, (const char *)others, len); break;
    case BITS_DIFF1: combine_two(BITS_DIFF1, out, (const char *)others, len); break;
    default: combine_two(BITS_ANDOR, out, (const char *)others, len);
    }
}

/* Keeps what is set in one source; `out` gets what is set in any. */
static void combine_one(uint8_t *out, size_t at, size_t len, const struct sources *sources) {
    uint8_t twice[BLOCK] = {0}, both[BLOCK];
    copy_part(out, sources, 0, at, len);
    for (size_t i = 1; i < sources->count; i++) {
        struct slice part = part_of(sources, i, at, len);
        if (part.len == 0) continue;
        memcpy(both, out, part.len);
        combine_two(BITS_AND, both, part.ptr, part.len);
        combine_two(BITS_OR, twice, (const char *)both, part.len);
        combine_two(BITS_OR, out, part.ptr, part.len);
    }
    combine_two(BITS_DIFF, out, (const char *)twice, len);
}

void bits_combine_captured(enum bits_operation operation, uint8_t *out, size_t len,
                           const struct slice *texts, struct capture *const *captures,
                           size_t count) {
    char buffer[BLOCK];
    struct sources sources = {texts, captures, count, buffer};
    CHECKED_ASSERT(operation == BITS_NOT ? count == 1 : count > 0);
    CHECKED_ASSERT(bits_is_commutative(operation) || count > 1);
    for (size_t at = 0; at < len; at += BLOCK) {
        size_t size = len - at < BLOCK ? len - at : BLOCK;
        if (operation <= BITS_NOT)
            combine_all(operation, out + at, at, size, &sources, 0);
        else if (operation == BITS_ONE)
            combine_one(out + at, at, size, &sources);
        else
            combine_first(operation, out + at, at, size, &sources);
    }
}

void bits_combine(enum bits_operation operation, uint8_t *out, size_t len,
                  const struct slice *sources, size_t count) {
    bits_combine_captured(operation, out, len, sources, NULL, count);
}

/* --- Integers --- */

/* An integer at any bit offset lies within nine bytes: a word, and a byte for the shift. */
enum { WINDOW = 9 };

int64_t bits_read(struct slice bytes, uint64_t offset, struct bits_type type) {
    uint8_t window[WINDOW] = {0};
    uint64_t first = bits_byte(offset), word;
    if (first < bytes.len) {
        size_t rest = bytes.len - first;
        memcpy(window, bytes.ptr + first, rest < WINDOW ? rest : WINDOW);
    }
    unsigned skip = offset & 7;
    memcpy(&word, window, sizeof(word));
    word = be64toh(word) << skip | (unsigned)window[8] >> (8 - skip);
    unsigned unused = 64u - type.width;
    return type.is_signed ? (int64_t)word >> unused : (int64_t)(word >> unused);
}

void bits_write(uint8_t *bytes, uint64_t offset, struct bits_type type, int64_t value) {
    uint64_t low = (uint64_t)value;
    for (uint64_t bit = offset + type.width; bit > offset;) { /* backwards, byte by byte */
        uint64_t byte = bits_byte(bit - 1), start = 8 * byte > offset ? 8 * byte : offset;
        unsigned width = (unsigned)(bit - start), shift = (unsigned)(8 * byte + 8 - bit);
        unsigned mask = ((1u << width) - 1) << shift;
        bytes[byte] = (uint8_t)((bytes[byte] & ~mask) | ((unsigned)(low << shift) & mask));
        low >>= width;
        bit = start;
    }
}

/* Cuts a number to the type's width, as writing and reading it does. */
static int64_t wrap(struct bits_type type, uint64_t sum) {
    unsigned unused = 64u - type.width;
    return type.is_signed ? (int64_t)(sum << unused) >> unused : (int64_t)(sum << unused >> unused);
}

/* The largest number of a type; the smallest of a signed type is -max - 1. */
static int64_t type_max(struct bits_type type) {
    CHECKED_ASSERT(type.width >= 1 && type.width <= (type.is_signed ? 64 : 63));
    return (int64_t)(((uint64_t)1 << (type.width - type.is_signed)) - 1);
}

static int64_t type_min(struct bits_type type) {
    return type.is_signed ? -type_max(type) - 1 : 0;
}

/* Sets the result for a number outside the type's range; `wrapped` holds its low 64 bits. */
static bool handle_overflow(struct bits_type type, enum bits_overflow overflow, bool above,
                            uint64_t wrapped, int64_t *result) {
    switch (overflow) {
    case BITS_FAIL: return false;
    case BITS_SATURATE: *result = above ? type_max(type) : type_min(type); return true;
    case BITS_WRAP: *result = wrap(type, wrapped); return true;
    }
    return false;
}

/* Whether a value outside the range counts as greater. In Redis and Valkey also what is so small
 * that its distance to the greatest number of a type exceeds an int64_t. */
static bool is_above(struct bits_type type, int64_t value) {
    return !type.is_signed || value > 0 || value < type_max(type) - INT64_MAX;
}

bool bits_fit(struct bits_type type, enum bits_overflow overflow, int64_t value, int64_t *result) {
    *result = value;
    if (value >= type_min(type) && value <= type_max(type)) return true;
    bool above = is_above(type, value);
    return handle_overflow(type, overflow, above, (uint64_t)value, result);
}

bool bits_add(struct bits_type type, enum bits_overflow overflow, int64_t value, int64_t increment,
              int64_t *result) {
    bool outside = __builtin_add_overflow(value, increment, result);
    if (!outside && *result >= type_min(type) && *result <= type_max(type)) return true;
    uint64_t sum = (uint64_t)value + (uint64_t)increment;
    return handle_overflow(type, overflow, increment > 0, sum, result);
}
