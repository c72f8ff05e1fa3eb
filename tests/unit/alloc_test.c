#include "base/hash/random.h"
#include "base/memory/alloc.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#ifndef PACKLIST_LIBC_MALLOC
#include <jemalloc/jemalloc.h>
#endif

static void good_size_is_idempotent_and_never_smaller(void **state) {
    (void)state;
    size_t last = 0;
    for (size_t size = 0; size < 300000; size++) {
        size_t good = mem_good_size(size);
        assert_true(good >= size && good >= last && good >= 8);
        assert_int_equal(mem_good_size(good), good);
        assert_true(size < 128 ? good <= size + 16 : good <= size + size / 4);
        last = good;
    }
    assert_true(mem_good_size((size_t)PTRDIFF_MAX) >= (size_t)PTRDIFF_MAX);
}

static void used_grows_and_shrinks_by_the_good_size(void **state) {
    (void)state;
    static const size_t sizes[] = {1,   8,    9,    16,   17,    100,   129,    160,    161,
                                   500, 1024, 4097, 9000, 20000, 40000, 100000, 3000000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t before = mem_used(), good = mem_good_size(sizes[i]);
        char *ptr = mem_alloc(good);
        assert_int_equal(mem_used() - before, good);
        memset(ptr, 1, good);
        mem_free_sized(ptr, sizes[i]);
        assert_int_equal(mem_used(), before);
        ptr = mem_alloc_zeroed(sizes[i]);
        for (size_t n = 0; n < sizes[i]; n++) assert_int_equal(ptr[n], 0);
        assert_int_equal(mem_used() - before, good);
        mem_free(ptr);
        assert_int_equal(mem_used(), before);
    }
}

static void size_zero_gives_something_to_free(void **state) {
    (void)state;
    size_t before = mem_used();
    void *plain = mem_alloc(0), *sized = mem_alloc(0), *zeroed = mem_alloc_zeroed(0);
    assert_non_null(plain);
    assert_ptr_not_equal(plain, sized);
    mem_free(plain);
    mem_free_sized(sized, 0);
    mem_free(zeroed);
    mem_free(NULL);
    assert_int_equal(mem_used(), before);
}

static void realloc_keeps_contents_and_account(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 1);
    size_t before = mem_used(), size = 0;
    char *ptr = NULL;
    for (int i = 0; i < 2000; i++) {
        size_t next = 1 + random_below(&random, i % 50 == 0 ? 200000 : 600);
        size_t kept = size < next ? size : next;
        switch (i % 3) {
        case 0: ptr = mem_realloc(ptr, next); break;
        case 1: ptr = mem_try_realloc(ptr, next); break;
        default: ptr = mem_resize(ptr, size, next);
        }
        for (size_t n = 0; n < kept; n++) assert_int_equal(ptr[n], (char)n);
        for (size_t n = kept; n < next; n++) ptr[n] = (char)n;
        size = next;
        assert_int_equal(mem_used() - before, mem_good_size(size));
    }
    mem_free_sized(ptr, size);
    assert_int_equal(mem_used(), before);
}

static void an_array_grows_from_nothing_to_twice_its_capacity(void **state) {
    (void)state;
    size_t used = mem_used(), capacity = 0;
    uint32_t *array = NULL;
    for (uint32_t i = 0; i < 1000; i++) {
        MEM_RESERVE(array, capacity, i + 1);
        array[i] = i;
    }
    assert_int_equal(capacity, 1024);
    for (uint32_t i = 0; i < 1000; i++) assert_int_equal(array[i], i);
    mem_free(array);
    assert_int_equal(mem_used(), used);
}

static void an_array_that_cannot_be_had_stays_as_it_is(void **state) {
    (void)state;
    size_t capacity = 0, used = mem_used();
    uint64_t *array = mem_grow(NULL, &capacity, 3, sizeof(*array));
    size_t at_first = capacity;
    assert_int_equal(at_first, 4);
    array[3] = 7;
    assert_null(mem_try_grow(array, &capacity, SIZE_MAX, sizeof(*array)));
    assert_null(mem_try_grow(array, &capacity, SIZE_MAX / 8 + 2, sizeof(*array))); /* overflows */
    assert_null(mem_try_grow(array, &capacity, (size_t)PTRDIFF_MAX / 8 + 1, sizeof(*array)));
    assert_int_equal(capacity, at_first);
    assert_int_equal(array[3], 7);
    array = mem_try_grow(array, &capacity, 100, sizeof(*array));
    assert_non_null(array);
    assert_true(capacity >= 100);
    assert_int_equal(capacity, mem_good_size(100 * sizeof(*array)) / sizeof(*array));
    assert_int_equal(array[3], 7);
    mem_free(array);
    assert_int_equal(mem_used(), used);
}

