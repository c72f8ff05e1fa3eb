/* lzf: streams come back as they were, by liblzf too, and can lose their ends. */
#include "base/lzf/lzf.h"

#include "base/memory/alloc.h"
#include "unit/guard.h"
#include "unit/in_range.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>
#include <liblzf/lzf.h>

enum { SIZE_MAX_TEXT = 20010 };

/* A text of few or many letters, with repetitions. */
static size_t make_text(struct random *random, uint8_t *text) {
    size_t len =
        LZF_TEXT_MIN + random_below(random, random_below(random, 4) ? 300 : SIZE_MAX_TEXT - 10);
    size_t letters = random_below(random, 3) ? 1 + random_below(random, 4) : 256;
    for (size_t i = 0; i < len; i++) {
        bool copy = i > 50 && random_below(random, 10) == 0;
        text[i] =
            copy ? text[i - 1 - random_below(random, 50)] : (uint8_t)random_below(random, letters);
    }
    return len;
}

/* Numbers, filled up with zeros, as counters and keys often are. */
static size_t make_records(uint8_t *text, size_t room, unsigned step) {
    size_t len = 0;
    for (unsigned i = 0; len + 43 <= room; i++)
        len += (size_t)snprintf((char *)text + len, 43, "\xA8%040u\x29", i * step);
    return len;
}

static void texts_come_back(void **state) {
    struct random *random = *state;
    struct guard text = guard_new(SIZE_MAX_TEXT), stream = guard_new(SIZE_MAX_TEXT + 1000),
                 back = guard_new(SIZE_MAX_TEXT);
    uint8_t *made = mem_alloc(SIZE_MAX_TEXT), *stream_bytes = mem_alloc(SIZE_MAX_TEXT + 1000);
    uint8_t *theirs = mem_alloc(SIZE_MAX_TEXT);
    for (int i = 0; i < 3000; i++) {
        size_t len = i % 8 ? make_text(random, made)
                           : make_records(made, 100 + random_below(random, SIZE_MAX_TEXT - 100),
                                          1 + random_below(random, 20));
        struct slice from = slice_make(guard_place(&text, made, len), len);
        size_t size = lzf_compress_text(from, stream_bytes, SIZE_MAX_TEXT + 1000);
        assert_true(size > 0);
        struct slice in = slice_make(guard_place(&stream, stream_bytes, size), size);
        uint8_t *out = back.end - len;
        assert_true(lzf_decompress_text(in, out, len));
        assert_memory_equal(out, made, len);
        assert_int_equal(lzf_decompress(stream_bytes, (unsigned)size, theirs, SIZE_MAX_TEXT), len);
        assert_memory_equal(theirs, made, len);
        assert_false(lzf_decompress_text(slice_make(in.ptr, size - 1), out, len));
        if (len > 1) assert_false(lzf_decompress_text(in, out, len - 1));
        /* Nothing is written beyond the room, and more than enough is enough. */
        size_t room = random_below(random, size + 8);
        assert_uint_in_range(lzf_compress_text(from, stream.end - room, room), 0, room);
        size = lzf_compress_repeatably(from, stream_bytes, SIZE_MAX_TEXT + 1000);
        assert_int_equal(lzf_compress_repeatably(from, stream.end - room, room),
                         room < size ? 0 : size);
        assert_int_equal(lzf_compress_repeatably(from, stream.end - size, size), size);
    }
    guard_free(&text);
    guard_free(&stream);
    guard_free(&back);
    mem_free(made);
    mem_free(stream_bytes);
    mem_free(theirs);
}

static size_t compressed_size(bool ours, const uint8_t *text, size_t len, uint8_t *out) {
    return ours ? lzf_compress_repeatably(slice_make(text, len), out, 2 * len)
                : lzf_compress(text, (unsigned)len, out, (unsigned)(2 * len));
}

