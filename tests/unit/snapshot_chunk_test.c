/* Chunks of a snapshot: what they take in memory. */
#include "durability/snapshot_chunk.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* A list of elements of so many bytes. */
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

static void thaw_and_free(struct snapshot_chunk *chunk) {
    for (unsigned i = 0; i < chunk->list_count; i++) quicklist_thaw(chunk->lists[i]);
    snapshot_chunk_free(chunk);
}

static void a_chunk_counts_what_its_lists_take_beside_the_shared_nodes(void **state) {
    (void)state;
    size_t used = mem_used(), left = 0;
    struct quicklist *list = make_list(50, 3000);
    struct snapshot_chunk *chunk = snapshot_chunk_new(8);
    size_t before = mem_used(), empty_size = snapshot_chunk_size(chunk);
    size_t size = snapshot_chunk_add_list(chunk, list, &left);
    assert_int_equal(mem_used() - before, size);
    assert_int_equal(snapshot_chunk_size(chunk), empty_size + size);
    assert_true(size > 2 * 3000 && size < 4 * 3000);
    thaw_and_free(chunk);
    quicklist_free(list);
    assert_int_equal(mem_used(), used);
}

/* Nodes of 64 KB at the ends are copied. */
static void a_chunk_whose_lists_have_long_ends_is_full(void **state) {
    (void)state;
    size_t left = 0, lists = 0;
    struct quicklist *list[SNAPSHOT_CHUNK_LISTS];
    struct snapshot_chunk *chunk = snapshot_chunk_new(8);
    for (; snapshot_chunk_has_room(chunk, 8); lists++) {
        list[lists] = make_list_of((struct quicklist_limits){.fill = -5}, 128, 1000);
        snapshot_chunk_add_list(chunk, list[lists], &left);
    }
    assert_true(lists < SNAPSHOT_CHUNK_LISTS);
    assert_true(snapshot_chunk_size(chunk) > lists * 128 * 1000);
    thaw_and_free(chunk);
    while (lists > 0) quicklist_free(list[--lists]);
}

static void large_elements_at_the_ends_are_not_copied(void **state) {
    (void)state;
    size_t left = 0;
    struct quicklist *list = make_list(2, 1000000);
    struct snapshot_chunk *chunk = snapshot_chunk_new(8);
    assert_true(snapshot_chunk_add_list(chunk, list, &left) < 1000);
    thaw_and_free(chunk);
    quicklist_free(list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chunk_counts_what_its_lists_take_beside_the_shared_nodes),
        cmocka_unit_test(a_chunk_whose_lists_have_long_ends_is_full),
        cmocka_unit_test(large_elements_at_the_ends_are_not_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
