/* capture_checks: what holds for every structure that can be captured: its capture stays as the structure
 * was, whatever changes, and another thread may read it. A test defines `struct model`, which holds the
 * structure and what it must contain. */
#ifndef PACKLIST_TESTS_UNIT_CAPTURE_CHECKS_H
#define PACKLIST_TESTS_UNIT_CAPTURE_CHECKS_H

#include "base/memory/alloc.h"
#include "ds/capture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct model;

struct capture_kind {
    void (*change)(struct model *model, size_t count, bool grow); /* `count` random changes */
    void (*compare)(struct model *model);     /* the structure is what the model says */
    uint64_t (*sum)(struct model *model);     /* of all that the structure holds */
    size_t (*allocated)(struct model *model); /* bytes of the structure */
    void (*free)(struct model *model);        /* the structure alone */
    struct capture *(*begin)(struct model *model, size_t *left);
    uint64_t (*sum_capture)(const struct capture *capture);
};

static inline void check_that_a_capture_stays(const struct capture_kind *kind,
                                              struct model *model) {
    size_t left = 0;
    for (int round = 0; round < 10; round++) {
        kind->change(model, 2000, round % 3 != 2);
        uint64_t sum = kind->sum(model);
        size_t uncaptured = mem_used(), size = kind->allocated(model);
        struct capture *capture = kind->begin(model, &left);
        assert_int_equal(mem_used() - uncaptured, capture_allocated(capture));
        for (int part = 0; part < 5; part++) {
            kind->change(model, 400, round % 2);
            assert_int_equal(kind->sum_capture(capture), sum);
            assert_int_equal(mem_used() - uncaptured - capture_allocated(capture),
                             left + kind->allocated(model) - size);
        }
        kind->compare(model);
        size_t held = left;
        assert_int_equal(capture_release(capture), held);
        assert_int_equal(left, 0);
        kind->change(model, 100, true);
        capture_free(capture);
        kind->compare(model);
    }
}

/* `remove_some` changes the structure, which is then freed. */
static inline void check_that_a_freed_structure_stays(const struct capture_kind *kind,
                                                      struct model *model,
                                                      void (*remove_some)(struct model *model)) {
    size_t left = 0;
    uint64_t sum = kind->sum(model);
    struct capture *capture = kind->begin(model, &left);
    remove_some(model);
    size_t before = left, size = kind->allocated(model);
    kind->free(model);
    assert_int_equal(left, before + size);
    assert_int_equal(kind->sum_capture(capture), sum);
    assert_int_equal(capture_release(capture), before + size);
    capture_free(capture);
}

struct capture_reader {
    const struct capture_kind *kind;
    const struct capture *capture;
    uint64_t sum;
    bool same;
};

static inline void *read_capture(void *arg) {
    struct capture_reader *reader = arg;
    reader->same = true;
    for (int i = 0; i < 20; i++)
        reader->same &= reader->kind->sum_capture(reader->capture) == reader->sum;
    return NULL;
}

/* What the sanitizer for threads looks at. Frees the structure at last. */
static inline void check_that_another_thread_reads(const struct capture_kind *kind,
                                                   struct model *model) {
    enum { ROUNDS = 3 };
    for (int round = 0; round < ROUNDS; round++) {
        size_t left = 0;
        pthread_t thread;
        kind->change(model, 2000, true);
        struct capture_reader reader = {.kind = kind, .sum = kind->sum(model)};
        struct capture *capture = kind->begin(model, &left);
        reader.capture = capture;
        assert_int_equal(pthread_create(&thread, NULL, read_capture, &reader), 0);
        kind->change(model, 2000, round % 2);
        if (round == ROUNDS - 1) kind->free(model);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_true(reader.same);
        capture_release(capture);
        capture_free(capture);
    }
}

#endif
