/* ring and bell: one thread against a model with every step of both sides in any order, and two
 * threads with delays between any two steps. */
#include "base/threads/bell.h"
#include "base/threads/ring.h"
#include "base/threads/thread.h"
#include "unit/seed.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* --- Against a model --- */

enum { STEPS = 200 * 1000 };

/* How many items were put, published at least, got, and given back. */
struct model {
    uint64_t put, published, got, given_back;
};

static void put_one(struct ring *ring, struct model *model) {
    struct ring_item item = {.about = model, .number = model->put, .kind = (uint32_t)model->put};
    ring_put(ring, &item);
    model->put++;
}

/* All is shown that the slots have room for. */
static void publish(struct ring *ring, struct model *model, size_t slots) {
    uint64_t before = model->published;
    uint64_t most = model->given_back + slots;
    model->published = model->put < most ? model->put : most;
    assert_int_equal(ring_publish(ring), model->published > before);
    assert_int_equal(ring_has_late(ring), model->published < model->put);
}

static void get_one(struct ring *ring, struct model *model) {
    struct ring_item item;
    assert_int_equal(ring_is_ready(ring), model->got < model->published);
    const struct ring_item *next = ring_ahead(ring, 0);
    assert_int_equal(next != NULL, model->got < model->published);
    if (next) assert_int_equal(next->number, model->got);
    assert_int_equal(ring_get(ring, &item), next != NULL);
    if (!next) return;
    assert_ptr_equal(item.about, model);
    assert_int_equal(item.number, model->got);
    assert_int_equal(item.kind, (uint32_t)model->got);
    model->got++;
}

/* Late items that the model knows of make the ring say so once. */
static void give_back(struct ring *ring, struct model *model, bool *is_told) {
    bool is_waiting = model->published < model->put && !*is_told;
    bool gives = model->got > model->given_back;
    bool says = ring_give_back(ring);
    if (!gives || !ring_has_late(ring)) assert_false(says && !is_waiting);
    if (says) *is_told = true;
    model->given_back = model->got;
}

static void run_model(struct random *random, size_t slots) {
    struct ring ring;
    struct model model = {0};
    bool is_told = false;
    ring_init(&ring, slots);
    for (int step = 0; step < STEPS; step++) {
        /* Phases in which one side is faster than the other, so that the ring fills and empties. */
        unsigned bias = step / 1000 % 3;
        unsigned choice = (unsigned)random_below(random, 10);
        if (choice < 3 + bias) {
            put_one(&ring, &model);
        } else if (choice < 5 + bias) {
            publish(&ring, &model, slots);
            is_told = false;
        } else if (choice < 9) {
            get_one(&ring, &model);
        } else {
            give_back(&ring, &model, &is_told);
        }
    }
    while (model.got < model.put) {
        publish(&ring, &model, slots);
        while (model.got < model.published) get_one(&ring, &model);
        give_back(&ring, &model, &is_told);
    }
    assert_false(ring_has_late(&ring));
    ring_free(&ring);
}

static void a_ring_is_a_queue_in_any_order_of_steps(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    for (size_t slots = 1; slots <= 64; slots *= 4) run_model(&random, slots);
}

static void nothing_is_shown_before_it_is_published(void **state) {
    (void)state;
    struct ring ring;
    struct ring_item item = {.number = 7};
    ring_init(&ring, 2);
    ring_put(&ring, &item);
    assert_false(ring_get(&ring, &item));
    assert_true(ring_publish(&ring));
    assert_false(ring_publish(&ring));
    assert_true(ring_get(&ring, &item));
    assert_int_equal(item.number, 7);
    ring_free(&ring);
}

static void a_full_ring_says_when_slots_are_free(void **state) {
    (void)state;
    struct ring ring;
    struct ring_item item = {0};
    ring_init(&ring, 2);
    for (int i = 0; i < 3; i++) ring_put(&ring, &item);
    assert_true(ring_publish(&ring));
    assert_true(ring_has_late(&ring));
    assert_false(ring_give_back(&ring)); /* nothing was got */
    assert_true(ring_get(&ring, &item));
    assert_true(ring_give_back(&ring));
    assert_true(ring_get(&ring, &item));
    assert_false(ring_give_back(&ring)); /* it was said */
    assert_true(ring_publish(&ring));
    assert_false(ring_has_late(&ring));
    ring_free(&ring);
}

/* --- Two threads --- */

