/* A streamlog against a model: the list of entries, each with its id and its texts. */
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "ds/streams/streamlog_internal.h"
#include "unit/capture_checks.h"
#include "unit/relocate_step.h"
#include "unit/seed.h"

#include <stdio.h>
#include <string.h>

enum { ENTRIES_MAX = 30000, TEXTS = 10, PAIRS_MAX = 3 };

/* What an entry holds follows from its number. */
struct item {
    struct stream_id id;
    uint32_t number;
    bool in;
};

struct model {
    struct streamlog *log;
    struct stream_limits limits;
    struct item *items; /* all that were ever appended */
    size_t used;
    uint64_t length;
    struct stream_facts facts;
    struct random random;
    struct relocate_step relocation;
};

static char filler[3000];

static const struct slice texts[TEXTS] = {
    SLICE("f"),
    SLICE("12"),
    SLICE("-7"),
    SLICE(""),
    SLICE("007"),
    SLICE("9223372036854775807"),
    SLICE("2305843009213693951"),
    SLICE("-2305843009213693952"),
    SLICE("1700000000000"),
    SLICE("a longer name of a field, and even of a value; it takes more than 63 bytes"),
};

/* The fields and values of an entry; returns the number of pairs. */
static size_t texts_of(uint32_t number, struct slice all[2 * PAIRS_MAX]) {
    struct random random;
    random_seed(&random, number);
    size_t pairs = random_below(&random, 4) ? 2 : 1 + random_below(&random, PAIRS_MAX);
    for (size_t i = 0; i < pairs; i++) {
        all[2 * i] = texts[random_below(&random, 8) ? i : random_below(&random, TEXTS)];
        all[2 * i + 1] = texts[random_below(&random, TEXTS)];
        if (random_below(&random, 200) == 0)
            all[2 * i + 1] = slice_make(filler, random_below(&random, sizeof(filler)));
    }
    return pairs;
}

static struct model *model_new(void) {
    struct model *model = mem_alloc_zeroed(sizeof(*model));
    model->random = random_of_this_run();
    model->items = mem_alloc(ENTRIES_MAX * sizeof(*model->items));
    model->log = streamlog_new();
    model->limits = (struct stream_limits){4096, 100};
    return model;
}

static void model_free(struct model *model) {
    streamlog_free(model->log);
    mem_free(model->items);
    mem_free(model);
}

/* --- The same changes of both --- */

static void append(struct model *model) {
    struct slice all[2 * PAIRS_MAX];
    struct stream_id id = model->facts.last_id;
    if (model->used == ENTRIES_MAX) return;
    uint64_t step = random_below(&model->random, 40);
    if (step < 20)
        id.seq += 1 + step % 3;
    else
        id = (struct stream_id){id.ms + (step == 39 ? 1u << 30 : step - 19),
                                step % 2 ? 0 : random_below(&model->random, UINT64_MAX) >> step};
    uint32_t number = (uint32_t)random_next(&model->random);
    size_t pairs = texts_of(number, all);
    streamlog_append(model->log, id, all, pairs, &model->limits);
    model->items[model->used++] = (struct item){id, number, true};
    model->length++;
    model->facts.last_id = id;
    model->facts.added++;
}

static void delete (struct model *model, size_t i) {
    struct item *item = &model->items[i];
    assert_int_equal(streamlog_delete(model->log, item->id), item->in);
    if (!item->in) return;
    item->in = false;
    model->length--;
    if (stream_id_compare(item->id, model->facts.max_deleted_id) > 0)
        model->facts.max_deleted_id = item->id;
}

/* Removes the first `count` entries of the model. */
static void drop_first(struct model *model, uint64_t count) {
    for (size_t i = 0; count > 0; i++) {
        if (!model->items[i].in) continue;
        model->items[i].in = false;
        model->length--;
        count--;
    }
}

static void trim(struct model *model) {
    struct stream_trim trim = {
        .by_id = random_below(&model->random, 2),
        .whole_nodes = random_below(&model->random, 2),
        .max_length = random_below(&model->random, model->length + 10),
    };
    if (trim.whole_nodes && random_below(&model->random, 2))
        trim.limit = 1 + random_below(&model->random, 300);
    if (model->used > 0)
        trim.min_id = model->items[model->used - 1 - random_below(&model->random, model->used)].id;
    uint64_t expected = 0;
    for (size_t i = 0; trim.by_id && i < model->used; i++)
        expected += model->items[i].in && stream_id_compare(model->items[i].id, trim.min_id) < 0;
    if (!trim.by_id && model->length > trim.max_length) expected = model->length - trim.max_length;
    struct streamlog *cut;
    uint64_t removed = streamlog_trim(model->log, &trim, &cut);
    if (cut) {
        assert_false(pieces_are_captured(&model->log->pieces));
        assert_true(streamlog_check(cut) && cut->length <= removed);
        streamlog_free(cut);
    }
    if (trim.whole_nodes)
        assert_true(removed <= expected && (trim.limit == 0 || removed <= trim.limit));
    else
        assert_int_equal(removed, expected);
    drop_first(model, removed);
}

