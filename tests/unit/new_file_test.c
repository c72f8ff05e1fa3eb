/* Files of data and secrets: who may read them, and what they may replace. */
#include "base/files/new_file.h"

#include "base/files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

/* Each test runs in a folder of its own, without an umask. */
static char folder[64];
static mode_t umask_before;

static int enter(void **state) {
    (void)state;
    umask_before = umask(0);
    snprintf(folder, sizeof(folder), "/tmp/new_file_test.XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state) {
    (void)state;
    umask(umask_before);
    unlink("file");
    unlink("link");
    unlink("pipe");
    rmdir("taken");
    return chdir("/") == 0 ? rmdir(folder) : -1; /* no temporary file is left */
}

static mode_t mode_of(const char *path) {
    struct stat facts;
    assert_int_equal(lstat(path, &facts), 0);
    return facts.st_mode & 07777;
}

static void assert_text(const char *path, const char *text) {
    sds found = file_read(path);
    assert_non_null(found);
    assert_string_equal(found, text);
    sds_free(found);
}

static void write_old(const char *path, mode_t mode) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, mode);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "old", 3), 3);
    close(fd);
}

static void a_new_file_is_its_owners_alone(void **state) {
    (void)state;
    close(new_file_open("file", 0));
    assert_int_equal(mode_of("file"), 0600);
    unlink("file");
    umask(0277);
    close(new_file_open("file", 0));
    assert_int_equal(mode_of("file"), 0400);
}

/* A list as setfacl -d -m u::rw,g::r,m::r,o::- writes it: version 2, then tag, permissions and id of
 * each entry. */
static void a_default_list_of_the_folder_decides(void **state) {
    (void)state;
    static const uint8_t list[] = {
        2,    0, 0, 0,                         /* the version */
        0x01, 0, 6, 0, 0xFF, 0xFF, 0xFF, 0xFF, /* the owner: rw */
        0x04, 0, 4, 0, 0xFF, 0xFF, 0xFF, 0xFF, /* the group: r */
        0x20, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, /* others: nothing */
    };
    if (setxattr(".", "system.posix_acl_default", list, sizeof(list), 0) != 0) skip();
    umask(077);
    close(new_file_open("file", 0));
    assert_int_equal(mode_of("file"), 0640);
    assert_true(new_file_replace("file", SLICE("new")));
    assert_int_equal(mode_of("file"), 0640);
    assert_int_equal(chmod("file", 0600), 0);
    assert_true(new_file_replace("file", SLICE("newer")));
    assert_int_equal(mode_of("file"), 0600);
}

static void a_name_that_is_taken_is_not_opened(void **state) {
    (void)state;
    write_old("file", 0600);
    assert_int_equal(symlink("file", "link"), 0);
    assert_int_equal(mkdir("taken", 0700), 0);
    const char *const names[] = {"file", "link", "taken"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(new_file_open(names[i], 0), -1);
        assert_int_equal(errno, EEXIST);
    }
    assert_text("file", "old");
    unlink("link");
    assert_int_equal(symlink("nosuch", "link"), 0);
    assert_int_equal(new_file_open("link", 0), -1);
    assert_int_equal(access("nosuch", F_OK), -1);
}

static void a_replaced_file_gives_no_new_rights(void **state) {
    (void)state;
    static const mode_t modes[][2] = {{0644, 0600}, {0600, 0600}, {0640, 0600}, {0400, 0400}};
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        write_old("file", modes[i][0]);
        assert_true(new_file_replace("file", SLICE("new")));
        assert_int_equal(mode_of("file"), modes[i][1]);
        assert_text("file", "new");
        unlink("file");
    }
    assert_true(new_file_replace("file", SLICE("first")));
    assert_int_equal(mode_of("file"), 0600);
}

static void a_link_is_followed_to_what_it_leads_to(void **state) {
    (void)state;
    write_old("file", 0600);
    assert_int_equal(symlink("file", "link"), 0);
    assert_true(new_file_replace("link", SLICE("new")));
    struct stat facts;
    assert_int_equal(lstat("link", &facts), 0);
    assert_true(S_ISLNK(facts.st_mode));
    assert_text("file", "new");
}

static void what_is_no_plain_file_stays(void **state) {
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_false(new_file_replace("pipe", SLICE("new")));
    assert_int_equal(errno, EINVAL);
    assert_int_equal(mkdir("taken", 0700), 0);
    assert_false(new_file_replace("taken", SLICE("new")));
    assert_int_equal(errno, EISDIR);
    assert_false(new_file_replace("nosuch/file", SLICE("new")));
    assert_int_equal(errno, ENOENT);
}

static void a_file_that_is_too_long_is_not_read(void **state) {
    (void)state;
    write_old("file", 0600);
    sds text = file_read_plain("file", 3);
    assert_string_equal(text, "old");
    sds_free(text);
    assert_null(file_read_plain("file", 2));
    assert_int_equal(errno, EFBIG);
    assert_null(file_read_plain(".", 100));
    assert_int_equal(errno, EISDIR);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_new_file_is_its_owners_alone, enter, leave),
        cmocka_unit_test_setup_teardown(a_default_list_of_the_folder_decides, enter, leave),
        cmocka_unit_test_setup_teardown(a_name_that_is_taken_is_not_opened, enter, leave),
        cmocka_unit_test_setup_teardown(a_replaced_file_gives_no_new_rights, enter, leave),
        cmocka_unit_test_setup_teardown(a_link_is_followed_to_what_it_leads_to, enter, leave),
        cmocka_unit_test_setup_teardown(what_is_no_plain_file_stays, enter, leave),
        cmocka_unit_test_setup_teardown(a_file_that_is_too_long_is_not_read, enter, leave),
    };
    return cmocka_run_group_tests_name("new_file", tests, NULL, NULL);
}
