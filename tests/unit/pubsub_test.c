/* Subscriptions against a model: a table of the times since when each subscriber has listened to
 * each name. */
#include "base/text/glob.h"
#include "session/pubsub.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SUBSCRIBERS = 12, NAMES = 8, STEPS = 60000 };

static const char *const channels[NAMES] = {"", "a", "ab", "b", "news.x", "news.y", "*", "zz"};
static const char *const patterns[NAMES] = {"*", "a*", "?", "[ab]", "", "news.?", "z", "\\*"};

struct model {
    struct pubsub pubsub;
    struct subscriber subscribers[SUBSCRIBERS];
    long since[PUBSUB_KINDS][NAMES][SUBSCRIBERS]; /* 0: no subscription */
    long topic_since[PUBSUB_KINDS][NAMES];
    long clock;
    struct random random;
};

static struct slice name_of(enum pubsub_kind kind, size_t name) {
    return slice_of_cstr(kind == PUBSUB_PATTERN ? patterns[name] : channels[name]);
}

static size_t topic_count(const struct model *model, enum pubsub_kind kind, size_t name) {
    size_t count = 0;
    for (size_t i = 0; i < SUBSCRIBERS; i++) count += model->since[kind][name][i] != 0;
    return count;
}

static size_t own_count(const struct model *model, enum pubsub_kind kind, size_t which) {
    size_t count = 0;
    for (size_t i = 0; i < NAMES; i++) count += model->since[kind][i][which] != 0;
    return count;
}

static void model_end(struct model *model, enum pubsub_kind kind, size_t name, size_t which) {
    model->since[kind][name][which] = 0;
    if (topic_count(model, kind, name) == 0) model->topic_since[kind][name] = 0;
}

static void subscribe(struct model *model, enum pubsub_kind kind, size_t name, size_t which) {
    long *since = &model->since[kind][name][which];
    bool is_new =
        pubsub_subscribe(&model->pubsub, &model->subscribers[which], kind, name_of(kind, name));
    assert_int_equal(is_new, *since == 0);
    if (!is_new) return;
    *since = ++model->clock;
    if (model->topic_since[kind][name] == 0) model->topic_since[kind][name] = *since;
}

static void unsubscribe(struct model *model, enum pubsub_kind kind, size_t name, size_t which) {
    bool was =
        pubsub_unsubscribe(&model->pubsub, &model->subscribers[which], kind, name_of(kind, name));
    assert_int_equal(was, model->since[kind][name][which] != 0);
    model_end(model, kind, name, which);
}

static void leave(struct model *model, size_t which) {
    pubsub_leave(&model->pubsub, &model->subscribers[which]);
    for (int kind = 0; kind < PUBSUB_KINDS; kind++)
        for (size_t name = 0; name < NAMES; name++)
            model_end(model, (enum pubsub_kind)kind, name, which);
    assert_int_equal(model->subscribers[which].allocated, 0);
}

/* --- Messages --- */

struct meeting {
    enum pubsub_kind kind;
    size_t name;
    size_t which;
};

/* The subscribers that a message must reach, in order; some leave when it reaches them. */
struct delivery {
    struct model *model;
    struct meeting expected[SUBSCRIBERS * (NAMES + 1)];
    size_t count;
    size_t next;
    size_t met;
    bool has_left[SUBSCRIBERS];
};

static void expect_topic(struct delivery *delivery, enum pubsub_kind kind, size_t name) {
    const long *since = delivery->model->since[kind][name];
    size_t first = delivery->count;
    for (size_t which = 0; which < SUBSCRIBERS; which++) {
        if (since[which] == 0) continue;
        size_t at = delivery->count++;
        for (; at > first && since[delivery->expected[at - 1].which] > since[which]; at--)
            delivery->expected[at] = delivery->expected[at - 1];
        delivery->expected[at] = (struct meeting){kind, name, which};
    }
}

static void expect_patterns(struct delivery *delivery, struct slice channel) {
    const long *since = delivery->model->topic_since[PUBSUB_PATTERN];
    for (long last = 0;;) {
        size_t name = NAMES;
        for (size_t i = 0; i < NAMES; i++)
            if (since[i] > last && (name == NAMES || since[i] < since[name])) name = i;
        if (name == NAMES) return;
        last = since[name];
        if (glob_match(slice_of_cstr(patterns[name]), channel, false))
            expect_topic(delivery, PUBSUB_PATTERN, name);
    }
}

static void meet(struct subscriber *subscriber, const struct topic *topic, void *arg) {
    struct delivery *delivery = arg;
    struct model *model = delivery->model;
    while (delivery->has_left[delivery->expected[delivery->next].which]) delivery->next++;
    assert_true(delivery->next < delivery->count);
    struct meeting meeting = delivery->expected[delivery->next++];
    assert_ptr_equal(subscriber, &model->subscribers[meeting.which]);
    assert_int_equal(topic->key.space, meeting.kind);
    assert_true(slice_equal(topic->key.name, name_of(meeting.kind, meeting.name)));
    delivery->met++;
    if (random_below(&model->random, 8) > 0) return;
    leave(model, meeting.which);
    delivery->has_left[meeting.which] = true;
}