/* --- Comparing --- */

static void expect_entry(struct stream_entry *entry, const struct item *item) {
    struct slice all[2 * PAIRS_MAX];
    struct stream_pair pair;
    size_t pairs = texts_of(item->number, all), i = 0;
    assert_int_equal(stream_id_compare(entry->id, item->id), 0);
    assert_int_equal(entry->pairs, pairs);
    for (; streamlog_next_pair(entry, &pair); i++) {
        assert_true(slice_equal(pair.field, all[2 * i]));
        assert_true(slice_equal(pair.value, all[2 * i + 1]));
    }
    assert_int_equal(i, pairs);
}

static void compare_range(struct model *model, struct stream_id first, struct stream_id last,
                          bool reverse) {
    struct stream_iter iter;
    struct stream_entry entry;
    uint64_t count = 0;
    streamlog_iter_start(&iter, model->log, first, last, reverse);
    for (size_t n = 0; n < model->used; n++) {
        const struct item *item = &model->items[reverse ? model->used - 1 - n : n];
        if (!item->in || stream_id_compare(item->id, first) < 0 ||
            stream_id_compare(item->id, last) > 0)
            continue;
        assert_true(streamlog_iter_next(&iter, &entry));
        assert_true(streamlog_iter_node(&iter).entries > 0);
        expect_entry(&entry, item);
        count++;
    }
    assert_int_equal(streamlog_count(model->log, first, last), count);
    assert_false(streamlog_iter_next(&iter, &entry));
    assert_false(streamlog_iter_next(&iter, &entry));
}

static struct stream_id random_id(struct model *model) {
    if (model->used == 0) return STREAM_ID_MIN;
    struct stream_id id = model->items[random_below(&model->random, model->used)].id;
    id.seq += random_below(&model->random, 3) - 1;
    return id;
}

static void compare(struct model *model) {
    struct stream_facts facts = model->log->facts;
    assert_true(streamlog_check(model->log));
    assert_int_equal(model->log->length, model->length);
    assert_memory_equal(&facts, &model->facts, sizeof(facts));
    compare_range(model, STREAM_ID_MIN, STREAM_ID_MAX, false);
    compare_range(model, STREAM_ID_MIN, STREAM_ID_MAX, true);
    for (int i = 0; i < 5; i++) compare_range(model, random_id(model), random_id(model), i % 2);
}

static void compare_nodes(struct model *model) {
    struct stream_node_iter iter = {.log = model->log};
    struct stream_node_view node;
    struct stream_entry entry;
    uint64_t length = 0;
    size_t nodes = 0, i = 0;
    for (; streamlog_next_node(&iter, &node); nodes++) {
        uint64_t count = 0;
        for (; streamlog_node_next(&node, &entry); count++) {
            assert_true(stream_id_compare(entry.id, node.base) >= 0);
            while (!model->items[i].in) i++;
            expect_entry(&entry, &model->items[i++]);
        }
        assert_int_equal(count, node.count);
        length += count;
    }
    assert_int_equal(length, model->length);
    assert_int_equal(nodes, model->log->nodes);
}

static void change(struct model *model, bool grow) {
    uint64_t choice = random_below(&model->random, 1000);
    if (choice < 2)
        trim(model);
    else if (choice < (grow ? 200 : 700) && model->used > 0)
        delete (model, random_below(&model->random, model->used));
    else
        append(model);
    if (relocate_step_begins(&model->relocation, &model->random) &&
        !pieces_are_captured(&model->log->pieces))
        model->log =
            streamlog_relocate(model->log, &model->relocation.relocator, &model->relocation.cursor);
}

/* --- Tests --- */

static void any_sequence_gives_what_the_model_gives(void **state) {
    static const struct stream_limits limits[] = {{4096, 100}, {0, 0}, {100, 0}, {0, 3}, {1, 1}};
    (void)state;
    for (size_t kind = 0; kind < sizeof(limits) / sizeof(*limits); kind++) {
        size_t used = mem_used();
        struct model *model = model_new();
        model->limits = limits[kind];
        for (int round = 0; round < 12; round++) {
            for (size_t i = random_below(&model->random, 2000); i > 0; i--)
                change(model, round % 2 == 0);
            compare(model);
            compare_nodes(model);
        }
        for (size_t i = 0; i < model->used; i++) delete (model, i);
        assert_int_equal(model->log->nodes, 0);
        compare(model);
        append(model);
        compare(model);
        model_free(model);
        assert_int_equal(mem_used(), used);
    }
}

