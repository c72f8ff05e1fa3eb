/* Snapshot iterators over keyspaces that change meanwhile, against a copy of each keyspace made when
 * its iterator began: it visits every entry of the copy once, as it was then, and no other. A value is
 * 4 bytes of number and 0 to 100 more that its fifth byte counts. */
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "store/key_slot.h"
#include "store/keyspace.h"
#include "unit/keyspace_kinds.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#ifdef TINY_LIMITS
enum { KEYS = 300, ITERATORS = 400 };
#else
enum { KEYS = 3000, ITERATORS = 100 };
#endif
enum { DATABASES = 3, MORE_MAX = 100 };

/* What a key should have; number 0: it is not there. */
struct value {
    int64_t expiry;
    uint32_t number;
    uint8_t more;
};

struct database {
    struct keyspace *keyspace;
    struct value *now; /* KEYS; follow the entries when keyspaces are swapped */
};

struct test_iterator {
    struct snapshot_iterator iterator; /* first */
    struct world *world;
    struct value *then; /* KEYS, as the iterator began */
    size_t unvisited;   /* of them, not visited yet */
    size_t early;       /* visited before a change, not by a step */
    bool stepping;
    bool silent; /* was given up */
    bool runs;
};

/* The state of each test. */
struct given {
    struct random *random;
    const struct keyspace_kind *kind;
};

struct world {
    struct random *random;
    const struct keyspace_kind *kind;
    struct database databases[DATABASES];
    struct test_iterator iterators[DATABASES];
    uint32_t last_number;
    size_t pauses; /* a visit in so many ends its step; 0: none does */
    size_t early;  /* of all iterators */
};

/* --- Entries --- */

static size_t value_size(const struct entry *entry) {
    return 5 + (size_t)entry_value(entry)[4];
}

static void free_entry(struct entry *entry) {
    entry_free(entry, value_size(entry));
}

static uint64_t value_length(const struct entry *entry) {
    return entry_value(entry)[4];
}

static struct keyspace *new_keyspace(const struct world *world) {
    return world->kind->make(free_entry, value_length);
}

static void write_value(struct entry *entry, const struct value *value) {
    memcpy(entry_value(entry), &value->number, sizeof(value->number));
    entry_value(entry)[4] = value->more;
    memset(entry_value(entry) + 5, (int)value->number, value->more);
}

static void assert_value(const struct entry *entry, const struct value *value) {
    uint8_t expected[5 + MORE_MAX];
    memcpy(expected, &value->number, sizeof(value->number));
    expected[4] = value->more;
    memset(expected + 5, (int)value->number, value->more);
    assert_memory_equal(entry_value(entry), expected, 5 + (size_t)value->more);
    assert_true(entry_expiry(entry) == value->expiry);
}

/* Most keys are in twenty slots, the others each in a slot of its own. */
static struct slice key_of(char text[static 40], size_t i) {
    int len = snprintf(text, 40, i % 16 ? "%08zu{%zu}" : "%08zu", i, i % 20);
    if (i % 3 == 0) len += snprintf(text + len, 40 - (size_t)len, ":%025d", 7);
    return slice_make(text, (size_t)len);
}

static size_t index_of(const struct entry *entry) {
    int64_t i;
    char digits[9] = "1"; /* zeros in front are no canonical number */
    memcpy(digits + 1, entry_key(entry).ptr, 8);
    assert_true(number_parse_int64(slice_make(digits, 9), &i));
    return (size_t)(i - 100000000);
}

static struct keyref find(const struct database *database, size_t i) {
    char text[40];
    struct keyref ref = keyspace_find(database->keyspace, key_of(text, i));
    assert_int_equal(ref.entry != NULL, database->now[i].number != 0);
    if (ref.entry) assert_value(ref.entry, &database->now[i]);
    return ref;
}

/* --- The iterators --- */

static void visit(struct snapshot_iterator *iterator, struct entry *entry) {
    struct test_iterator *test = (struct test_iterator *)iterator;
    size_t i = index_of(entry);
    assert_true(test->runs && !test->silent);
    assert_int_equal(iterator->number, test - test->world->iterators);
    assert_true(i < KEYS && test->then[i].number != 0); /* was there, and not visited yet */
    assert_value(entry, &test->then[i]);
    test->then[i].number = 0;
    test->unvisited--;
    test->early += !test->stepping;
    size_t pauses = test->world->pauses;
    if (pauses) iterator->paused = random_below(test->world->random, pauses) == 0;
}

static void ignore(struct snapshot_iterator *iterator, struct entry *entry) {
    (void)entry;
    assert_true(((struct test_iterator *)iterator)->silent);
}