static void aligned_memory_is_aligned(void **state) {
    (void)state;
    size_t before = mem_used();
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        for (size_t size = 0; size < 10000; size = size * 3 + 1) {
            void *ptr = mem_alloc_aligned(alignment, size);
            assert_int_equal((uintptr_t)ptr % alignment, 0);
            memset(ptr, 7, size);
            mem_free(ptr);
        }
    }
    assert_int_equal(mem_used(), before);
    for (size_t size = 9; size < 5000; size++) {
        void *ptr = mem_alloc(size);
        assert_int_equal((uintptr_t)ptr % 16, 0);
        mem_free(ptr);
    }
}

static void try_gives_null_for_what_cannot_be_had(void **state) {
    (void)state;
    volatile size_t huge = (size_t)PTRDIFF_MAX - 4096;
    size_t before = mem_used();
    assert_null(mem_try_alloc(huge));
    char *ptr = mem_alloc(100);
    memcpy(ptr, "kept", 5);
    assert_null(mem_try_realloc(ptr, huge));
    assert_string_equal(ptr, "kept");
    mem_free(ptr);
    assert_int_equal(mem_used(), before);
}

static void report_size(size_t size) {
    _exit(size == (size_t)PTRDIFF_MAX - 4096 ? 42 : 1);
}

/* Runs `body` in a child and returns its wait status. */
static int status_of_child(void (*body)(void)) {
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        body();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void want_too_much(void) {
    volatile size_t huge = (size_t)PTRDIFF_MAX - 4096;
    void *ptr = mem_alloc(huge);
    mem_free(ptr);
}

static void want_too_much_with_report(void) {
    mem_on_out_of_memory(report_size);
    want_too_much();
}

static void want_too_much_unreported(void) {
    struct sigaction defaults = {.sa_handler = SIG_DFL};
    sigaction(SIGABRT, &defaults, NULL);
    if (freopen("/dev/null", "w", stderr) == NULL) _exit(2);
    want_too_much();
}

static void running_out_reports_the_size_and_aborts(void **state) {
    (void)state;
    int status = status_of_child(want_too_much_with_report);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
    status = status_of_child(want_too_much_unreported);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

enum { BLOCKS = 1000, BLOCK = 240, THREADS = 4 };

static void *allocate_blocks(void *arg) {
    void **blocks = arg;
    for (int i = 0; i < BLOCKS; i++) blocks[i] = mem_alloc(BLOCK);
    return NULL;
}

static void *free_blocks(void *arg) {
    void **blocks = arg;
    for (int i = 0; i < BLOCKS; i++) mem_free_sized(blocks[i], BLOCK);
    return NULL;
}

static void run_threads(void *(*body)(void *), void *blocks[THREADS][BLOCKS]) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, body, blocks[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

/* What the C library keeps for threads that have ended is far below one thread's blocks. */
static void assert_near(size_t actual, size_t expected) {
    assert_true(llabs((long long)(actual - expected)) <= 8192);
}

static void used_counts_all_threads_and_outlives_them(void **state) {
    (void)state;
    static void *blocks[THREADS][BLOCKS];
    const size_t all = (size_t)THREADS * BLOCKS * mem_good_size(BLOCK);
    size_t before = mem_used();
    run_threads(allocate_blocks, blocks);
    assert_near(mem_used(), before + all);
    run_threads(free_blocks, blocks);
    assert_near(mem_used(), before);
    for (int i = 0; i < THREADS; i++) allocate_blocks(blocks[i]);
    assert_near(mem_used(), before + all);
    run_threads(free_blocks, blocks);
    assert_near(mem_used(), before);
}

static pthread_key_t late_key;

static void allocate_late(void *block) {
    mem_free(block);
    mem_free(mem_alloc(50000));
}

static void *leave_a_block_for_a_destructor(void *arg) {
    pthread_setspecific(late_key, mem_alloc(50000));
    return arg;
}

static void destructors_of_other_modules_are_counted_too(void **state) {
    (void)state;
    assert_int_equal(pthread_key_create(&late_key, allocate_late), 0);
    size_t before = mem_used();
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, leave_a_block_for_a_destructor, NULL), 0);
        pthread_join(thread, NULL);
    }
    assert_near(mem_used(), before);
    pthread_key_delete(late_key);
}

