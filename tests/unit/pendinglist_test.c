/* A pendinglist against a model: all ids that there may be, each with its entry or without. */
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "ds/streams/pendinglist_internal.h"
#include "unit/capture_checks.h"
#include "unit/seed.h"

#include <string.h>

enum { IDS = 6000, CONSUMERS = 5 };

struct model {
    struct pendinglist list;
    struct pieces pieces;
    struct pending_entry entries[IDS]; /* deliveries 0: not in the list */
    uint64_t length;
    struct random random;
};

/* The ids that there may be, in their order: some far apart, some with a large seq. */
static struct stream_id id_of(size_t i) {
    uint64_t ms = i / 3 * 7 + (i > IDS / 2 ? (uint64_t)1 << 41 : 0);
    return (struct stream_id){ms, i % 3 + (i > IDS * 9 / 10 ? (uint64_t)1 << 60 : 0)};
}

static struct pending_entry random_entry(struct model *model, size_t i) {
    uint64_t kind = random_below(&model->random, 50);
    return (struct pending_entry){
        .id = id_of(i),
        .consumer = random_below(&model->random, kind == 0 ? 70000 : CONSUMERS),
        .delivered_ms = kind == 1 ? 0 : 1700000000000 + (int64_t)random_below(&model->random, 400),
        .deliveries = kind == 2 ? UINT64_MAX : 1 + random_below(&model->random, 2),
    };
}

static struct model *model_new(void) {
    struct model *model = mem_alloc_zeroed(sizeof(*model));
    model->random = random_of_this_run();
    model->pieces = pieces_begin();
    return model;
}

static void model_free(struct model *model) {
    pendinglist_free(&model->list, &model->pieces);
    assert_int_equal(model->pieces.bytes, 0);
    assert_int_equal(model->pieces.allocations, 0);
    mem_free(model);
}

/* --- The same changes of both --- */

static void assert_entry(const struct pending_entry *entry, const struct pending_entry *expected) {
    assert_int_equal(stream_id_compare(entry->id, expected->id), 0);
    assert_int_equal(entry->consumer, expected->consumer);
    assert_int_equal(entry->delivered_ms, expected->delivered_ms);
    assert_int_equal(entry->deliveries, expected->deliveries);
}

static void set(struct model *model, size_t i) {
    struct pending_entry entry = random_entry(model, i);
    if (model->entries[i].deliveries) {
        struct pending_entry before;
        assert_true(pendinglist_update(&model->list, &model->pieces, &entry, &before));
        assert_entry(&before, &model->entries[i]);
    } else {
        pendinglist_insert(&model->list, &model->pieces, &entry);
        model->length++;
    }
    model->entries[i] = entry;
}

static void take_out(struct model *model, size_t i) {
    bool in = model->entries[i].deliveries;
    assert_int_equal(pendinglist_remove(&model->list, &model->pieces, id_of(i), NULL), in);
    model->length -= in;
    model->entries[i].deliveries = 0;
}

static void change(struct model *model, bool grow) {
    static size_t next;
    size_t i = random_below(&model->random, IDS);
    if (random_below(&model->random, 3)) i = next++ % IDS;
    if (random_below(&model->random, 10) < (grow ? 8 : 2))
        set(model, i);
    else
        take_out(model, i);
}

/* Removes what is of one consumer, whose ids are in a list of their own. */
static void remove_consumer(struct model *model, uint64_t consumer) {
    struct pendinglist ids = {0};
    for (size_t i = 0; i < IDS; i++) {
        if (!model->entries[i].deliveries || model->entries[i].consumer != consumer) continue;
        pendinglist_insert(&ids, &model->pieces, &(struct pending_entry){.id = id_of(i)});
        model->entries[i].deliveries = 0;
        model->length--;
    }
    pendinglist_remove_all(&model->list, &model->pieces, &ids, consumer);
    pendinglist_free(&ids, &model->pieces);
}

