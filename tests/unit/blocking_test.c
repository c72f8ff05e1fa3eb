/* blocking: which keys are queued for clients that wait, and when their waits are over. */
#include "engine/blocking.h"

#include "base/clock.h"
#include "base/memory/alloc.h"
#include "engine/call_make.h"
#include "engine/engine.h"
#include "net/net.h"
#include "session/session.h"
#include "types/string.h"
#include "types/value.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { CLIENTS = 3 };

struct world {
    struct engine engine;
    struct keyspace *keyspaces[1];
    struct session sessions[CLIENTS];
    struct reply reply;
};

static struct world world;

static int set_up(void **state) {
    const char *error;
    (void)state;
    world = (struct world){0};
    clock_init();
    reply_init(&world.reply, 0);
    world.keyspaces[0] = keyspace_new(value_free, value_length);
    world.engine.keyspaces = world.keyspaces;
    world.engine.net = net_new(&error);
    world.engine.databases = 1;
    blocking_start(&world.engine);
    for (int i = 0; i < CLIENTS; i++)
        world.sessions[i].requester =
            (struct requester){.engine = &world.engine, .session = &world.sessions[i]};
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (int i = 0; i < CLIENTS; i++) blocking_remove(world.engine.blocking, &world.sessions[i]);
    blocking_stop(&world.engine);
    blocking_free(&world.engine);
    keyspace_free(world.keyspaces[0]);
    net_free(world.engine.net);
    reply_free(&world.reply);
    return 0;
}

static bool serve(struct call *call, struct slice key, void *state) {
    (void)call, (void)key, (void)state;
    return true;
}

static const struct waiter_kind for_values = {.serve = serve};
static const struct waiter_kind for_deletions = {.serve = serve, .on_deleted = serve};
static const struct waiter_kind for_work = {.for_work = true};

static void block(int client, const struct waiter_kind *kind, const char *key, const void *state,
                  size_t state_size) {
    const struct slice argv[] = {SLICE("WAITFOR"), slice_of_cstr(key)};
    struct call call = call_make(&world.engine, ORIGIN_CLIENT, &world.sessions[client].requester, 0,
                                 &world.reply, (struct command_line){.argv = argv, .argc = 2});
    blocking_add(world.engine.blocking, &call,
                 &(struct block_request){.kind = kind,
                                         .state = state,
                                         .state_size = state_size,
                                         .keys = argv + 1,
                                         .key_count = kind->serve ? 1 : 0});
}

static bool is_ready(void) {
    return blocking_has_ready(world.engine.blocking);
}

static void a_deletion_is_for_those_who_must_know(void **state) {
    (void)state;
    struct blocking *blocking = world.engine.blocking;
    block(0, &for_values, "a", NULL, 0);
    block(1, &for_deletions, "b", NULL, 0);
    blocking_signal_deleted(blocking, 0, SLICE("a"));
    assert_false(is_ready());
    blocking_signal_deleted(blocking, 0, SLICE("none"));
    assert_false(is_ready());
    blocking_signal_deleted(blocking, 0, SLICE("b"));
    assert_true(is_ready());
}

static void whoever_left_need_not_know(void **state) {
    (void)state;
    struct blocking *blocking = world.engine.blocking;
    block(0, &for_values, "a", NULL, 0);
    block(1, &for_deletions, "a", NULL, 0);
    blocking_remove(blocking, &world.sessions[1]);
    blocking_signal_deleted(blocking, 0, SLICE("a"));
    assert_false(is_ready());
    blocking_signal(blocking, 0, SLICE("a"));
    assert_true(is_ready());
}

static void an_emptied_database_counts_as_deleted(void **state) {
    (void)state;
    struct blocking *blocking = world.engine.blocking;
    block(0, &for_values, "a", NULL, 0);
    blocking_signal_database(&world.engine, blocking, 0);
    assert_false(is_ready());
    block(1, &for_deletions, "a", NULL, 0);
    blocking_signal_database(&world.engine, blocking, 0);
    assert_true(is_ready());
}

static void the_state_of_a_wait_is_a_copy(void **state) {
    (void)state;
    char text[] = "state";
    block(0, &for_values, "a", text, sizeof(text));
    size_t with_state = blocking_allocated(&world.sessions[0]);
    block(1, &for_values, "b", NULL, 0);
    memset(text, 'x', sizeof(text));
    assert_string_equal(world.sessions[0].waiter->state, "state");
    assert_int_equal(with_state, blocking_allocated(&world.sessions[1]) + sizeof(text));
}

static void kinds_are_told_apart(void **state) {
    (void)state;
    block(0, &for_work, "a", NULL, 0);
    block(1, &for_values, "a", NULL, 0);
    assert_true(blocking_is(&world.sessions[0], &for_work));
    assert_true(blocking_is_for_work(&world.sessions[0]));
    assert_false(blocking_is(&world.sessions[1], &for_work));
    assert_false(blocking_is_for_work(&world.sessions[1]));
    assert_false(blocking_is(&world.sessions[2], &for_work));
    assert_int_equal(world.engine.blocking->session_count, 2);
    assert_int_equal(world.engine.blocking->keys.count, 1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_deletion_is_for_those_who_must_know),
        TEST(whoever_left_need_not_know),
        TEST(an_emptied_database_counts_as_deleted),
        TEST(the_state_of_a_wait_is_a_copy),
        TEST(kinds_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
