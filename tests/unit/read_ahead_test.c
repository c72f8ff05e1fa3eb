/* Files read ahead: whole, whatever the sizes of file and reads, with a thread and without. */
#define _GNU_SOURCE /* O_DIRECT */
#include "base/files/read_ahead.h"

#include "base/files/file.h"
#include "base/memory/alloc.h"
#include "unit/in_range.h"
#include "unit/seed.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef TINY_LIMITS
enum { PIECE_SIZE = 4096 };
#else
enum { PIECE_SIZE = 512 * 1024 };
#endif
enum { LARGE = 4 * PIECE_SIZE, ROUNDS = 40 };

/* A file without a name, and what is in it. */
struct file {
    int fd;
    uint8_t *bytes;
    size_t size;
};

static struct file file_new(struct random *random, size_t size) {
    char path[] = "/var/tmp/read_ahead_test.XXXXXX";
    struct file file = {mkstemp(path), mem_alloc(size + sizeof(uint64_t)), size};
    assert_true(file.fd >= 0);
    unlink(path);
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t bits = random_next(random);
        memcpy(file.bytes + i, &bits, sizeof(bits));
    }
    size_t written;
    assert_true(file_write(file.fd, file.bytes, size, &written));
    assert_int_equal(lseek(file.fd, 0, SEEK_SET), 0);
    return file;
}

static void file_end(struct file *file) {
    mem_free(file->bytes);
    close(file->fd);
}

static void leave_cache(const struct file *file) {
    assert_int_equal(fsync(file->fd), 0);
    assert_int_equal(posix_fadvise(file->fd, 0, 0, POSIX_FADV_DONTNEED), 0);
}

/* How much of the file is in the page cache. The system may drop pages at any time, and may keep some
 * that it was asked to drop. */
enum cached { CACHED_NONE, CACHED_PARTLY, CACHED_WHOLE };

static enum cached cached_part(const struct file *file) {
    size_t page_size = (size_t)sysconf(_SC_PAGESIZE), cached = 0;
    size_t pages = (file->size + page_size - 1) / page_size;
    if (pages == 0) return CACHED_WHOLE;
    void *map = mmap(NULL, file->size, PROT_READ, MAP_SHARED, file->fd, 0);
    unsigned char *is_cached = mem_alloc(pages);
    assert_true(map != MAP_FAILED);
    assert_int_equal(mincore(map, file->size, is_cached), 0);
    for (size_t i = 0; i < pages; i++) cached += is_cached[i] & 1;
    munmap(map, file->size);
    mem_free(is_cached);
    return cached == 0 ? CACHED_NONE : cached == pages ? CACHED_WHOLE : CACHED_PARTLY;
}

/* A file system in memory has nothing to be read ahead, and not every other knows O_DIRECT. */
static bool can_be_read_directly(const struct file *file) {
    struct statfs facts;
    assert_int_equal(fstatfs(file->fd, &facts), 0);
    int flags = fcntl(file->fd, F_GETFL);
    bool can = facts.f_type != TMPFS_MAGIC && fcntl(file->fd, F_SETFL, flags | O_DIRECT) == 0;
    fcntl(file->fd, F_SETFL, flags);
    return can;
}

/* Reads `len` bytes, which must be those at `offset`, in steps of all sizes. */
static void assert_read(struct read_ahead *ahead, struct random *random, const struct file *file,
                        size_t offset, size_t len) {
    uint8_t *room = mem_alloc(2 * PIECE_SIZE);
    while (len > 0) {
        size_t step = 1 + random_below(random, random_below(random, 4) ? 2 * PIECE_SIZE : 9);
        ssize_t got = read_ahead_read(ahead, room, step < len ? step : len);
        assert_uint_in_range(got, 1, step < len ? step : len);
        assert_memory_equal(room, file->bytes + offset, (size_t)got);
        offset += (size_t)got;
        len -= (size_t)got;
    }
    mem_free(room);
}

static void assert_end(struct read_ahead *ahead) {
    char byte;
    for (int again = 0; again < 3; again++) assert_int_equal(read_ahead_read(ahead, &byte, 1), 0);
}

static void every_size_is_read_whole(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    int checked = 0;
    bool can_leave_cache = false;
    for (int i = 0; i < ROUNDS; i++) {
        size_t size = random_below(&random, 3 * LARGE);
        if (i % 3 == 0) size = size / PIECE_SIZE * PIECE_SIZE;
        struct file file = file_new(&random, size);
        if (i % 2) leave_cache(&file);
        int flags = fcntl(file.fd, F_GETFL);
        bool is_direct = can_be_read_directly(&file);
        enum cached before = cached_part(&file);
        struct read_ahead *ahead = read_ahead_new(file.fd);
        bool has_thread = read_ahead_has_thread(ahead);
        enum cached after = cached_part(&file);
        if (before == CACHED_NONE) assert_int_equal(has_thread, size >= LARGE && is_direct);
        if (before == CACHED_WHOLE && after == CACHED_WHOLE) assert_false(has_thread);
        checked += before == CACHED_NONE;
        can_leave_cache |= is_direct;
        assert_read(ahead, &random, &file, 0, size);
        assert_end(ahead);
        read_ahead_free(ahead);
        assert_int_equal(fcntl(file.fd, F_GETFL), flags);
        file_end(&file);
    }
    assert_true(checked > 0 || !can_leave_cache);
}

static void reading_may_end_anywhere(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    for (int i = 0; i < ROUNDS; i++) {
        struct file file = file_new(&random, LARGE + random_below(&random, LARGE));
        leave_cache(&file);
        struct read_ahead *ahead = read_ahead_new(file.fd);
        assert_read(ahead, &random, &file, 0, random_below(&random, file.size + 1));
        read_ahead_free(ahead);
        file_end(&file);
    }
}

/* A file that grows, or is cut, is read to where it ends at that moment. */
static void the_end_is_where_the_file_ends(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    struct file file = file_new(&random, 3 * LARGE);
    leave_cache(&file);
    struct read_ahead *ahead = read_ahead_new(file.fd);
    assert_read(ahead, &random, &file, 0, 100);
    assert_int_equal(ftruncate(file.fd, 2 * LARGE + 100), 0);
    assert_read(ahead, &random, &file, 100, 2 * LARGE);
    assert_end(ahead);
    read_ahead_free(ahead);
    file_end(&file);
}

static void an_error_is_reported_each_time(void **state) {
    (void)state;
    char byte;
    struct random random = random_of_this_run();
    struct file file = file_new(&random, 2 * LARGE);
    char path[64];
    leave_cache(&file);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file.fd);
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    struct read_ahead *ahead = read_ahead_new(fd);
    for (int again = 0; again < 3; again++) {
        errno = 0;
        assert_int_equal(read_ahead_read(ahead, &byte, 1), -1);
        assert_int_equal(errno, EBADF);
    }
    read_ahead_free(ahead);
    close(fd);
    file_end(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_is_read_whole),
        cmocka_unit_test(reading_may_end_anywhere),
        cmocka_unit_test(the_end_is_where_the_file_ends),
        cmocka_unit_test(an_error_is_reported_each_time),
    };
    return cmocka_run_group_tests_name("read_ahead", tests, NULL, NULL);
}
