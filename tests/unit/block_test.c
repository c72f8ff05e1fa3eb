/* Queues of blocks, which must hold the bytes that a plain buffer holds; and what becomes of a freed block's memory. */
#include "net/connections/block.h"

#include "base/memory/alloc.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { STEPS = 20 * 1000, BYTES_MAX = 4000, PART_MAX = 100, BLOCKS_MAX = 2000, POOL_SIZE = 128 };

struct model {
    struct random random;
    struct block_pool pool;
    struct block_queue queue;
    char bytes[BYTES_MAX];
    size_t len;
    unsigned char next; /* byte to be added */
};

static struct model *model_new(void) {
    struct model *model = mem_alloc_zeroed(sizeof(*model));
    model->random = random_of_this_run();
    model->pool = (struct block_pool){.size = (uint32_t)mem_good_size(POOL_SIZE), .most = 3};
    return model;
}

static size_t part_of(struct model *model, char part[PART_MAX]) {
    size_t len = 1 + random_below(&model->random, PART_MAX);
    for (size_t i = 0; i < len; i++) part[i] = (char)model->next++;
    return len;
}

/* Returns a block with room for more than these bytes, or exactly for them in a buffer of its own. */
static struct block *block_with(struct model *model, const char *part, size_t len) {
    if (random_below(&model->random, 3) == 0) {
        struct block *block = block_new(&model->pool);
        block->kind = BLOCK_BUFFER;
        block->buffer = block->at = memcpy(mem_alloc(len), part, len);
        block->len = len;
        return block;
    }
    size_t room = len + random_below(&model->random, PART_MAX);
    struct block *block = block_new_sized(&model->pool, mem_good_size(sizeof(*block) + room));
    assert_true(block_room(block) >= room);
    assert_int_equal(block_fill(block, part, len), len);
    return block;
}

static void append(struct model *model) {
    char part[PART_MAX];
    size_t len = part_of(model, part), done = 0;
    if (model->queue.first && random_below(&model->random, 2)) {
        size_t room = block_room(model->queue.last);
        done = block_fill(model->queue.last, part, len);
        assert_int_equal(done, room < len ? room : len);
        model->queue.bytes += done;
    }
    if (done < len) block_push(&model->queue, block_with(model, part + done, len - done));
    memcpy(model->bytes + model->len, part, len);
    model->len += len;
}

static void append_chain(struct model *model) {
    struct block_queue chain = {.first = NULL};
    for (uint64_t left = random_below(&model->random, 4); left > 0; left--) {
        char part[PART_MAX];
        size_t len = part_of(model, part);
        block_push(&chain, block_with(model, part, len));
        memcpy(model->bytes + model->len, part, len);
        model->len += len;
    }
    block_push_all(&model->queue, chain.first);
}

static void put_first(struct model *model) {
    char part[PART_MAX];
    size_t len = part_of(model, part);
    block_push_first(&model->queue, block_with(model, part, len));
    memmove(model->bytes + len, model->bytes, model->len);
    memcpy(model->bytes, part, len);
    model->len += len;
}

static void consume(struct model *model) {
    size_t len = random_below(&model->random, model->len + 1), left = len;
    struct block *block;
    while ((block = block_pop_done(&model->queue, &left))) block_free(&model->pool, block);
    memmove(model->bytes, model->bytes + len, model->len - len);
    model->len -= len;
}

static void check(const struct model *model) {
    static uv_buf_t buffers[BLOCKS_MAX];
    size_t at = 0;
    unsigned count = block_gather(&model->queue, buffers, BLOCKS_MAX);
    for (unsigned i = 0; i < count; at += buffers[i++].len) {
        assert_true(at + buffers[i].len <= model->len);
        assert_memory_equal(buffers[i].base, model->bytes + at, buffers[i].len);
    }
    assert_int_equal(at, model->len);
    assert_int_equal(model->queue.bytes, model->len);
    assert_int_equal(block_gather(&model->queue, buffers, 1), count > 0);
    assert_true(model->pool.count <= model->pool.most);
}

static void a_queue_holds_what_a_buffer_holds(void **state) {
    (void)state;
    size_t used = mem_used();
    struct model *model = model_new();
    for (int i = 0; i < STEPS; i++) {
        uint64_t choice = random_below(&model->random, 5);
        if (choice == 0 || model->len > BYTES_MAX - 4 * PART_MAX)
            consume(model);
        else if (choice == 1)
            put_first(model);
        else if (choice == 2)
            append_chain(model);
        else
            append(model);
        check(model);
    }
    while (model->queue.first) block_free(&model->pool, block_pop(&model->queue));
    assert_int_equal(model->queue.bytes, 0);
    block_pool_free(&model->pool);
    mem_free(model);
    assert_int_equal(mem_used(), used);
}

static void a_pool_keeps_some_blocks_of_its_size(void **state) {
    (void)state;
    struct block_pool pool = {.size = (uint32_t)mem_good_size(POOL_SIZE), .most = 2};
    struct block *blocks[3];
    for (int i = 0; i < 3; i++) blocks[i] = block_new(&pool);
    struct block *large = block_new_sized(&pool, 2 * mem_good_size(POOL_SIZE));
    assert_int_equal(block_allocated(large), 2 * mem_good_size(POOL_SIZE));
    block_free(&pool, large);
    assert_int_equal(pool.count, 0);
    for (int i = 0; i < 3; i++) block_free(&pool, blocks[i]);
    assert_int_equal(pool.count, 2);
    struct block *again = block_new(&pool);
    assert_ptr_equal(again, blocks[1]); /* that was written last */
    assert_int_equal(again->len, 0);
    block_free(&pool, again);
    block_pool_free(&pool);
}

static void a_secret_is_overwritten_when_its_block_is_freed(void **state) {
    (void)state;
    struct block_pool pool = {.size = (uint32_t)mem_good_size(POOL_SIZE), .most = 1};
    struct block *block = block_new(&pool);
    size_t capacity = block->capacity;
    block_fill(block, "secret", 6);
    block->clears = true;
    block_free(&pool, block); /* the pool keeps it */
    for (size_t i = 0; i < 6; i++) assert_int_not_equal(block->bytes[i], "secret"[i]);
    assert_int_equal(block_new(&pool)->capacity, capacity);
    assert_int_equal(block_room(block), capacity);
    block_free(&pool, block);
    block_pool_free(&pool);
}

static void a_shared_allocation_is_released_with_its_block(void **state) {
    (void)state;
    struct block_pool pool = {.size = (uint32_t)mem_good_size(POOL_SIZE)};
    struct shared *shared = mem_alloc(sizeof(*shared) + 1);
    shared_begin(shared);
    shared_give(shared);
    struct block *block = block_new(&pool);
    block->kind = BLOCK_SHARED;
    block->shared = shared;
    assert_int_equal(block_room(block), 0);
    block_free(&pool, block);
    assert_int_equal(shared->left, SHARED_FULL - 1);
    shared_end(shared);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_holds_what_a_buffer_holds),
        cmocka_unit_test(a_pool_keeps_some_blocks_of_its_size),
        cmocka_unit_test(a_secret_is_overwritten_when_its_block_is_freed),
        cmocka_unit_test(a_shared_allocation_is_released_with_its_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