static void each_step_leaves_a_valid_log(void **state) {
    (void)state;
    struct model *model = model_new();
    model->limits.node_entries = 4;
    for (size_t i = 0; i < 3000; i++) {
        change(model, i % 500 < 250);
        assert_true(streamlog_check(model->log));
    }
    model_free(model);
}

static void the_allocated_bytes_are_what_the_allocator_gives(void **state) {
    (void)state;
    struct model *model = model_new();
    size_t others = mem_used() - streamlog_allocated(model->log);
    for (int round = 0; round < 6; round++) {
        for (size_t i = 0; i < 3000; i++) change(model, round % 2 == 0);
        assert_int_equal(mem_used() - others, streamlog_allocated(model->log));
    }
    struct streamlog *copy = streamlog_copy(model->log), *original = model->log;
    assert_int_equal(mem_used() - others,
                     streamlog_allocated(copy) + streamlog_allocated(original));
    model->log = copy;
    for (size_t i = 0; i < 1000; i++) change(model, false);
    compare(model);
    streamlog_free(original);
    compare(model);
    model_free(model);
}

/* Nodes end where those of Redis end: after so many entries, deleted ones included, or before the
 * serialized bytes exceed the limit. */
static void limits_decide_where_a_node_ends(void **state) {
    (void)state;
    static const struct slice pair[] = {SLICE("f"), SLICE("v")};
    struct streamlog *log = streamlog_new();
    const struct stream_limits three = {4096, 3};
    for (uint64_t i = 1; i <= 7; i++) {
        streamlog_append(log, (struct stream_id){i, 0}, pair, 1, &three);
        if (i == 2) assert_true(streamlog_delete(log, (struct stream_id){2, 0}));
    }
    assert_int_equal(log->nodes, 3);
    streamlog_free(log);
    log = streamlog_new();
    /* The listpack takes 18 bytes and 11 for each entry; the texts of the next one are 2 bytes. */
    const struct stream_limits bytes = {18 + 3 * 11 + 2, 0};
    for (uint64_t i = 1; i <= 7; i++)
        streamlog_append(log, (struct stream_id){i, 0}, pair, 1, &bytes);
    assert_int_equal(log->nodes, 3);
    streamlog_free(log);
}

static void a_node_that_was_trimmed_at_its_beginning_takes_more_entries(void **state) {
    (void)state;
    static const struct slice pair[] = {SLICE("f"), SLICE("v")};
    struct streamlog *log = streamlog_new();
    const struct stream_limits limits = {4096, 100};
    for (uint64_t i = 1; i <= 1000; i++) {
        const struct stream_trim trim = {.max_length = 10};
        struct streamlog *cut;
        streamlog_append(log, (struct stream_id){i, 0}, pair, 1, &limits);
        assert_int_equal(streamlog_trim(log, &trim, &cut), i > 10);
        assert_null(cut);
        assert_true(streamlog_check(log) && log->nodes <= 2);
    }
    streamlog_free(log);
}

static void what_is_trimmed_in_large_parts_is_cut_off(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    static const struct slice pair[] = {SLICE("f"), SLICE("v")};
    const struct stream_limits limits = {4096, 5};
    const uint64_t lengths[] = {COUNT - 3 * 5 * IDINDEX_SEGMENT / 2, 1, 0, 7, 8};
    size_t used = mem_used();
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        struct stream_trim trim = {.max_length = COUNT - 5 * (IDINDEX_SEGMENT - 1)};
        struct streamlog *log = streamlog_new(), *cut;
        for (uint64_t id = 1; id <= COUNT; id++)
            streamlog_append(log, (struct stream_id){id, 0}, pair, 1, &limits);
        bool is_much = i > 0, begins_with_little = i == 3;
        if (begins_with_little) {
            streamlog_trim(log, &trim, &cut);
            assert_null(cut);
        }
        uint64_t length = log->length;
        trim.max_length = lengths[i];
        trim.by_id = i == 4;
        trim.min_id = (struct stream_id){COUNT + 1 - lengths[i], 0};
        assert_int_equal(streamlog_trimmed(log, &trim), length - lengths[i]);
        assert_int_equal(streamlog_trim(log, &trim, &cut), length - lengths[i]);
        assert_true(streamlog_check(log));
        assert_int_equal(log->length, lengths[i]);
        if (is_much) assert_non_null(cut);
        if (cut) {
            assert_true(streamlog_check(cut));
            assert_true(cut->length >= 5 * IDINDEX_SEGMENT);
            streamlog_free(cut);
        }
        streamlog_append(log, (struct stream_id){COUNT + 1, 0}, pair, 1, &limits);
        assert_true(streamlog_check(log));
        streamlog_free(log);
    }
    assert_int_equal(mem_used(), used);
}