/* Removes some ids at once, of which some are in the list: many close together, or a few. */
static void remove_ids(struct model *model) {
    struct stream_id ids[500];
    struct pending_entry removed[500];
    size_t count = 0, expected = 0;
    size_t step = 1 + random_below(&model->random, random_below(&model->random, 2) ? 4 : 600);
    for (size_t i = random_below(&model->random, IDS); i < IDS && count < 500;
         i += 1 + random_below(&model->random, step))
        ids[count++] = id_of(i);
    bool found[500] = {false};
    pendinglist_find_ids(&model->list, ids, count, found);
    size_t total = pendinglist_remove_ids(&model->list, &model->pieces, ids, count, removed);
    for (size_t i = 0, n = 0; i < IDS && n < count; i++) {
        if (stream_id_compare(id_of(i), ids[n]) != 0) continue;
        bool in = model->entries[i].deliveries;
        assert_int_equal(found[n++], in);
        if (!in) continue;
        assert_true(expected < total);
        assert_entry(&removed[expected++], &model->entries[i]);
        model->entries[i].deliveries = 0;
        model->length--;
    }
    assert_int_equal(total, expected);
}

/* --- Comparing --- */

static void compare_from(const struct model *model, size_t first) {
    struct pending_iter iter;
    struct pending_entry entry;
    pending_iter_start(&iter, &model->list, id_of(first));
    for (size_t i = first; i < IDS; i++) {
        if (!model->entries[i].deliveries) continue;
        assert_true(pending_iter_next(&iter, &entry));
        assert_entry(&entry, &model->entries[i]);
    }
    assert_false(pending_iter_next(&iter, &entry));
}

static void compare_old(const struct model *model, size_t first, int64_t latest_ms) {
    struct pending_iter iter;
    struct pending_entry entry;
    pending_iter_start(&iter, &model->list, id_of(first));
    for (size_t i = first; i < IDS; i++) {
        if (!model->entries[i].deliveries || model->entries[i].delivered_ms > latest_ms) continue;
        assert_true(pending_iter_next_old(&iter, latest_ms, &entry));
        assert_entry(&entry, &model->entries[i]);
    }
    assert_false(pending_iter_next_old(&iter, latest_ms, &entry));
}

static void check(struct model *model) {
    struct pieces totals = {0};
    struct piece_counter counter = pieces_counter(&totals);
    assert_true(pendinglist_check(&model->list, &model->pieces));
    pendinglist_pieces(&model->list, &counter.visitor);
    assert_true(pieces_are_counted(&model->pieces, &totals));
    assert_int_equal(model->list.length, model->length);
}

static void compare(struct model *model) {
    struct pending_entry entry;
    size_t first = IDS, last = 0;
    check(model);
    compare_from(model, 0);
    compare_old(model, 0, 1700000000000 + (int64_t)random_below(&model->random, 400));
    compare_old(model, random_below(&model->random, IDS), 1700000000000);
    compare_from(model, random_below(&model->random, IDS));
    for (size_t i = 0; i < IDS; i++) {
        bool in = model->entries[i].deliveries;
        assert_int_equal(pendinglist_find(&model->list, id_of(i), &entry), in);
        if (!in) continue;
        assert_entry(&entry, &model->entries[i]);
        if (first == IDS) first = i;
        last = i;
    }
    assert_int_equal(pendinglist_edge(&model->list, false, &entry), model->length > 0);
    if (model->length == 0) return;
    assert_entry(&entry, &model->entries[first]);
    assert_true(pendinglist_edge(&model->list, true, &entry));
    assert_entry(&entry, &model->entries[last]);
}

/* The oldest ones, up to `max` (0: all), as pendinglist_oldest must find them. */
static void compare_oldest(struct model *model, int64_t latest_ms, uint64_t max) {
    struct pending_selection found = {0};
    size_t old = 0;
    pendinglist_oldest(&model->list, &model->pieces, latest_ms, max, &found);
    for (size_t i = 0; i < IDS; i++) {
        const struct pending_entry *entry = &model->entries[i];
        if (!entry->deliveries || entry->delivered_ms > latest_ms) continue;
        old++;
        const struct pending_entry *last = &found.entries[found.count - 1];
        bool is_before = entry->delivered_ms < last->delivered_ms ||
                         (entry->delivered_ms == last->delivered_ms &&
                          stream_id_compare(entry->id, last->id) <= 0);
        bool is_in = false;
        for (size_t f = 0; f < found.count; f++)
            is_in |= stream_id_compare(found.entries[f].id, entry->id) == 0;
        assert_int_equal(is_in, is_before);
    }
    assert_int_equal(found.count, max > 0 && old > max ? max : old);
    for (size_t f = 1; f < found.count; f++)
        assert_true(found.entries[f - 1].delivered_ms <= found.entries[f].delivered_ms);
    int64_t bound = pendinglist_oldest_bound(&model->list);
    if (found.count == 0)
        assert_true(bound > latest_ms);
    else
        assert_true(bound <= found.entries[0].delivered_ms);
    mem_free(found.entries);
}

