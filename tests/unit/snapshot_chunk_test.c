/* Chunks of a snapshot: their size in memory, and the writing of captured strings. */
#include "snapshot/snapshot_chunk.h"

#include "base/memory/alloc.h"
#include "ds/lists/quicklist.h"
#include "persist/rdb_reader.h"
#include "unit/rdb_io.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* A list of `elements` elements of `bytes` bytes. */
static struct quicklist *make_list_of(struct quicklist_limits limits, size_t elements,
                                      size_t bytes) {
    struct quicklist *list = quicklist_new(limits);
    char *text = mem_alloc(bytes);
    memset(text, 'x', bytes);
    for (size_t i = 0; i < elements; i++) {
        struct listpack_element element;
        listpack_prepare(&element, slice_make(text, bytes));
        quicklist_push(list, LIST_TAIL, &element);
    }
    mem_free(text);
    return list;
}

/* The same, each in a node of its own. */
static struct quicklist *make_list(size_t elements, size_t bytes) {
    return make_list_of((struct quicklist_limits){.fill = 1}, elements, bytes);
}

static size_t add_list(struct snapshot_chunk *chunk, struct quicklist *list, size_t *left) {
    return snapshot_chunk_add_capture(chunk, false, SLICE(""), VALUE_LIST,
                                      quicklist_capture_begin(list, left));
}

static size_t add_text(struct snapshot_chunk *chunk, struct shared_text *text, size_t *left) {
    return snapshot_chunk_add_capture(chunk, false, SLICE(""), VALUE_STRING,
                                      text_capture_begin(text, left));
}

static void release_and_free(struct snapshot_chunk *chunk) {
    snapshot_chunk_release(chunk);
    snapshot_chunk_free(chunk);
}

static void a_chunk_counts_the_unshared_memory_of_its_lists(void **state) {
    (void)state;
    size_t used = mem_used(), left = 0;
    struct quicklist *list = make_list(50, 3000);
    struct snapshot_chunk *chunk = snapshot_chunk_new(8);
    size_t before = mem_used(), empty_size = snapshot_chunk_size(chunk);
    size_t size = add_list(chunk, list, &left);
    assert_int_equal(mem_used() - before, size);
    assert_int_equal(snapshot_chunk_size(chunk), empty_size + size);
    assert_true(size > 2 * 3000 && size < 4 * 3000);
    release_and_free(chunk);
    quicklist_free(list);
    assert_int_equal(mem_used(), used);
}

/* Nodes of 64 KB at the ends are copied. */
static void a_chunk_whose_lists_have_long_ends_is_full(void **state) {
    (void)state;
    size_t left = 0, lists = 0;
    struct quicklist *list[SNAPSHOT_CHUNK_CAPTURES];
    struct snapshot_chunk *chunk = snapshot_chunk_new(8);
    for (; snapshot_chunk_has_room(chunk, 8); lists++) {
        list[lists] = make_list_of((struct quicklist_limits){.fill = -5}, 128, 1000);
        add_list(chunk, list[lists], &left);
    }
    assert_true(lists < SNAPSHOT_CHUNK_CAPTURES);
    assert_true(snapshot_chunk_size(chunk) > lists * 128 * 1000);
    release_and_free(chunk);
    while (lists > 0) quicklist_free(list[--lists]);
}

static void large_elements_at_the_ends_are_not_copied(void **state) {
    (void)state;
    size_t left = 0;
    struct quicklist *list = make_list(2, 1000000);
    struct snapshot_chunk *chunk = snapshot_chunk_new(8);
    assert_true(add_list(chunk, list, &left) < 1000);
    release_and_free(chunk);
    quicklist_free(list);
}

/* --- Captured strings --- */

enum { LARGE = 1000000 };

/* A text that can be compressed in part: every 1000 bytes begin with `noise` random ones. */
static char *make_text(struct random *random, size_t len, size_t noise) {
    char *text = mem_alloc(len);
    for (size_t i = 0; i < len; i++)
        text[i] = i % 1000 < noise ? (char)random_below(random, 256) : 'x';
    return text;
}

/* A chunk with a capture of the text; the string has changed since. */
static struct snapshot_chunk *capture_and_change(struct slice text, struct shared_text **shared,
                                                 size_t *left) {
    *shared = shared_text_new(sds_new(text));
    struct snapshot_chunk *chunk = snapshot_chunk_new(8);
    add_text(chunk, *shared, left);
    assert_true(snapshot_chunk_is_shared(chunk));
    size_t from = text.len / 3, to = text.len / 2;
    shared_text_before_write(*shared, from, to);
    memset((*shared)->text + from, '-', to - from);
    return chunk;
}

