#include "base/lzf.h"

#include "base/prefetch.h"

#include <string.h>

enum {
    COPY_MIN = 3, /* shorter ones gain nothing */
    COPY_MAX = 264,
    LONG_COPY = 7, /* in the place of a length: a byte more tells it */
    DISTANCE_MAX = 1 << 13,
    LENGTH_SHIFT = 5
};

static inline uint32_t load32(const uint8_t *p) {
    uint32_t word;
    memcpy(&word, p, sizeof(word));
    return word;
}

static inline uint64_t load64(const uint8_t *p) {
    uint64_t word;
    memcpy(&word, p, sizeof(word));
    return word;
}

/* Bytes that are copied at once; the two pieces must not overlap. */
enum { BLOCK = 32 };

static inline void copy_block(uint8_t *to, const uint8_t *from) {
    memcpy(to, from, BLOCK);
}

_Static_assert((int)BLOCK == (int)LZF_LITERALS_MAX, "a block is a run of literals");

/* A text is wanted this many bytes ahead of where the work is. Nodes of a long list are not in any
 * cache, and by itself the processor looks no farther than to the end of a page. Beyond the end of
 * the text there often is the next one. */
enum { AHEAD = 2048 };

static inline void prefetch_ahead(const uint8_t *p) {
    prefetch((const void *)((uintptr_t)p + AHEAD));
}

/* --- Packing ---
 *
 * Where each three bytes were seen last is kept by their hash. A copy is taken where they are found
 * again, at the distance of the copy before or at the place that is kept: records of equal size,
 * which neighbours in lists mostly are, repeat each other at one distance, and looking there first
 * waits for nothing. */

enum {
    PLACES_LOG_MIN = 6,
    PLACES_LOG_MAX = 14,
    PATIENCE_LOG = 6 /* so many steps without a copy (as a power of two) make steps a byte longer */
};

/* Places are offsets in the text, modulo 2^16: that is more than distances need, and what is found
 * is compared anyway. */
struct packer {
    const uint8_t *start, *end; /* the text */
    const uint8_t *written;     /* up to here the stream has it */
    uint8_t *out, *out_end;
    unsigned shift; /* of a hash, to be an index */
    uint16_t places[1 << PLACES_LOG_MAX];
};

/* A table for a short text is small, because clearing it takes time too. */
static void packer_start(struct packer *packer, struct slice text, uint8_t *out, size_t room) {
    unsigned log = 64 - (unsigned)__builtin_clzl(text.len - 1);
    if (log < PLACES_LOG_MIN) log = PLACES_LOG_MIN;
    if (log > PLACES_LOG_MAX) log = PLACES_LOG_MAX;
    packer->start = packer->written = (const uint8_t *)text.ptr;
    packer->end = packer->start + text.len;
    packer->out = out;
    packer->out_end = out + room;
    packer->shift = 32 - log;
    memset(packer->places, 0, sizeof(packer->places[0]) << log);
}

/* Notes the place `p` of the three bytes that `word` begins with; returns how far back they were
 * noted before, which may be 0, or be wrong. */
static inline size_t note_place(struct packer *packer, const uint8_t *p, uint32_t word) {
    uint16_t *place = &packer->places[(word << 8) * 2654435761u >> packer->shift];
    uint16_t offset = (uint16_t)(p - packer->start);
    size_t distance = (uint16_t)(offset - *place);
    *place = offset;
    return distance;
}

static inline bool repeats(const uint8_t *p, size_t distance, uint32_t word) {
    return ((load32(p - distance) ^ word) & 0xFFFFFF) == 0;
}

static inline bool is_distance(const struct packer *packer, const uint8_t *p, size_t distance) {
    return distance - 1 < DISTANCE_MAX && distance <= (size_t)(p - packer->start);
}

/* How many bytes, `most` at most, are as those at `distance` before them. */
static inline size_t repeated_bytes(const uint8_t *p, size_t distance, size_t most) {
    size_t n = 0;
    for (; n + 8 <= most; n += 8) {
        uint64_t difference = load64(p + n) ^ load64(p + n - distance);
        if (difference) return n + ((unsigned)__builtin_ctzll(difference) >> 3);
    }
    while (n < most && p[n] == *(p + n - distance)) n++;
    return n;
}