static void statistics_agree_with_used(void **state) {
    (void)state;
    char *block = mem_alloc(10000000);
    memset(block, 1, 10000000);
    struct mem_stats stats;
    mem_stats_read(&stats);
    /* Blocks that threads hold ready for themselves may count as allocated. */
    assert_true(llabs((long long)(stats.allocated - mem_used())) <= 1 << 20);
    if (strncmp(mem_allocator_name(), "jemalloc-5", 10) == 0) {
        assert_true(stats.active >= stats.allocated && stats.resident >= stats.active);
        assert_true(stats.metadata > 0);
    } else {
        assert_string_equal(mem_allocator_name(), "libc");
        assert_int_equal(stats.active, 0);
    }
    mem_free(block);
    size_t used = mem_used();
    mem_decay();
    assert_int_equal(mem_used(), used);
}

#ifndef PACKLIST_LIBC_MALLOC
static ssize_t decay_ms(void) {
    ssize_t ms = 0;
    size_t size = sizeof(ms);
    assert_int_equal(mallctl("arena.0.dirty_decay_ms", &ms, &size, NULL, 0), 0);
    return ms;
}

static void freed_memory_is_kept_until_it_may_go(void **state) {
    (void)state;
    ssize_t usual_ms = decay_ms();
    assert_true(usual_ms > 0);
    mem_keep_freed(false);
    assert_int_equal(decay_ms(), usual_ms);
    mem_keep_freed(true);
    mem_keep_freed(true);
    assert_int_equal(decay_ms(), -1);
    mem_keep_freed(false);
    assert_int_equal(decay_ms(), usual_ms);
}

/* Returns the pages of this process that are in memory, in bytes. */
static size_t resident(void) {
    unsigned long total, pages;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &total, &pages), 2);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void the_thread_that_frees_a_large_block_does_not_return_it(void **state) {
    enum { SIZE = 64 << 20, MOST = SIZE / 8 * 7 };
    (void)state;
    assert_true(mem_decay_in_background(true));
    size_t before = resident();
    char *block = mem_alloc(SIZE);
    memset(block, 1, SIZE);
    mem_has_freed_large();
    assert_false(mem_has_freed_large());
    mem_free(block);
    assert_true(mem_has_freed_large());
    assert_true(resident() >= before + MOST);
    mem_return_large();
    assert_true(resident() <= before + SIZE - MOST);
    /* It takes no memory itself, not even for a moment: for that moment keys would be evicted. */
    assert_false(mem_has_freed_large());
    assert_true(mem_decay_in_background(false));
    block = mem_alloc(SIZE);
    memset(block, 1, SIZE);
    mem_free(block);
    assert_true(resident() <= before + SIZE - MOST);
}

static void *free_it(void *block) {
    mem_free(block);
    mem_free(mem_alloc(1000));
    return NULL;
}

static void the_balance_of_a_thread_is_its_own(void **state) {
    (void)state;
    void *block = mem_alloc(1000 * 1000);
    pthread_t thread;
    int64_t before = mem_thread_balance();
    void *small = mem_alloc(100);
    assert_int_equal(mem_thread_balance() - before, mem_good_size(100));
    mem_free(small);
    pthread_create(&thread, NULL, free_it, block);
    int64_t begun = mem_thread_balance();
    pthread_join(thread, NULL);
    assert_true(mem_thread_balance() - begun > -100 * 1000);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_size_is_idempotent_and_never_smaller),
        cmocka_unit_test(used_grows_and_shrinks_by_the_good_size),
        cmocka_unit_test(size_zero_gives_something_to_free),
        cmocka_unit_test(realloc_keeps_contents_and_account),
        cmocka_unit_test(an_array_grows_from_nothing_to_twice_its_capacity),
        cmocka_unit_test(an_array_that_cannot_be_had_stays_as_it_is),
        cmocka_unit_test(aligned_memory_is_aligned),
        cmocka_unit_test(try_gives_null_for_what_cannot_be_had),
        cmocka_unit_test(running_out_reports_the_size_and_aborts),
        cmocka_unit_test(used_counts_all_threads_and_outlives_them),
        cmocka_unit_test(destructors_of_other_modules_are_counted_too),
        cmocka_unit_test(statistics_agree_with_used),
#ifndef PACKLIST_LIBC_MALLOC
        cmocka_unit_test(freed_memory_is_kept_until_it_may_go),
        cmocka_unit_test(the_thread_that_frees_a_large_block_does_not_return_it),
        cmocka_unit_test(the_balance_of_a_thread_is_its_own),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