enum { ITEMS = 300 * 1000, SLOTS = 16 };

/* A ring with the bells of both sides. What an item refers to is not atomic: a sanitizer sees
 * whether the ring orders it. */
struct link {
    struct ring ring;
    struct bell producer_bell;
    struct bell consumer_bell;
    uint64_t texts[SLOTS * 8]; /* written before an item is put, read after it is got */
    bool sleeps;               /* the sides sleep in poll, otherwise they spin */
    bool is_delayed;           /* a pause of random length is between any two steps */
    uint64_t seed;
    bool is_broken;
};

static void delay(struct link *link, struct random *random) {
    if (!link->is_delayed || random_below(random, 8) != 0) return;
    for (volatile uint64_t n = random_below(random, 400); n > 0; n--) continue;
}

/* There is no timer: a lost wake-up ends the test by the limit of its time. */
static void sleep_unless(struct link *link, struct bell *bell, bool has_work) {
    if (!has_work && link->sleeps) {
        struct pollfd at = {.fd = bell->fd, .events = POLLIN};
        poll(&at, 1, -1);
        bell_clear(bell);
    }
    bell_awake(bell);
}

static void publish_and_ring(struct link *link, struct random *random) {
    bool is_new = ring_publish(&link->ring);
    delay(link, random);
    if (is_new) bell_ring(&link->consumer_bell);
}

static void *produce(void *arg) {
    struct link *link = arg;
    struct random random;
    random_seed(&random, link->seed);
    uint64_t put = 0;
    while (put < ITEMS) {
        uint64_t batch = 1 + random_below(&random, SLOTS * 2);
        for (; batch > 0 && put < ITEMS; batch--, put++) {
            uint64_t *text = &link->texts[put % (SLOTS * 8)];
            *text = put * 3;
            struct ring_item item = {.number = put, .bytes = text};
            ring_put(&link->ring, &item);
            delay(link, &random);
        }
        publish_and_ring(link, &random);
        while (ring_has_late(&link->ring)) {
            bell_sleep(&link->producer_bell);
            delay(link, &random);
            bool is_new = ring_publish(&link->ring);
            sleep_unless(link, &link->producer_bell, is_new || !ring_has_late(&link->ring));
            if (is_new) bell_ring(&link->consumer_bell);
            publish_and_ring(link, &random);
        }
    }
    return NULL;
}

static void consume(struct link *link, struct random *random) {
    struct ring_item item;
    for (uint64_t got = 0; got < ITEMS && !link->is_broken;) {
        bell_sleep(&link->consumer_bell);
        delay(link, random);
        sleep_unless(link, &link->consumer_bell, ring_is_ready(&link->ring));
        for (uint64_t most = 1 + random_below(random, SLOTS); most > 0; most--) {
            if (!ring_get(&link->ring, &item)) break;
            link->is_broken |= item.number != got || *(uint64_t *)item.bytes != got * 3;
            got++;
            delay(link, random);
        }
        if (ring_give_back(&link->ring)) bell_ring(&link->producer_bell);
    }
}

static void run_threads(bool sleeps, bool is_delayed) {
    static struct link link;
    struct random random = random_of_this_run();
    memset(&link, 0, sizeof(link));
    link.sleeps = sleeps;
    link.is_delayed = is_delayed;
    link.seed = random_next(&random);
    ring_init(&link.ring, SLOTS);
    assert_true(bell_init(&link.producer_bell) && bell_init(&link.consumer_bell));
    pthread_t thread;
    assert_int_equal(thread_create(&thread, produce, &link), 0);
    consume(&link, &random);
    assert_false(link.is_broken);
    pthread_join(thread, NULL);
    bell_free(&link.producer_bell);
    bell_free(&link.consumer_bell);
    ring_free(&link.ring);
}

static void two_threads_that_spin_lose_nothing(void **state) {
    (void)state;
    run_threads(false, true);
}

static void two_threads_that_sleep_are_woken(void **state) {
    (void)state;
    run_threads(true, true);
    run_threads(true, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_shown_before_it_is_published),
        cmocka_unit_test(a_full_ring_says_when_slots_are_free),
        cmocka_unit_test(a_ring_is_a_queue_in_any_order_of_steps),
        cmocka_unit_test(two_threads_that_spin_lose_nothing),
        cmocka_unit_test(two_threads_that_sleep_are_woken),
    };
    return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
