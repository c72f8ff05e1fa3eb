/* A table holds, by their hash, the last place of each three bytes. A copy is made where they occur
 * again, at the distance of the copy before or at the place in the table. Records of equal size,
 * which neighbours in lists often are, repeat each other at one distance, and trying that first
 * needs no load from the table. */
#include "base/lzf/lzf_internal.h"

enum {
    PLACES_LOG_MIN = 6,
    PLACES_LOG_MAX = 14,
    PATIENCE_LOG = 6 /* so many steps without a copy (as a power of two) make steps a byte longer */
};

/* Places are offsets in the text, modulo 2^16: more than distances need. The bytes found there are
 * compared anyway. */
struct compressor {
    const uint8_t *start, *end; /* the text */
    const uint8_t *written;     /* the stream holds the text up to here */
    uint8_t *out, *out_end;
    unsigned shift; /* of a hash, to be an index */
    uint16_t places[1 << PLACES_LOG_MAX];
};

/* A table for a short text is small, because clearing it takes time too. */
static void compressor_start(struct compressor *compressor, struct slice text, uint8_t *out,
                             size_t room) {
    unsigned log = 64 - (unsigned)__builtin_clzl(text.len - 1);
    if (log < PLACES_LOG_MIN) log = PLACES_LOG_MIN;
    if (log > PLACES_LOG_MAX) log = PLACES_LOG_MAX;
    compressor->start = compressor->written = (const uint8_t *)text.ptr;
    compressor->end = compressor->start + text.len;
    compressor->out = out;
    compressor->out_end = out + room;
    compressor->shift = 32 - log;
    memset(compressor->places, 0, sizeof(compressor->places[0]) << log);
}

/* Records the place `p` of the first three bytes of `word`; returns the distance to their last
 * recorded place, which may be 0, or wrong. */
static inline size_t note_place(struct compressor *compressor, const uint8_t *p, uint32_t word) {
    uint16_t *place = &compressor->places[(word << 8) * 2654435761u >> compressor->shift];
    uint16_t offset = (uint16_t)(p - compressor->start);
    size_t distance = (uint16_t)(offset - *place);
    *place = offset;
    return distance;
}

static inline bool repeats(const uint8_t *p, size_t distance, uint32_t word) {
    return ((load32(p - distance) ^ word) & 0xFFFFFF) == 0;
}

static inline bool is_distance(const struct compressor *compressor, const uint8_t *p,
                               size_t distance) {
    return distance - 1 < DISTANCE_MAX && distance <= (size_t)(p - compressor->start);
}

/* Returns how many bytes, `most` at most, equal those at `distance` before them. */
static inline size_t repeated_bytes(const uint8_t *p, size_t distance, size_t most) {
    size_t n = 0;
    for (; n + 8 <= most; n += 8) {
        uint64_t difference = word_bytes_load(p + n) ^ word_bytes_load(p + n - distance);
        if (difference) return n + ((unsigned)__builtin_ctzll(difference) >> 3);
    }
    while (n < most && p[n] == *(p + n - distance)) n++;
    return n;
}

/* Adds the text up to `end` as literals; false when there is no room. */
static inline bool put_literals(struct compressor *compressor, const uint8_t *end) {
    const uint8_t *p = compressor->written;
    uint8_t *out = compressor->out;
    while (p < end) {
        size_t run = (size_t)(end - p);
        if (run > LZF_LITERALS_MAX) run = LZF_LITERALS_MAX;
        if ((size_t)(compressor->out_end - out) < run + 1) return false;
        *out++ = (uint8_t)(run - 1);
        if (compressor->end - p >= BLOCK && compressor->out_end - out >= BLOCK)
            copy_block(out, p);
        else
            memcpy(out, p, run);
        out += run;
        p += run;
    }
    compressor->out = out;
    compressor->written = end;
    return true;
}

/* Adds `len` bytes as a copy; false when there is no room. */
static inline bool put_copy(struct compressor *compressor, size_t distance, size_t len) {
    uint8_t *out = compressor->out;
    size_t code = len - 2, high = (distance - 1) >> 8;
    if (compressor->out_end - out < (code < LONG_COPY ? 2 : 3)) return false;
    if (code < LONG_COPY) {
        *out++ = (uint8_t)(code << LENGTH_SHIFT | high);
    } else {
        *out++ = (uint8_t)(LONG_COPY << LENGTH_SHIFT | high);
        *out++ = (uint8_t)(code - LONG_COPY);
    }
    *out++ = (uint8_t)(distance - 1);
    compressor->out = out;
    compressor->written += len;
    return true;
}

/* Adds the bytes not yet written before `p`, and the copy there, made as long as possible. */
static inline bool take_copy(struct compressor *compressor, const uint8_t *p, size_t distance) {
    size_t most = (size_t)(compressor->end - p);
    if (most > COPY_MAX) most = COPY_MAX;
    size_t len = COPY_MIN + repeated_bytes(p + COPY_MIN, distance, most - COPY_MIN);
    while (p > compressor->written && len < COPY_MAX &&
           (size_t)(p - compressor->start) > distance && p[-1] == *(p - distance - 1)) {
        p--;
        len++;
    }
    return put_literals(compressor, p) && put_copy(compressor, distance, len);
}

size_t lzf_compress_repeatably(struct slice text, uint8_t *out, size_t room) {
    if (room == 0 || text.len < LZF_TEXT_MIN || text.len > UINT32_MAX) return 0;
    struct compressor compressor;
    compressor_start(&compressor, text, out, room);
    const uint8_t *p = compressor.start + 1, *last = compressor.end - sizeof(uint32_t);
    size_t usual = 1, failures = 0;
    while (p <= last) {
        uint32_t word = load32(p);
        size_t distance = note_place(&compressor, p, word);
        if (repeats(p, usual, word)) {
            distance = usual;
        } else if (!is_distance(&compressor, p, distance) || !repeats(p, distance, word)) {
            p += 1 + (failures++ >> PATIENCE_LOG);
            continue;
        }
        prefetch_ahead(p);
        if (!take_copy(&compressor, p, distance)) return 0;
        p = compressor.written;
        usual = distance;
        failures = 0;
        if (p > last) break;
        note_place(&compressor, p - 2, load32(p - 2));
        note_place(&compressor, p - 1, load32(p - 1));
    }
    return put_literals(&compressor, compressor.end) ? (size_t)(compressor.out - out) : 0;
}

size_t lzf_compress_part(struct slice part, uint8_t *out) {
    size_t size = lzf_compress_repeatably(part, out, LZF_PART_SIZE_MAX(part.len));
    if (size > 0) return size;
    return (size_t)(write_literals(out, (const uint8_t *)part.ptr, part.len) - out); /* too short */
}