static void iterator_begins(struct world *world, int number) {
    struct test_iterator *test = &world->iterators[number];
    const struct database *database = &world->databases[number];
    assert_null(keyspace_snapshot_iterator(database->keyspace));
    memcpy(test->then, database->now, KEYS * sizeof(struct value));
    test->unvisited = keyspace_count(database->keyspace);
    test->iterator = (struct snapshot_iterator){.visit = visit, .number = number};
    test->silent = false;
    test->early = 0;
    test->runs = true;
    snapshot_iterator_start(&test->iterator, database->keyspace);
    assert_ptr_equal(keyspace_snapshot_iterator(database->keyspace), &test->iterator);
}

static void iterator_steps(struct test_iterator *test) {
    if (!test->runs) return;
    struct keyspace *keyspace = test->iterator.keyspace;
    bool was_over = test->iterator.over;
    test->stepping = true;
    test->runs = snapshot_iterator_step(&test->iterator);
    test->stepping = false;
    if (test->runs) return;
    if (!test->silent) assert_int_equal(test->unvisited, 0);
    assert_true(test->iterator.over);
    assert_false(snapshot_iterator_step(&test->iterator));
    test->world->early += test->early;
    if (was_over) return; /* its entries were all freed: the keyspace is gone */
    assert_null(keyspace_snapshot_iterator(keyspace));
    assert_true(keyspace_check(keyspace)); /* all epochs are equal */
}

static void iterator_is_given_up(struct test_iterator *test) {
    if (!test->runs) return;
    test->silent = true;
    test->iterator.visit = ignore;
}

/* --- What is done meanwhile --- */

static struct value random_value(struct world *world) {
    struct random *random = world->random;
    return (struct value){
        .number = ++world->last_number,
        .more = (uint8_t)random_below(random, MORE_MAX),
        .expiry = random_below(random, 3) ? -1 : (int64_t)random_below(random, 1000000),
    };
}

static void add(struct world *world, struct database *database, size_t i, struct keyref *ref) {
    char text[40];
    struct value value = random_value(world);
    struct entry *entry = entry_new(key_of(text, i), VALUE_STRING, 0, 5 + (size_t)value.more);
    write_value(entry, &value);
    if (value.expiry >= 0) entry = entry_set_expiry(entry, value.expiry, value_size(entry));
    keyspace_add(ref, entry);
    database->now[i] = value;
}

static void delete (struct database *database, size_t i, struct keyref *ref) {
    keyspace_delete(ref);
    database->now[i].number = 0;
}

/* Another value in the same entry, which may move, as the types write. */
static void change(struct world *world, struct database *database, size_t i, struct keyref *ref) {
    struct value value = random_value(world);
    value.expiry = database->now[i].expiry;
    keyspace_before_change(ref);
    assert_true(keyref_was_visited(ref));
    uint64_t old_length = value_length(ref->entry);
    struct entry *entry = entry_resize(ref->entry, value_size(ref->entry), 5 + (size_t)value.more);
    keyref_moved(ref, entry);
    write_value(entry, &value);
    keyspace_resized(ref, old_length, value.more);
    database->now[i] = value;
}

/* The same value elsewhere: no change. */
static void move(struct keyref *ref) {
    size_t size = value_size(ref->entry);
    bool unvisited = !keyref_was_visited(ref);
    for (int i = 0; i < 2; i++) {
        size_t from = i ? size + 500 : size, to = i ? size : size + 500;
        keyref_moved(ref, entry_resize(ref->entry, from, to));
        assert_int_equal(keyref_was_visited(ref), !unvisited);
    }
}

static void set_expiry(struct world *world, struct database *database, size_t i,
                       struct keyref *ref) {
    int64_t expiry = random_below(world->random, 2) ? -1 : (int64_t)random_below(world->random, 99);
    keyspace_set_expiry(ref, expiry, value_size(ref->entry));
    database->now[i].expiry = expiry;
}

/* To another key of any database (RENAME, MOVE), in the place of what is there. */
static void rename_to(struct world *world, struct database *from, size_t i, struct keyref *source) {
    struct database *to = &world->databases[random_below(world->random, DATABASES)];
    size_t j = random_below(world->random, KEYS);
    char text[40];
    if (to == from && i == j) return;
    struct keyref destination = find(to, j);
    if (destination.entry) delete (to, j, &destination);
    *source = find(from, i);
    struct entry *taken = keyspace_take(source);
    struct entry *entry = entry_copy(taken, key_of(text, j), value_size(taken));
    free_entry(taken);
    destination = find(to, j);
    keyspace_add(&destination, entry);
    to->now[j] = from->now[i];
    from->now[i].number = 0;
}