/* Adds the text up to `end` as literals; false when there is no room. */
static inline bool put_literals(struct packer *packer, const uint8_t *end) {
    const uint8_t *p = packer->written;
    uint8_t *out = packer->out;
    while (p < end) {
        size_t run = (size_t)(end - p);
        if (run > LZF_LITERALS_MAX) run = LZF_LITERALS_MAX;
        if ((size_t)(packer->out_end - out) < run + 1) return false;
        *out++ = (uint8_t)(run - 1);
        if (packer->end - p >= BLOCK && packer->out_end - out >= BLOCK)
            copy_block(out, p);
        else
            memcpy(out, p, run);
        out += run;
        p += run;
    }
    packer->out = out;
    packer->written = end;
    return true;
}

/* Adds `len` bytes as a copy; false when there is no room. */
static inline bool put_copy(struct packer *packer, size_t distance, size_t len) {
    uint8_t *out = packer->out;
    size_t code = len - 2, high = (distance - 1) >> 8;
    if (packer->out_end - out < (code < LONG_COPY ? 2 : 3)) return false;
    if (code < LONG_COPY) {
        *out++ = (uint8_t)(code << LENGTH_SHIFT | high);
    } else {
        *out++ = (uint8_t)(LONG_COPY << LENGTH_SHIFT | high);
        *out++ = (uint8_t)(code - LONG_COPY);
    }
    *out++ = (uint8_t)(distance - 1);
    packer->out = out;
    packer->written += len;
    return true;
}

/* Adds what was not written before `p`, and the copy there, made as long as it can be. */
static inline bool take_copy(struct packer *packer, const uint8_t *p, size_t distance) {
    size_t most = (size_t)(packer->end - p);
    if (most > COPY_MAX) most = COPY_MAX;
    size_t len = COPY_MIN + repeated_bytes(p + COPY_MIN, distance, most - COPY_MIN);
    while (p > packer->written && len < COPY_MAX && (size_t)(p - packer->start) > distance &&
           p[-1] == *(p - distance - 1)) {
        p--;
        len++;
    }
    return put_literals(packer, p) && put_copy(packer, distance, len);
}

size_t lzf_pack(struct slice text, uint8_t *out, size_t room) {
    if (room == 0 || text.len < LZF_TEXT_MIN || text.len > UINT32_MAX) return 0;
    struct packer packer;
    packer_start(&packer, text, out, room);
    const uint8_t *p = packer.start + 1, *last = packer.end - sizeof(uint32_t);
    size_t usual = 1, failures = 0;
    while (p <= last) {
        uint32_t word = load32(p);
        size_t distance = note_place(&packer, p, word);
        if (repeats(p, usual, word)) {
            distance = usual;
        } else if (!is_distance(&packer, p, distance) || !repeats(p, distance, word)) {
            p += 1 + (failures++ >> PATIENCE_LOG);
            continue;
        }
        prefetch_ahead(p);
        if (!take_copy(&packer, p, distance)) return 0;
        p = packer.written;
        usual = distance;
        failures = 0;
        if (p > last) break;
        note_place(&packer, p - 2, load32(p - 2));
        note_place(&packer, p - 1, load32(p - 1));
    }
    return put_literals(&packer, packer.end) ? (size_t)(packer.out - out) : 0;
}

/* One run of literals. */
static uint8_t *write_literals(uint8_t *out, const uint8_t *literals, size_t len) {
    if (len == 0) return out;
    *out++ = (uint8_t)(len - 1);
    memcpy(out, literals, len);
    return out + len;
}

size_t lzf_pack_part(struct slice part, uint8_t *out) {
    size_t packed = lzf_pack(part, out, LZF_PART_SIZE_MAX(part.len));
    if (packed > 0) return packed;
    return (size_t)(write_literals(out, (const uint8_t *)part.ptr, part.len) - out); /* too short */
}