/* --- Captures --- */

static uint64_t sum_of(const struct streamlog *log) {
    struct stream_iter iter;
    struct stream_entry entry;
    struct stream_pair pair;
    uint64_t sum = 0;
    streamlog_iter_start(&iter, log, STREAM_ID_MIN, STREAM_ID_MAX, false);
    while (streamlog_iter_next(&iter, &entry)) {
        sum = sum * 31 + entry.id.ms + entry.id.seq;
        while (streamlog_next_pair(&entry, &pair))
            sum = sum * 31 + (hash_bytes(pair.field) ^ 3 * hash_bytes(pair.value));
    }
    return sum;
}

static void change_often(struct model *model, size_t count, bool grow) {
    for (size_t i = 0; i < count; i++) change(model, grow);
}

static uint64_t sum_log(struct model *model) {
    return sum_of(model->log);
}

static size_t allocated_by_log(struct model *model) {
    return streamlog_allocated(model->log);
}

static void free_log(struct model *model) {
    streamlog_free(model->log);
}

static struct capture *begin_capture(struct model *model, size_t *left) {
    struct capture *capture = streamlog_capture_begin(model->log, left);
    assert_true(pieces_are_captured(&model->log->pieces));
    assert_int_equal(streamlog_captured(capture)->length, model->length);
    return capture;
}

static uint64_t sum_capture(const struct capture *capture) {
    return sum_of(streamlog_captured(capture));
}

static const struct capture_kind captured_log = {
    change_often, compare, sum_log, allocated_by_log, free_log, begin_capture, sum_capture};

static void a_capture_stays_as_the_log_was(void **state) {
    (void)state;
    size_t used = mem_used();
    struct model *model = model_new();
    check_that_a_capture_stays(&captured_log, model);
    model_free(model);
    assert_int_equal(mem_used(), used);
}

static void delete_every_third(struct model *model) {
    for (size_t i = 0; i < 3000; i += 3) delete (model, i);
}

static void a_log_that_is_freed_goes_over_to_its_capture(void **state) {
    (void)state;
    size_t used = mem_used();
    struct model *model = model_new();
    for (size_t i = 0; i < 3000; i++) append(model);
    check_that_a_freed_structure_stays(&captured_log, model, delete_every_third);
    mem_free(model->items);
    mem_free(model);
    assert_int_equal(mem_used(), used);
}

static void another_thread_reads_a_capture_while_the_log_changes(void **state) {
    (void)state;
    struct model *model = model_new();
    check_that_another_thread_reads(&captured_log, model);
    mem_free(model->items);
    mem_free(model);
}

/* The value under a key may be another one when its relocation goes on. */
static void relocation_ends_wherever_another_log_had_come_to(void **state) {
    static const uint64_t parts[] = {0, 1, 2, UINT64_C(1) << 32, UINT64_C(7) << 32 | 3};
    (void)state;
    struct model *model = model_new();
    model->limits = (struct stream_limits){0, 3};
    for (size_t i = 0; i < 20; i++) append(model);
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        struct relocate_cursor cursor = {.part = parts[i], .at = 5};
        size_t steps = 0;
        do {
            relocator_init_for_tests(&model->relocation.relocator, 1);
            model->log = streamlog_relocate(model->log, &model->relocation.relocator, &cursor);
            assert_true(++steps < 100);
        } while (!relocate_is_done(&cursor));
    }
    compare(model);
    model_free(model);
}

int main(void) {
    hash_init();
    for (size_t i = 0; i < sizeof(filler); i++) filler[i] = (char)('a' + i % 26);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_sequence_gives_what_the_model_gives),
        cmocka_unit_test(each_step_leaves_a_valid_log),
        cmocka_unit_test(the_allocated_bytes_are_what_the_allocator_gives),
        cmocka_unit_test(limits_decide_where_a_node_ends),
        cmocka_unit_test(a_node_that_was_trimmed_at_its_beginning_takes_more_entries),
        cmocka_unit_test(what_is_trimmed_in_large_parts_is_cut_off),
        cmocka_unit_test(a_capture_stays_as_the_log_was),
        cmocka_unit_test(a_log_that_is_freed_goes_over_to_its_capture),
        cmocka_unit_test(another_thread_reads_a_capture_while_the_log_changes),
        cmocka_unit_test(relocation_ends_wherever_another_log_had_come_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