static void change_one(struct world *world, bool grows) {
    struct database *database = &world->databases[random_below(world->random, DATABASES)];
    size_t i = random_below(world->random, KEYS);
    struct keyref ref = find(database, i);
    uint64_t dice = random_below(world->random, 11);
    if (!ref.entry) {
        if (dice < (grows ? 9 : 2)) add(world, database, i, &ref);
    } else if (dice < (grows ? 1 : 6)) {
        delete (database, i, &ref);
    } else if (dice < 7) {
        change(world, database, i, &ref);
    } else if (dice < 9) {
        set_expiry(world, database, i, &ref);
    } else if (dice < 10) {
        move(&ref);
    } else {
        rename_to(world, database, i, &ref);
    }
}

static void forget(struct database *database) {
    for (size_t i = 0; i < KEYS; i++) database->now[i].number = 0;
}

static void swap(struct world *world) {
    struct database *a = &world->databases[random_below(world->random, DATABASES)];
    struct database *b = &world->databases[random_below(world->random, DATABASES)];
    keyspace_swap(a->keyspace, b->keyspace);
    struct value *now = a->now;
    a->now = b->now;
    b->now = now;
}

/* Deletes all keys, in one of the ways in which a server may. An iterator has visited them all then,
 * unless it was silent and is abandoned. */
static void clear(struct world *world) {
    struct database *database = &world->databases[random_below(world->random, DATABASES)];
    struct snapshot_iterator *iterator = keyspace_snapshot_iterator(database->keyspace);
    if (iterator && ((struct test_iterator *)iterator)->silent && random_below(world->random, 2))
        snapshot_iterator_abandon(iterator);
    if (random_below(world->random, 2)) {
        keyspace_clear(database->keyspace);
    } else { /* what goes to a thread is visited before */
        struct keyspace *old = database->keyspace;
        struct keyspace_ending ending;
        database->keyspace = new_keyspace(world);
        keyspace_end_start(&ending, old);
        if (iterator) assert_true(iterator->over);
        for (struct entry *entry; (entry = keyspace_end_step(&ending)) != NULL;) free_entry(entry);
    }
    if (iterator) {
        struct test_iterator *test = (struct test_iterator *)iterator;
        assert_true(iterator->over);
        if (!test->silent) assert_int_equal(test->unvisited, 0);
    }
    assert_null(keyspace_snapshot_iterator(database->keyspace));
    assert_int_equal(keyspace_count(database->keyspace), 0);
    forget(database);
}

/* The keyspace is put aside, iterated over to the end and freed, while a new one takes its place. */
static void put_aside(struct world *world) {
    struct database *database = &world->databases[random_below(world->random, DATABASES)];
    struct snapshot_iterator *iterator = keyspace_snapshot_iterator(database->keyspace);
    struct keyspace *old = new_keyspace(world);
    keyspace_swap(database->keyspace, old);
    forget(database);
    if (iterator) assert_ptr_equal(iterator->keyspace, old);
    while (iterator && ((struct test_iterator *)iterator)->runs)
        iterator_steps((struct test_iterator *)iterator);
    keyspace_free(old);
}

/* --- The world --- */

static void world_begins(struct world *world, const struct given *given, size_t pauses) {
    *world = (struct world){.random = given->random, .kind = given->kind, .pauses = pauses};
    for (int i = 0; i < DATABASES; i++) {
        world->databases[i].keyspace = new_keyspace(world);
        world->databases[i].now = mem_alloc_zeroed(KEYS * sizeof(struct value));
        world->iterators[i].world = world;
        world->iterators[i].then = mem_alloc_zeroed(KEYS * sizeof(struct value));
    }
}

static void world_ends(struct world *world) {
    for (int i = 0; i < DATABASES; i++) {
        keyspace_free(world->databases[i].keyspace);
        mem_free(world->databases[i].now);
    }
    for (int i = 0; i < DATABASES; i++) { /* freeing visits the rest */
        if (world->iterators[i].runs) iterator_steps(&world->iterators[i]);
        assert_false(world->iterators[i].runs);
        mem_free(world->iterators[i].then);
    }
}

static void assert_world(const struct world *world) {
    for (int d = 0; d < DATABASES; d++) {
        size_t count = 0;
        assert_true(keyspace_check(world->databases[d].keyspace));
        for (size_t i = 0; i < KEYS; i++) {
            find(&world->databases[d], i);
            count += world->databases[d].now[i].number != 0;
        }
        assert_int_equal(keyspace_count(world->databases[d].keyspace), count);
    }
}

/* One round: a few changes, then steps of some iterators. `rare`: one round in so many does what
 * concerns a whole keyspace. */