/* --- Unpacking ---
 *
 * Where a command begins depends on how long the one before it is. For copies a branch tells that,
 * which the processor guesses and goes on; for literals it is a number to be read and waited for.
 * Numbered records, each like the one before but for a byte, would be nothing but waiting: they are
 * pairs of one literal and a long copy, and one pair is like the other but for the literal. Such
 * ones are not read but compared. */

enum {
    STREAM_SLACK = 1 + BLOCK + sizeof(uint64_t), /* read by one command, and by a look … */
    TEXT_SLACK = (COPY_MAX + BLOCK - 1) / BLOCK * BLOCK, /* … and written, in blocks */
    PAIR_SIZE = 5
};

struct unpacker {
    const uint8_t *p, *end; /* the stream */
    const uint8_t *start;   /* the text */
    uint8_t *at, *out_end;
};

/* Copies no more than `len` bytes. */
static void copy_near(uint8_t *out, size_t distance, size_t len) {
    const uint8_t *from = out - distance;
    if (distance >= len) {
        memcpy(out, from, len);
    } else if (distance == 1) {
        memset(out, *from, len);
    } else { /* what is copied begins in what it becomes */
        for (size_t i = 0; i < len; i++) out[i] = from[i];
    }
}

/* Copies in blocks, the last of which may go beyond `len`. */
static inline void copy_far(uint8_t *out, size_t distance, size_t len) {
    const uint8_t *end = out + len;
    do {
        copy_block(out, out - distance);
        out += BLOCK;
    } while (out < end);
}

/* Whether there are enough bytes on both sides to look at none of the bounds. */
static inline bool has_slack(const struct unpacker *unpacker) {
    return unpacker->end - unpacker->p >= STREAM_SLACK &&
           unpacker->out_end - unpacker->at >= TEXT_SLACK;
}

static inline size_t distance_of(size_t first, size_t last) {
    return ((first & 31) << 8 | last) + 1;
}

/* Behind a long copy: takes the pairs [0][literal][111ddddd][l][d] that are as the five bytes
 * before them but for their literal. */
static inline bool unpack_pairs(struct unpacker *unpacker) {
    const uint64_t fixed = 0xFFFFFF00FF;
    const uint8_t *p = unpacker->p;
    uint64_t pair = load64(p - PAIR_SIZE);
    if (((load64(p) ^ pair) & fixed) || (pair & 0xE000FF) != 0xE00000) return true;
    size_t len = LONG_COPY + 2 + (pair >> 24 & 0xFF);
    size_t distance = distance_of(pair >> 16, pair >> 32 & 0xFF);
    if (len > 2 * BLOCK || distance < 2 * BLOCK) return true;
    if (distance > (size_t)(unpacker->at + 1 - unpacker->start)) return false;
    do {
        uint8_t *at = unpacker->at;
        prefetch_ahead(at);
        *at++ = unpacker->p[1];
        copy_block(at, at - distance);
        copy_block(at + BLOCK, at + BLOCK - distance);
        unpacker->at = at + len;
        unpacker->p += PAIR_SIZE;
    } while (has_slack(unpacker) && ((load64(unpacker->p) ^ pair) & fixed) == 0);
    return true;
}

/* Takes commands while there is slack; false when a copy refers to what is before the text. */
static inline bool unpack_with_slack(struct unpacker *unpacker) {
    while (has_slack(unpacker)) {
        const uint8_t *p = unpacker->p;
        uint8_t *at = unpacker->at;
        size_t byte = *p;
        if (byte < LZF_LITERALS_MAX) {
            copy_block(at, p + 1);
            unpacker->p += byte + 2;
            unpacker->at += byte + 1;
            continue;
        }
        prefetch_ahead(at);
        bool is_long = byte >> LENGTH_SHIFT == LONG_COPY;
        size_t len = (byte >> LENGTH_SHIFT) + (is_long ? (size_t)p[1] : 0) + 2;
        size_t distance = distance_of(byte, p[is_long ? 2 : 1]);
        if (distance > (size_t)(at - unpacker->start)) return false;
        unpacker->p += is_long ? 3 : 2;
        unpacker->at += len;
        if (distance >= BLOCK)
            copy_far(at, distance, len);
        else
            copy_near(at, distance, len);
        if (is_long && has_slack(unpacker) && !unpack_pairs(unpacker)) return false;
    }
    return true;
}