static void assert_text_written(struct rdb_io *io, struct slice text, bool compressed) {
    struct rdb_reader reader;
    struct rdb_stored_string stored;
    struct slice read;
    rdb_reader_start_memory(&reader, sds_slice(io->bytes), false);
    assert_true(rdb_read_stored_string(&reader, &stored));
    assert_int_equal(stored.compressed, compressed);
    read = stored.bytes;
    if (stored.compressed) assert_true(rdb_decompress_string(&reader, &stored, &read));
    assert_int_equal(read.len, text.len);
    assert_memory_equal(read.ptr, text.ptr, text.len);
    assert_true(rdb_reader_is_at_end(&reader));
    rdb_reader_end(&reader);
}

static void a_captured_string_is_written_as_it_was(void **state) {
    struct random *random = *state;
    static const struct {
        size_t len, noise;
        bool compresses;
    } texts[] = {{LARGE, 0, true},   {LARGE, 300, true}, {LARGE, 1000, false},
                 {262144, 10, true}, {262145, 10, true}, {262143, 10, true},
                 {524289, 10, true}, {1000, 100, true},  {1000, 1000, false}};
    for (size_t i = 0; i < 2 * sizeof(texts) / sizeof(*texts); i++) {
        bool compress = i % 2;
        size_t len = texts[i / 2].len, used = mem_used(), left = 0;
        char *bytes = make_text(random, len, texts[i / 2].noise);
        struct shared_text *shared;
        struct snapshot_chunk *chunk = capture_and_change(slice_make(bytes, len), &shared, &left);
        struct rdb_io io = rdb_io_new(random);
        struct rdb_writer writer;
        rdb_writer_start(&writer, rdb_io_sink(&io), compress, false);
        snapshot_chunk_write(chunk, &writer);
        assert_true(rdb_writer_flush(&writer));
        assert_true(writer.scratch_size < 3 * 262144);
        rdb_writer_end(&writer);
        assert_text_written(&io, slice_make(bytes, len), compress && texts[i / 2].compresses);
        size_t copied = left; /* all is passed: the capture holds nothing more */
        shared_text_before_write(shared, 0, len);
        assert_int_equal(left, copied);
        release_and_free(chunk);
        assert_int_equal(left, 0);
        shared_text_free(shared);
        sds_free(io.bytes);
        mem_free(bytes);
        assert_int_equal(mem_used(), used);
    }
}

static void the_size_of_a_chunk_does_not_grow_with_its_captured_strings(void **state) {
    size_t used = mem_used(), left = 0;
    char *bytes = make_text(*state, LARGE, 0);
    struct shared_text *shared = shared_text_new(sds_new(slice_make(bytes, LARGE)));
    struct snapshot_chunk *chunk = snapshot_chunk_new(8);
    size_t before = mem_used(), empty_size = snapshot_chunk_size(chunk);
    size_t size = add_text(chunk, shared, &left);
    assert_int_equal(mem_used() - before, size);
    assert_int_equal(snapshot_chunk_size(chunk), empty_size + size);
    assert_true(size < LARGE);
    release_and_free(chunk);
    shared_text_free(shared);
    mem_free(bytes);
    assert_int_equal(mem_used(), used);
}

static bool cancelled_after_three(void *arg) {
    struct rdb_io *io = arg;
    errno = ECANCELED;
    return io->at++ < 3;
}

/* Full after so many bytes, or cancelled before the first one is written. */
static void writing_a_captured_string_ends_where_the_sink_fails(void **state) {
    struct random *random = *state;
    char *bytes = make_text(random, LARGE, 900);
    for (int i = 0; i < 4; i++) {
        size_t left = 0;
        struct shared_text *shared;
        struct snapshot_chunk *chunk = capture_and_change(slice_make(bytes, LARGE), &shared, &left);
        struct rdb_io io = rdb_io_new(random);
        struct rdb_sink sink = rdb_io_sink(&io);
        if (i < 3)
            io.room = (size_t)i * 400000;
        else
            sink.go_on = cancelled_after_three;
        struct rdb_writer writer;
        rdb_writer_start(&writer, sink, true, false);
        snapshot_chunk_write(chunk, &writer);
        assert_false(rdb_writer_flush(&writer));
        assert_int_equal(writer.error, i < 3 ? ENOSPC : ECANCELED);
        if (i == 3) assert_int_equal(io.at, 4);
        assert_true(i < 3 || sds_len(io.bytes) == 0);
        rdb_writer_end(&writer);
        release_and_free(chunk);
        shared_text_free(shared);
        sds_free(io.bytes);
    }
    mem_free(bytes);
}

int main(void) {
    struct random random = random_of_this_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chunk_counts_the_unshared_memory_of_its_lists),
        cmocka_unit_test(a_chunk_whose_lists_have_long_ends_is_full),
        cmocka_unit_test(large_elements_at_the_ends_are_not_copied),
        cmocka_unit_test_prestate(a_captured_string_is_written_as_it_was, &random),
        cmocka_unit_test_prestate(the_size_of_a_chunk_does_not_grow_with_its_captured_strings,
                                  &random),
        cmocka_unit_test_prestate(writing_a_captured_string_ends_where_the_sink_fails, &random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