/* Of entries each of which is older than those before it, few are looked at. */
static void the_oldest_is_found_wherever_it_is(void **state) {
    (void)state;
    enum { COUNT = 5000, NOW = 1000000 };
    struct pieces pieces = pieces_begin();
    struct pendinglist list = {0};
    struct pending_selection found = {0};
    assert_int_equal(pendinglist_oldest_bound(&list), INT64_MAX);
    for (uint64_t i = 1; i <= COUNT; i++)
        pendinglist_insert(&list, &pieces, &(struct pending_entry){{i, 0}, 1, NOW - (int64_t)i, 1});
    pendinglist_oldest(&list, &pieces, NOW, 2, &found);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.entries[0].id.ms, COUNT);
    assert_int_equal(found.entries[1].id.ms, COUNT - 1);
    mem_free(found.entries);
    /* The bound follows what becomes older. */
    struct pending_entry older = {{1, 0}, 1, 5, 1}, before;
    assert_true(pendinglist_update(&list, &pieces, &older, &before));
    assert_int_equal(pendinglist_oldest_bound(&list), 5);
    pendinglist_free(&list, &pieces);
}

/* --- Tests --- */

static void any_sequence_gives_what_the_model_gives(void **state) {
    (void)state;
    size_t used = mem_used();
    struct model *model = model_new();
    for (int round = 0; round < 20; round++) {
        for (size_t i = random_below(&model->random, 4000); i > 0; i--)
            change(model, round % 3 != 2);
        compare(model);
        if (round % 4 == 3) remove_consumer(model, random_below(&model->random, CONSUMERS));
        if (round % 4 == 1) remove_ids(model);
        compare(model);
        compare_oldest(model, 1700000000000 + (int64_t)random_below(&model->random, 400),
                       random_below(&model->random, 30));
        compare_oldest(model, 1700000000000 + (int64_t)random_below(&model->random, 10), 0);
        compare(model);
        if (round % 5 == 4) pendinglist_fit(&model->list, &model->pieces);
        compare(model);
    }
    for (size_t i = 0; i < IDS; i++) take_out(model, i);
    compare(model);
    assert_int_equal(model->pieces.bytes, 0);
    set(model, 0);
    compare(model);
    model_free(model);
    assert_int_equal(mem_used(), used);
}

static void each_step_leaves_a_valid_list(void **state) {
    (void)state;
    struct model *model = model_new();
    for (size_t i = 0; i < 4000; i++) {
        change(model, i % 1000 < 600);
        check(model);
    }
    model_free(model);
}

static void the_allocated_bytes_are_what_the_allocator_gives(void **state) {
    (void)state;
    struct model *model = model_new();
    size_t others = mem_used();
    for (int round = 0; round < 6; round++) {
        for (size_t i = 0; i < 3000; i++) change(model, round % 2 == 0);
        assert_int_equal(mem_used() - others, model->pieces.bytes);
    }
    struct pendinglist original = model->list;
    struct piece_copier copier = pieces_copier(&model->pieces);
    pendinglist_pieces(&model->list, &copier.visitor);
    assert_int_equal(mem_used() - others, model->pieces.bytes);
    for (size_t i = 0; i < 1000; i++) change(model, false);
    pendinglist_free(&original, &model->pieces);
    compare(model);
    model_free(model);
}

