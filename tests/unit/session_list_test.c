/* The list of sessions and the queue to resume against a model: arrays of their sessions. */
#include "session/session_list.h"

#include "session/session.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

enum { SESSIONS = 12, STEPS = 20000 };

/* The sessions of the list or of the queue, in order. */
struct row {
    struct session *all[SESSIONS];
    size_t count;
};

static bool row_has(const struct row *row, const struct session *session) {
    for (size_t i = 0; i < row->count; i++)
        if (row->all[i] == session) return true;
    return false;
}

static void row_append(struct row *row, struct session *session) {
    if (!row_has(row, session)) row->all[row->count++] = session;
}

static void row_drop(struct row *row, const struct session *session) {
    size_t at = 0;
    while (at < row->count && row->all[at] != session) at++;
    if (at == row->count) return;
    row->count--;
    memmove(&row->all[at], &row->all[at + 1], (row->count - at) * sizeof(row->all[0]));
}

static void check(struct session_list *list, const struct row *listed, const struct row *queued) {
    size_t at = 0;
    for (struct session *session = list->first; session; session = session->next) {
        assert_ptr_equal(session, listed->all[at++]);
        assert_ptr_equal(session_list_find(list, session->id), session);
    }
    assert_int_equal(at, listed->count);
    assert_int_equal(list->count, listed->count);
    assert_ptr_equal(list->last, at ? listed->all[at - 1] : NULL);
    at = 0;
    for (struct session *session = list->resume_first; session; session = session->resume_next) {
        assert_ptr_equal(session, queued->all[at++]);
        assert_true(session->flags & SESSION_RESUME);
    }
    assert_int_equal(at, queued->count);
}

static void the_list_and_the_queue_are_as_the_model(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    struct session_list list = {0};
    struct session sessions[SESSIONS] = {0};
    struct row listed = {0}, queued = {0};
    uint64_t next_id = 0;
    session_list_init(&list);
    for (int step = 0; step < STEPS; step++) {
        struct session *session = &sessions[random_below(&random, SESSIONS)];
        if (!row_has(&listed, session)) {
            assert_null(session_list_find(&list, session->id));
            session->id = ++next_id;
            session_list_add(&list, session);
            row_append(&listed, session);
        } else if (random_below(&random, 3) == 0) {
            session_list_unqueue(&list, session);
            row_drop(&queued, session);
            assert_false(session->flags & SESSION_RESUME);
            session_list_remove(&list, session);
            row_drop(&listed, session);
        } else if (random_below(&random, 2) == 0) {
            session_list_queue(&list, session);
            row_append(&queued, session);
        } else {
            session_list_unqueue(&list, session);
            row_drop(&queued, session);
        }
        check(&list, &listed, &queued);
    }
    while (list.first) session_list_remove(&list, list.first);
    assert_int_equal(list.count, 0);
    session_list_free(&list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_and_the_queue_are_as_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