static void streams_are_as_short_as_those_of_liblzf(void **state) {
    struct random *random = *state;
    enum { LEN = 8192, TEXTS = 10 };
    uint8_t *text = mem_alloc(LEN), *out = mem_alloc(2 * LEN);
    for (int kind = 0; kind < 3; kind++) {
        size_t ours = 0, theirs = 0; /* of one text alone either may be some per cent shorter */
        for (int n = 0; n < TEXTS; n++) {
            size_t len = kind == 0 ? make_records(text, LEN, 7) : LEN;
            for (size_t i = 0; kind > 0 && i < len; i++) {
                bool copy = i > 4000 && random_below(random, 40) > 0;
                text[i] =
                    copy ? text[i - 1 - (kind == 1 ? 3999 : i % 50)] : random_below(random, 20);
            }
            ours += compressed_size(true, text, len, out);
            theirs += compressed_size(false, text, len, out);
        }
        assert_uint_in_range(ours, 1, theirs * 41 / 40);
    }
    mem_free(text);
    mem_free(out);
}

/* What cannot be compressed is given up soon: steps become long. */
static void noise_is_given_up(void **state) {
    struct random *random = *state;
    enum { LEN = 60000 };
    uint8_t *text = mem_alloc(LEN), *out = mem_alloc(2 * LEN);
    for (size_t i = 0; i < LEN; i++) text[i] = (uint8_t)random_below(random, 256);
    assert_int_equal(lzf_compress_text(slice_make(text, LEN), out, LEN), 0);
    size_t size = lzf_compress_text(slice_make(text, LEN), out, 2 * LEN);
    assert_uint_in_range(size, LEN, LEN + LEN / LZF_LITERALS_MAX + 1);
    mem_free(text);
    mem_free(out);
}

/* Parts of any size, down to one byte, some of them noise; each has no more room than is said. */
static void streams_of_parts_are_a_stream_of_the_whole(void **state) {
    struct random *random = *state;
    uint8_t *text = mem_alloc(SIZE_MAX_TEXT), *back = mem_alloc(SIZE_MAX_TEXT);
    uint8_t *stream = mem_alloc(3 * SIZE_MAX_TEXT);
    struct guard room = guard_new(LZF_PART_SIZE_MAX(SIZE_MAX_TEXT));
    for (int i = 0; i < 2000; i++) {
        size_t len = make_text(random, text), size = 0;
        uint32_t part_max = 1 + random_below(random, random_below(random, 2) ? 10 : SIZE_MAX_TEXT);
        for (size_t at = 0, part; at < len; at += part) {
            part = 1 + random_below(random, part_max);
            if (part > len - at) part = len - at;
            uint8_t *out = room.end - LZF_PART_SIZE_MAX(part);
            size_t part_size = lzf_compress_part(slice_make(text + at, part), out);
            memcpy(stream + size, out, part_size);
            size += part_size;
        }
        assert_true(lzf_decompress_text(slice_make(stream, size), back, len));
        assert_memory_equal(back, text, len);
        assert_int_equal(lzf_decompress(stream, (unsigned)size, back, SIZE_MAX_TEXT), len);
        assert_memory_equal(back, text, len);
    }
    mem_free(text);
    mem_free(back);
    mem_free(stream);
    guard_free(&room);
}

static void bad_streams_are_refused(void **state) {
    struct random *random = *state;
    struct guard stream = guard_new(400), back = guard_new(3000);
    for (int i = 0; i < 200000; i++) {
        uint8_t bytes[400];
        size_t size = 1 + random_below(random, random_below(random, 2) ? 10 : 400);
        for (size_t k = 0; k < size; k++)
            bytes[k] = (uint8_t)random_below(random, random_below(random, 2) ? 40 : 256);
        size_t len = 1 + random_below(random, 3000);
        lzf_decompress_text(slice_make(guard_place(&stream, bytes, size), size), back.end - len,
                            len);
    }
    uint8_t out[10];
    assert_false(lzf_decompress_text(SLICE(""), out, 0));
    assert_false(lzf_decompress_text(SLICE("\x00"), out, 1));
    assert_false(lzf_decompress_text(SLICE("\x20\x00"), out, 3)); /* a copy of nothing */
    assert_true(lzf_decompress_text(SLICE("\x00"
                                          "a\x20\x00"),
                                    out, 4));
    assert_memory_equal(out, "aaaa", 4);
    guard_free(&stream);
    guard_free(&back);
}

