/* Decompresses, unless the build takes the system's codec (lzf_system.c).
 *
 * Where a command begins depends on the length of the one before it. For copies a branch depends on
 * the length, and the processor predicts it; for literals the length must be loaded first. Numbered
 * records that differ in one byte would spend all time waiting for loads: their streams are pairs
 * of one literal and a long copy, alike except for the literal. Such pairs are compared with the
 * one before instead of decoded. */
#include "base/lzf/lzf_internal.h"

enum {
    STREAM_SLACK = 1 + BLOCK + sizeof(uint64_t), /* read by one command, and by a look … */
    TEXT_SLACK = (COPY_MAX + BLOCK - 1) / BLOCK * BLOCK, /* … and written, in blocks */
    PAIR_SIZE = 5
};

struct decompressor {
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

/* Returns whether both sides have enough bytes to skip all checks of bounds. */
static inline bool has_slack(const struct decompressor *decompressor) {
    return decompressor->end - decompressor->p >= STREAM_SLACK &&
           decompressor->out_end - decompressor->at >= TEXT_SLACK;
}

static inline size_t distance_of(size_t first, size_t last) {
    return ((first & 31) << 8 | last) + 1;
}

/* After a long copy: takes the pairs [0][literal][111ddddd][l][d] that equal the five bytes before
 * them except for their literal. */
static inline bool decompress_pairs(struct decompressor *decompressor) {
    const uint64_t fixed = 0xFFFFFF00FF;
    const uint8_t *p = decompressor->p;
    uint64_t pair = word_bytes_load(p - PAIR_SIZE);
    if (((word_bytes_load(p) ^ pair) & fixed) || (pair & 0xE000FF) != 0xE00000) return true;
    size_t len = LONG_COPY + 2 + (pair >> 24 & 0xFF);
    size_t distance = distance_of(pair >> 16, pair >> 32 & 0xFF);
    if (len > 2 * BLOCK || distance < 2 * BLOCK) return true;
    if (distance > (size_t)(decompressor->at + 1 - decompressor->start)) return false;
    do {
        uint8_t *at = decompressor->at;
        prefetch_ahead(at);
        *at++ = decompressor->p[1];
        copy_block(at, at - distance);
        copy_block(at + BLOCK, at + BLOCK - distance);
        decompressor->at = at + len;
        decompressor->p += PAIR_SIZE;
    } while (has_slack(decompressor) && ((word_bytes_load(decompressor->p) ^ pair) & fixed) == 0);
    return true;
}

/* Takes commands while there is slack; false when a copy refers to bytes before the text. */
static inline bool decompress_with_slack(struct decompressor *decompressor) {
    while (has_slack(decompressor)) {
        const uint8_t *p = decompressor->p;
        uint8_t *at = decompressor->at;
        size_t byte = *p;
        if (byte < LZF_LITERALS_MAX) {
            copy_block(at, p + 1);
            decompressor->p += byte + 2;
            decompressor->at += byte + 1;
            continue;
        }
        prefetch_ahead(at);
        bool is_long = byte >> LENGTH_SHIFT == LONG_COPY;
        size_t len = (byte >> LENGTH_SHIFT) + (is_long ? (size_t)p[1] : 0) + 2;
        size_t distance = distance_of(byte, p[is_long ? 2 : 1]);
        if (distance > (size_t)(at - decompressor->start)) return false;
        decompressor->p += is_long ? 3 : 2;
        decompressor->at += len;
        if (distance >= BLOCK)
            copy_far(at, distance, len);
        else
            copy_near(at, distance, len);
        if (is_long && has_slack(decompressor) && !decompress_pairs(decompressor)) return false;
    }
    return true;
}

/* Takes the remaining commands and checks every bound; false when they do not give exactly the
 * text. */
static bool decompress_to_end(const struct decompressor *decompressor) {
    const uint8_t *p = decompressor->p, *end = decompressor->end;
    uint8_t *at = decompressor->at, *out_end = decompressor->out_end;
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
        if (distance > (size_t)(at - decompressor->start) || len > left) return false;
        if (distance >= BLOCK && left - len >= BLOCK)
            copy_far(at, distance, len);
        else
            copy_near(at, distance, len);
        at += len;
    }
    return at == out_end;
}

bool lzf_decompress_split(struct slice stream, void *front, size_t front_len, uint8_t *out,
                          size_t len) {
    if (stream.len < 2 || len == 0) return false;
    const uint8_t *p = (const uint8_t *)stream.ptr;
    size_t run = (size_t)*p++ + 1; /* there is nothing to copy at first */
    if (run > LZF_LITERALS_MAX || run > stream.len - 1) return false;
    if (run < front_len || run - front_len > len) return false;
    if (front_len > 0) memcpy(front, p, front_len);
    memcpy(out, p + front_len, run - front_len);
    struct decompressor decompressor = {.p = p + run,
                                        .end = p + stream.len - 1,
                                        .start = out,
                                        .at = out + run - front_len,
                                        .out_end = out + len};
    return decompress_with_slack(&decompressor) && decompress_to_end(&decompressor);
}

bool lzf_decompress_text(struct slice stream, uint8_t *out, size_t len) {
    return lzf_decompress_split(stream, NULL, 0, out, len);
}

size_t lzf_compress_text(struct slice text, uint8_t *out, size_t room) {
    return lzf_compress_repeatably(text, out, room);
}

const size_t lzf_text_max = SIZE_MAX;

const char *lzf_name(void) {
    return "packlist";
}