static void run_round(struct world *world, bool grows, size_t rare) {
    struct random *random = world->random;
    for (uint64_t n = random_below(random, 40); n > 0; n--) change_one(world, grows);
    if (rare && random_below(random, rare) == 0) {
        switch (random_below(random, 4)) {
        case 0: clear(world); break;
        case 1: put_aside(world); break;
        case 2: swap(world); break;
        default: iterator_is_given_up(&world->iterators[random_below(random, DATABASES)]);
        }
    }
    for (int i = 0; i < DATABASES; i++) {
        if (random_below(random, 3)) iterator_steps(&world->iterators[i]);
    }
}

static bool iterator_may_begin(const struct world *world, int i) {
    return !world->iterators[i].runs && !keyspace_snapshot_iterator(world->databases[i].keyspace);
}

/* Iterators begin while others run, and again as soon as they are over. */
static void run(const struct given *given, size_t pauses, size_t rare) {
    size_t used = mem_used();
    struct world world;
    world_begins(&world, given, pauses);
    size_t iterators = 0, rounds = 0;
    while (iterators < ITERATORS) {
        run_round(&world, rounds++ / 100 % 2 == 0, rare);
        if (rounds % 100 == 0) assert_world(&world);
        for (int i = 0; i < DATABASES; i++) {
            if (!iterator_may_begin(&world, i) || random_below(given->random, 8)) continue;
            iterator_begins(&world, i);
            iterators++;
        }
    }
    assert_true(world.early > 0);
    world_ends(&world);
    assert_int_equal(mem_used(), used);
}

static void every_entry_is_visited_once_as_it_was(void **state) {
    run(*state, 0, 0);
}

static void iterators_may_pause_within_a_bucket(void **state) {
    run(*state, 3, 0);
    run(*state, 1, 0);
}

static void iterators_survive_what_is_done_to_whole_keyspaces(void **state) {
    run(*state, 0, 5);
    run(*state, 2, 3);
}

/* --- Cases --- */

static void fill(struct world *world, int database, size_t keys) {
    for (size_t i = 0; i < keys; i++) {
        struct keyref ref = find(&world->databases[database], i);
        if (!ref.entry) add(world, &world->databases[database], i, &ref);
    }
}

static void an_empty_keyspace_takes_one_step(void **state) {
    struct world world;
    world_begins(&world, *state, 0);
    iterator_begins(&world, 0);
    iterator_steps(&world.iterators[0]);
    assert_false(world.iterators[0].runs);
    iterator_begins(&world, 0);
    fill(&world, 0, 100); /* are added too late */
    while (world.iterators[0].runs) iterator_steps(&world.iterators[0]);
    iterator_begins(&world, 0);
    assert_int_equal(world.iterators[0].unvisited, 100);
    while (world.iterators[0].runs) iterator_steps(&world.iterators[0]);
    assert_world(&world);
    world_ends(&world);
}

static void entries_that_come_late_do_not_lengthen_an_iteration(void **state) {
    struct world world;
    world_begins(&world, *state, 0);
    fill(&world, 0, 50);
    iterator_begins(&world, 0);
    iterator_steps(&world.iterators[0]);
    fill(&world, 0, KEYS); /* splits every bucket, several times */
    assert_int_equal(world.iterators[0].early, 0);
    while (world.iterators[0].runs) iterator_steps(&world.iterators[0]);
    assert_int_equal(world.iterators[0].early, 0);
    world_ends(&world);
}

static void deleting_all_keys_shows_them_to_the_iterator(void **state) {
    struct world world;
    world_begins(&world, *state, 0);
    fill(&world, 0, KEYS);
    iterator_begins(&world, 0);
    for (size_t i = 0; i < KEYS; i++) {
        struct keyref ref = find(&world.databases[0], i);
        delete (&world.databases[0], i, &ref);
    }
    assert_int_equal(world.iterators[0].unvisited, 0);
    assert_int_equal(world.iterators[0].early, KEYS);
    iterator_steps(&world.iterators[0]);
    assert_false(world.iterators[0].runs);
    world_ends(&world);
}

static void an_iterator_follows_its_entries_through_swaps(void **state) {
    struct world world;
    world_begins(&world, *state, 0);
    fill(&world, 0, KEYS);
    iterator_begins(&world, 0);
    iterator_steps(&world.iterators[0]);
    struct keyspace *a = world.databases[0].keyspace, *b = world.databases[1].keyspace;
    keyspace_swap(a, b);
    assert_null(keyspace_snapshot_iterator(a));
    assert_ptr_equal(keyspace_snapshot_iterator(b), &world.iterators[0].iterator);
    keyspace_swap(b, world.databases[2].keyspace);
    keyspace_swap(a, world.databases[2].keyspace);
    assert_ptr_equal(keyspace_snapshot_iterator(a), &world.iterators[0].iterator);
    while (world.iterators[0].runs) iterator_steps(&world.iterators[0]);
    assert_int_equal(world.iterators[0].early, 0);
    assert_world(&world);
    world_ends(&world);
}