/* Takes the commands that are left, looking at every bound; false when they do not become just the
 * text. */
static bool unpack_to_end(const struct unpacker *unpacker) {
    const uint8_t *p = unpacker->p, *end = unpacker->end;
    uint8_t *at = unpacker->at, *out_end = unpacker->out_end;
    while (p < end) {
        size_t byte = *p++, left = (size_t)(out_end - at);
        if (byte < LZF_LITERALS_MAX) {
            size_t run = byte + 1;
            if (end - p >= BLOCK && left >= BLOCK) {
                copy_block(at, p);
            } else {
                if (run > (size_t)(end - p) || run > left) return false;
                memcpy(at, p, run);
            }
            p += run;
            at += run;
            continue;
        }
        size_t len = byte >> LENGTH_SHIFT;
        if (len == LONG_COPY) {
            if (p == end) return false;
            len += *p++;
        }
        if (p == end) return false;
        len += 2;
        size_t distance = distance_of(byte, *p++);
        if (distance > (size_t)(at - unpacker->start) || len > left) return false;
        if (distance >= BLOCK && left - len >= BLOCK)
            copy_far(at, distance, len);
        else
            copy_near(at, distance, len);
        at += len;
    }
    return at == out_end;
}

bool lzf_unpack_split(struct slice stream, void *front, size_t front_len, uint8_t *out,
                      size_t len) {
    if (stream.len < 2 || stream.len > UINT32_MAX || len == 0 || len > UINT32_MAX) return false;
    const uint8_t *p = (const uint8_t *)stream.ptr;
    size_t run = (size_t)*p++ + 1; /* there is nothing to copy at first */
    if (run > LZF_LITERALS_MAX || run > stream.len - 1) return false;
    if (run < front_len || run - front_len > len) return false;
    if (front_len > 0) memcpy(front, p, front_len);
    memcpy(out, p + front_len, run - front_len);
    struct unpacker unpacker = {.p = p + run,
                                .end = p + stream.len - 1,
                                .start = out,
                                .at = out + run - front_len,
                                .out_end = out + len};
    return unpack_with_slack(&unpacker) && unpack_to_end(&unpacker);
}

bool lzf_unpack(struct slice stream, uint8_t *out, size_t len) {
    return lzf_unpack_split(stream, NULL, 0, out, len);
}

/* --- Trimming --- */

/* One command of a stream. */
struct command {
    const uint8_t *literals; /* NULL: a copy */
    size_t len;              /* bytes of text */
    size_t distance;         /* of a copy */
    const uint8_t *next;
};

static struct command read_command(const uint8_t *p) {
    unsigned byte = *p;
    if (byte < LZF_LITERALS_MAX)
        return (struct command){.literals = p + 1, .len = byte + 1, .next = p + 2 + byte};
    size_t len = byte >> 5;
    size_t high = (byte & 31) << 8;
    if (len == LONG_COPY) len += *++p;
    return (struct command){.len = len + 2, .distance = (high | p[1]) + 1, .next = p + 2};
}

size_t lzf_trim(struct slice stream, size_t front, size_t back, uint8_t *out) {
    const uint8_t *p = (const uint8_t *)stream.ptr, *end = p + stream.len;
    uint8_t *start = out;
    size_t kept = 0; /* bytes of the text behind its front */
    struct command command = read_command(p);
    if (!command.literals || command.len < front) return 0;
    command.literals += front;
    command.len -= front;
    while (command.next < end) {
        if (command.literals) {
            out = write_literals(out, command.literals, command.len);
        } else {
            if (command.distance > kept) return 0;
            memcpy(out, p, (size_t)(command.next - p));
            out += command.next - p;
        }
        kept += command.len;
        p = command.next;
        command = read_command(p);
    }
    if (!command.literals || command.len < back) return 0;
    return (size_t)(write_literals(out, command.literals, command.len - back) - start);
}