/* What a group and its consumer take together, when entries are delivered in order. */
static void an_entry_takes_a_few_bytes(void **state) {
    (void)state;
#ifndef TINY_LIMITS
    static const uint64_t steps_ms[] = {0, 3, 5000};
    for (size_t kind = 0; kind < 3; kind++) {
        enum { COUNT = 100000 };
        struct pieces pieces = pieces_begin();
        struct pendinglist list = {0}, ids = {0};
        struct stream_id id = {1700000000000, 0};
        for (size_t i = 0; i < COUNT; i++) {
            id.ms += steps_ms[kind];
            id.seq += steps_ms[kind] == 0;
            pendinglist_insert(&list, &pieces,
                               &(struct pending_entry){id, i / 10 % 300, (int64_t)id.ms + 20, 1});
            pendinglist_insert(&ids, &pieces, &(struct pending_entry){.id = id});
        }
        print_message("ids %d ms apart: %.1f bytes\n", (int)steps_ms[kind],
                      (double)pieces.bytes / COUNT);
        assert_true(pieces.bytes < 16 * COUNT);
        pendinglist_free(&list, &pieces);
        pendinglist_free(&ids, &pieces);
    }
#endif
}

/* --- Captures --- */

struct list_capture {
    struct capture capture;
    struct pendinglist list;
    char image[] __attribute__((aligned(8)));
};

static uint64_t sum_of(const struct pendinglist *list) {
    struct pending_iter iter;
    struct pending_entry entry;
    uint64_t sum = 0;
    pending_iter_start(&iter, list, STREAM_ID_MIN);
    while (pending_iter_next(&iter, &entry))
        sum = sum * 31 + (entry.id.ms ^ entry.id.seq << 7) + entry.consumer * 3 +
              (uint64_t)entry.delivered_ms + entry.deliveries;
    return sum;
}

static void change_often(struct model *model, size_t count, bool grow) {
    for (size_t i = 0; i < count; i++) change(model, grow);
    if (count > 1000) remove_consumer(model, 1);
}

static uint64_t sum_list(struct model *model) {
    return sum_of(&model->list);
}

static size_t allocated(struct model *model) {
    return model->pieces.bytes;
}

static void free_list(struct model *model) {
    pendinglist_free(&model->list, &model->pieces);
}

static const struct capture_functions no_functions;

static struct capture *begin_capture(struct model *model, size_t *left) {
    size_t size = idindex_image_size(&model->list.index);
    struct list_capture *capture =
        capture_begin(&no_functions, sizeof(*capture) + size, &model->pieces.captures, left);
    capture->list = model->list;
    idindex_image(&capture->list.index, &(char *){capture->image});
    return &capture->capture;
}

static uint64_t sum_capture(const struct capture *capture) {
    return sum_of(&((const struct list_capture *)capture)->list);
}

static const struct capture_kind captured_list = {
    change_often, compare, sum_list, allocated, free_list, begin_capture, sum_capture};

static void a_capture_stays_as_the_list_was(void **state) {
    (void)state;
    size_t used = mem_used();
    struct model *model = model_new();
    check_that_a_capture_stays(&captured_list, model);
    model_free(model);
    assert_int_equal(mem_used(), used);
}

static void a_list_that_is_freed_stays_in_its_capture(void **state) {
    (void)state;
    size_t used = mem_used(), left = 0;
    struct model *model = model_new();
    for (size_t i = 0; i < IDS; i++) set(model, i);
    uint64_t sum = sum_list(model);
    struct capture *capture = begin_capture(model, &left);
    for (size_t i = 0; i < IDS; i += 3) take_out(model, i);
    pendinglist_free(&model->list, &model->pieces);
    assert_int_equal(model->pieces.bytes, 0);
    assert_int_equal(sum_capture(capture), sum);
    capture_end(capture);
    mem_free(model);
    assert_int_equal(mem_used(), used);
}

static void another_thread_reads_a_capture_while_the_list_changes(void **state) {
    (void)state;
    struct model *model = model_new();
    check_that_another_thread_reads(&captured_list, model);
    mem_free(model);
}

int main(void) {
    hash_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_sequence_gives_what_the_model_gives),
        cmocka_unit_test(the_oldest_is_found_wherever_it_is),
        cmocka_unit_test(each_step_leaves_a_valid_list),
        cmocka_unit_test(the_allocated_bytes_are_what_the_allocator_gives),
        cmocka_unit_test(an_entry_takes_a_few_bytes),
        cmocka_unit_test(a_capture_stays_as_the_list_was),
        cmocka_unit_test(a_list_that_is_freed_stays_in_its_capture),
        cmocka_unit_test(another_thread_reads_a_capture_while_the_list_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