static void clearing_shows_the_rest_to_the_iterator(void **state) {
    struct world world;
    world_begins(&world, *state, 1); /* it would like to pause at every entry */
    fill(&world, 0, KEYS);
    iterator_begins(&world, 0);
    while (world.iterators[0].unvisited == KEYS)
        iterator_steps(&world.iterators[0]); /* a bucket may be empty */
    assert_int_equal(world.iterators[0].unvisited, KEYS - 1);
    keyspace_clear(world.databases[0].keyspace);
    forget(&world.databases[0]);
    assert_int_equal(world.iterators[0].unvisited, 0);
    fill(&world, 0, 10);
    iterator_steps(&world.iterators[0]); /* visits none of these */
    assert_false(world.iterators[0].runs);
    iterator_begins(&world, 0);
    while (world.iterators[0].runs) iterator_steps(&world.iterators[0]);
    world_ends(&world);
}

static void an_abandoned_iterator_is_over_and_leaves_the_emptied_keyspace_to_others(void **state) {
    struct world world;
    world_begins(&world, *state, 0);
    fill(&world, 0, KEYS);
    iterator_begins(&world, 0);
    iterator_is_given_up(&world.iterators[0]);
    iterator_steps(&world.iterators[0]);
    assert_true(world.iterators[0].runs);
    snapshot_iterator_abandon(&world.iterators[0].iterator);
    assert_null(keyspace_snapshot_iterator(world.databases[0].keyspace));
    keyspace_clear(world.databases[0].keyspace);
    forget(&world.databases[0]);
    iterator_steps(&world.iterators[0]);
    assert_false(world.iterators[0].runs);
    fill(&world, 0, 10);
    iterator_begins(&world, 0);
    while (world.iterators[0].runs) iterator_steps(&world.iterators[0]);
    assert_world(&world);
    world_ends(&world);
}

static void a_slot_that_is_taken_is_visited_before(void **state) {
    struct world world;
    world_begins(&world, *state, 0);
    struct database *database = &world.databases[0];
    fill(&world, 0, KEYS);
    iterator_begins(&world, 0);
    for (size_t i = 0; i < KEYS; i += 7) {
        char text[40];
        unsigned slot = key_slot(key_of(text, i));
        if (i % 2 == 0) iterator_steps(&world.iterators[0]);
        size_t count = keyspace_count(database->keyspace),
               taken = keyspace_slot_count(database->keyspace, slot);
        keyspace_free(keyspace_take_slot(database->keyspace, slot));
        assert_int_equal(keyspace_count(database->keyspace), count - taken);
        for (size_t j = 0; j < KEYS; j++)
            if (key_slot(key_of(text, j)) == slot) database->now[j].number = 0;
    }
    assert_true(world.iterators[0].early > 0);
    while (world.iterators[0].runs) iterator_steps(&world.iterators[0]);
    assert_world(&world);
    world_ends(&world);
}

int main(void) {
    struct random random = random_of_this_run();
    hash_init_seed(random_next(&random));
    struct given one_table = {&random, &kind_with_one_table}, by_slot = {&random, &kind_by_slot};
#define ITERATOR_TEST(test)                                                                        \
    cmocka_unit_test_prestate(test, &one_table), cmocka_unit_test_prestate(test, &by_slot)
    const struct CMUnitTest tests[] = {
        ITERATOR_TEST(every_entry_is_visited_once_as_it_was),
        ITERATOR_TEST(iterators_may_pause_within_a_bucket),
        ITERATOR_TEST(iterators_survive_what_is_done_to_whole_keyspaces),
        ITERATOR_TEST(an_empty_keyspace_takes_one_step),
        ITERATOR_TEST(entries_that_come_late_do_not_lengthen_an_iteration),
        ITERATOR_TEST(deleting_all_keys_shows_them_to_the_iterator),
        ITERATOR_TEST(an_iterator_follows_its_entries_through_swaps),
        ITERATOR_TEST(an_abandoned_iterator_is_over_and_leaves_the_emptied_keyspace_to_others),
        ITERATOR_TEST(clearing_shows_the_rest_to_the_iterator),
        cmocka_unit_test_prestate(a_slot_that_is_taken_is_visited_before, &by_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
