/* Files that replace another one when they are complete. */
#include "base/files/new_file.h"
#include "snapshot/disk_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Each test runs in a folder of its own. */
static char folder[64];

static int enter(void **state) {
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/disk_file_test.XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state) {
    (void)state;
    unlink("new");
    unlink("old");
    unlink("link");
    unlink("dangling");
    rmdir("taken");
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

static void assert_file(const char *path, const char *text) {
    char found[64] = {0};
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, found, sizeof(found) - 1), strlen(text));
    assert_string_equal(found, text);
    close(fd);
}

static void a_file_takes_the_place_of_another(void **state) {
    (void)state;
    struct disk_file file;
    assert_true(disk_file_create(&file, "old", false));
    assert_true(disk_file_write(&file, "before", 6));
    assert_true(disk_file_close(&file, true));
    assert_true(disk_file_create(&file, "new", true));
    assert_true(disk_file_write(&file, "be", 2));
    assert_true(disk_file_write(&file, "hind", 4));
    assert_file("old", "before");
    assert_true(disk_file_close(&file, true));
    assert_int_equal(file.written, 6);
    assert_true(disk_file_rename("new", "old"));
    assert_file("old", "behind");
    assert_int_equal(access("new", F_OK), -1);
}

static void incremental_writes_are_complete(void **state) {
    (void)state;
    enum { PIECE = 1000003, PIECES = 30 };
    static char piece[PIECE];
    struct disk_file file;
    struct stat facts;
    assert_true(disk_file_create(&file, "new", true));
    for (int i = 0; i < PIECES; i++) {
        memset(piece, 'a' + i, sizeof(piece));
        assert_true(disk_file_write(&file, piece, sizeof(piece)));
        assert_true(file.written - file.sent < 5 * 1024 * 1024);
    }
    assert_true(disk_file_close(&file, true));
    assert_int_equal(stat("new", &facts), 0);
    assert_int_equal(facts.st_size, (off_t)PIECE * PIECES);
    int fd = open("new", O_RDONLY);
    for (int i = 0; i < PIECES; i++) {
        assert_int_equal(read(fd, piece, sizeof(piece)), sizeof(piece));
        assert_int_equal(piece[0], 'a' + i);
        assert_int_equal(piece[PIECE - 1], 'a' + i);
    }
    close(fd);
}

static void failed_writes_are_reported(void **state) {
    (void)state;
    struct disk_file file;
    assert_false(disk_file_create(&file, "nosuch/new", false));
    assert_int_equal(errno, ENOENT);

    /* The file size limit cuts the second write short; the third fails. */
    struct rlimit before, low;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    low = before;
    low.rlim_cur = 10;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    sigaction(SIGXFSZ, &ignore, &old);
    assert_true(disk_file_create(&file, "new", false));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    assert_true(disk_file_write(&file, "01234567", 8));
    bool written = disk_file_write(&file, "01234567", 8);
    int error = errno;
    bool closed = disk_file_close(&file, false);
    setrlimit(RLIMIT_FSIZE, &before);
    sigaction(SIGXFSZ, &old, NULL);
    assert_false(written);
    assert_int_equal(error, EFBIG);
    assert_false(closed);
}

static void nothing_that_exists_is_overwritten(void **state) {
    (void)state;
    struct disk_file file;
    assert_true(disk_file_create(&file, "old", false));
    assert_true(disk_file_write(&file, "before", 6));
    assert_true(disk_file_close(&file, true));
    assert_int_equal(symlink("old", "link"), 0);
    assert_int_equal(symlink("nosuch", "dangling"), 0);
    const char *const names[] = {"old", "link", "dangling"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_false(disk_file_create(&file, names[i], false));
        assert_int_equal(errno, EEXIST);
    }
    assert_file("old", "before");
    assert_int_equal(access("nosuch", F_OK), -1);
}

static void names_of_temporary_files_differ(void **state) {
    (void)state;
    sds one = new_file_name("temp-", ".rdb"), other = new_file_name("temp-", ".rdb");
    assert_string_not_equal(one, other);
    struct disk_file file, abandoned;
    assert_true(disk_file_create(&file, one, false));
    assert_true(disk_file_create(&abandoned, other, false));
    close(abandoned.fd);
    disk_file_remove_leftovers(".", "temp-", ".rdb");
    assert_int_equal(access(one, F_OK), 0); /* its lock is held */
    assert_int_equal(access(other, F_OK), -1);
    close(file.fd);
    unlink(one);
    sds_free(one);
    sds_free(other);
}

static void a_device_that_is_full_is_reported(void **state) {
    (void)state;
    struct disk_file file;
    assert_true(disk_file_create(&file, "new", false));
    int full = open("/dev/full", O_WRONLY);
    assert_true(full >= 0 && dup2(full, file.fd) == file.fd);
    close(full);
    assert_false(disk_file_write(&file, "x", 1));
    assert_int_equal(errno, ENOSPC);
    assert_false(disk_file_close(&file, false));
    assert_int_equal(errno, ENOSPC);
}

static void a_file_that_cannot_be_renamed_stays(void **state) {
    (void)state;
    struct disk_file file;
    assert_int_equal(mkdir("taken", 0700), 0);
    assert_true(disk_file_create(&file, "new", false));
    assert_true(disk_file_close(&file, true));
    assert_false(disk_file_rename("new", "taken"));
    assert_int_equal(errno, EISDIR);
    assert_int_equal(access("new", F_OK), 0);
}

static void only_an_abandoned_file_is_removed(void **state) {
    (void)state;
    struct disk_file file;
    assert_true(disk_file_create(&file, "new", false));
    assert_false(disk_file_remove_abandoned("new"));
    assert_int_equal(access("new", F_OK), 0);
    assert_true(disk_file_close(&file, true));
    assert_true(disk_file_remove_abandoned("new"));
    assert_int_equal(access("new", F_OK), -1);
    assert_false(disk_file_remove_abandoned("new"));
    assert_int_equal(symlink("old", "new"), 0);
    assert_false(disk_file_remove_abandoned("new"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_takes_the_place_of_another, enter, leave),
        cmocka_unit_test_setup_teardown(incremental_writes_are_complete, enter, leave),
        cmocka_unit_test_setup_teardown(failed_writes_are_reported, enter, leave),
        cmocka_unit_test_setup_teardown(nothing_that_exists_is_overwritten, enter, leave),
        cmocka_unit_test_setup_teardown(names_of_temporary_files_differ, enter, leave),
        cmocka_unit_test_setup_teardown(a_device_that_is_full_is_reported, enter, leave),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_renamed_stays, enter, leave),
        cmocka_unit_test_setup_teardown(only_an_abandoned_file_is_removed, enter, leave),
    };
    return cmocka_run_group_tests_name("disk_file", tests, NULL, NULL);
}