static void deliver(struct model *model, enum pubsub_kind kind, size_t name) {
    struct delivery delivery = {.model = model};
    struct slice channel = slice_of_cstr(channels[name]);
    expect_topic(&delivery, kind, name);
    if (kind == PUBSUB_CHANNEL) expect_patterns(&delivery, channel);
    size_t count = pubsub_deliver(&model->pubsub, kind, channel, meet, &delivery);
    assert_int_equal(count, delivery.met);
    for (size_t i = delivery.next; i < delivery.count; i++)
        assert_true(delivery.has_left[delivery.expected[i].which]);
}

/* --- The whole --- */

static void check_kind(const struct model *model, enum pubsub_kind kind) {
    size_t topics = 0, seen = 0;
    for (size_t name = 0; name < NAMES; name++) {
        const struct topic *topic = pubsub_find(&model->pubsub, kind, name_of(kind, name));
        size_t count = topic_count(model, kind, name);
        assert_int_equal(topic ? topic->count : 0, count);
        assert_int_equal(topic != NULL, count > 0);
        topics += count > 0;
    }
    struct hashtable_iter iter;
    hashtable_iter_start(&iter, model->pubsub.topics.spaces[kind]);
    while (hashtable_iter_next(&iter)) seen++;
    assert_int_equal(seen, topics);
    assert_int_equal(pubsub_topic_count(&model->pubsub, kind), topics);
}

/* pubsub_oldest must return the name of the oldest subscription. */
static void check_oldest(const struct model *model, enum pubsub_kind kind, size_t which) {
    size_t oldest = NAMES;
    for (size_t name = 0; name < NAMES; name++) {
        long since = model->since[kind][name][which];
        if (since && (oldest == NAMES || since < model->since[kind][oldest][which])) oldest = name;
    }
    if (oldest == NAMES) return;
    struct slice name = pubsub_oldest(&model->subscribers[which], kind);
    assert_true(slice_equal(name, name_of(kind, oldest)));
}

static void check(const struct model *model) {
    size_t active = 0;
    assert_true(pubsub_check(&model->pubsub));
    for (int kind = 0; kind < PUBSUB_KINDS; kind++) check_kind(model, (enum pubsub_kind)kind);
    for (size_t which = 0; which < SUBSCRIBERS; which++) {
        const struct subscriber *subscriber = &model->subscribers[which];
        for (int kind = 0; kind < PUBSUB_KINDS; kind++) {
            assert_int_equal(subscriber->count[kind],
                             own_count(model, (enum pubsub_kind)kind, which));
            check_oldest(model, (enum pubsub_kind)kind, which);
        }
        active += pubsub_is_subscribed(subscriber);
    }
    assert_int_equal(model->pubsub.subscriber_count, active);
}

static void step(struct model *model) {
    enum pubsub_kind kind = (enum pubsub_kind)random_below(&model->random, PUBSUB_KINDS);
    size_t name = random_below(&model->random, NAMES);
    size_t which = random_below(&model->random, SUBSCRIBERS);
    uint64_t choice = random_below(&model->random, 100);
    if (choice < 50)
        subscribe(model, kind, name, which);
    else if (choice < 80)
        unsubscribe(model, kind, name, which);
    else if (choice < 97)
        deliver(model, kind == PUBSUB_PATTERN ? PUBSUB_CHANNEL : kind, name);
    else
        leave(model, which);
}

static void random_listening_agrees_with_the_model(void **state) {
    (void)state;
    static struct model model;
    model.random = random_of_this_run();
    pubsub_init(&model.pubsub);
    for (int i = 0; i < STEPS; i++) {
        step(&model);
        if (i % 16 == 0) check(&model);
    }
    for (size_t which = 0; which < SUBSCRIBERS; which++) leave(&model, which);
    check(&model);
    assert_false(pubsub_has_subscribers(&model.pubsub));
    pubsub_free(&model.pubsub);
}

static void names_are_bytes(void **state) {
    (void)state;
    struct pubsub pubsub;
    struct subscriber subscriber = {0};
    pubsub_init(&pubsub);
    assert_true(pubsub_subscribe(&pubsub, &subscriber, PUBSUB_CHANNEL, SLICE("a\0b")));
    assert_true(pubsub_subscribe(&pubsub, &subscriber, PUBSUB_CHANNEL, SLICE("a\0c")));
    assert_false(pubsub_subscribe(&pubsub, &subscriber, PUBSUB_CHANNEL, SLICE("a\0b")));
    assert_null(pubsub_find(&pubsub, PUBSUB_CHANNEL, SLICE("a")));
    assert_true(subscriber.allocated > 2 * 3);
    pubsub_leave(&pubsub, &subscriber);
    assert_true(pubsub_check(&pubsub));
    pubsub_free(&pubsub);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_listening_agrees_with_the_model),
        cmocka_unit_test(names_are_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