static void texts_come_back_in_two_pieces(void **state) {
    struct random *random = *state;
    uint8_t *text = mem_alloc(SIZE_MAX_TEXT), *stream = mem_alloc(2 * SIZE_MAX_TEXT), front[8];
    struct guard back = guard_new(SIZE_MAX_TEXT);
    int split = 0;
    for (int i = 0; i < 1000; i++) {
        size_t len = make_text(random, text), before = random_below(random, sizeof(front) + 1);
        if (before >= len) continue;
        size_t size = lzf_compress_text(slice_make(text, len), stream, 2 * SIZE_MAX_TEXT);
        uint8_t *out = back.end - (len - before);
        if (!lzf_decompress_split(slice_make(stream, size), front, before, out, len - before))
            continue;
        split++;
        assert_memory_equal(front, text, before);
        assert_memory_equal(out, text + before, len - before);
    }
    assert_true(split > 100);
    struct slice copied = SLICE("\x05"
                                "abcdef\x20\x02\x00z");
    assert_true(lzf_decompress_split(copied, front, 3, text, 7));
    assert_memory_equal(front, "abc", 3);
    assert_memory_equal(text, "defdefz", 7);
    assert_false(
        lzf_decompress_split(copied, front, 4, text, 6)); /* the copy refers to the front */
    assert_false(lzf_decompress_split(copied, front, 7, text, 3)); /* not all of it is literal */
    mem_free(text);
    mem_free(stream);
    guard_free(&back);
}

static void streams_lose_literal_ends(void **state) {
    struct random *random = *state;
    uint8_t *text = mem_alloc(SIZE_MAX_TEXT + 100), *back = mem_alloc(SIZE_MAX_TEXT + 100);
    uint8_t *stream = mem_alloc(2 * SIZE_MAX_TEXT), *trimmed = mem_alloc(2 * SIZE_MAX_TEXT);
    int kept = 0;
    for (int i = 0; i < 3000; i++) {
        size_t len = make_text(random, text);
        size_t front = random_below(random, 9), behind = random_below(random, 4);
        if (front + behind >= len) continue;
        size_t size = lzf_compress_text(slice_make(text, len), stream, 2 * SIZE_MAX_TEXT);
        size_t rest = lzf_trim(slice_make(stream, size), front, behind, trimmed);
        if (rest == 0) continue;
        kept++;
        assert_true(rest <= size);
        assert_true(lzf_decompress_text(slice_make(trimmed, rest), back, len - front - behind));
        assert_memory_equal(back, text + front, len - front - behind);
    }
    assert_true(kept > 100);
    assert_int_equal(lzf_trim(SLICE("\x05"
                                    "abcdef\x20\x02\x00z"),
                              6, 1, trimmed),
                     0); /* the copy refers to what would be lost */
    mem_free(text);
    mem_free(back);
    mem_free(stream);
    mem_free(trimmed);
}

int main(void) {
    struct random random = random_of_this_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(texts_come_back, &random),
        cmocka_unit_test_prestate(streams_are_as_short_as_those_of_liblzf, &random),
        cmocka_unit_test_prestate(noise_is_given_up, &random),
        cmocka_unit_test_prestate(streams_of_parts_are_a_stream_of_the_whole, &random),
        cmocka_unit_test_prestate(bad_streams_are_refused, &random),
        cmocka_unit_test_prestate(texts_come_back_in_two_pieces, &random),
        cmocka_unit_test_prestate(streams_lose_literal_ends, &random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
