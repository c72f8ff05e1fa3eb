/* The log of what was refused: how events become entries, and what bounds it. */
#include "base/text/sds.h"
#include "users/acl_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MAX = 128, MINUTE_MS = 60 * 1000, NAME_BYTES = 256 };

static struct acl_event event(const char *object, int64_t now_ms) {
    return (struct acl_event){.reason = ACL_REASON_KEY,
                              .context = ACL_CONTEXT_TOPLEVEL,
                              .object = slice_of_cstr(object),
                              .user = SLICE("u"),
                              .client = SLICE("id=1"),
                              .now_ms = now_ms};
}

static void add(struct acl_log *log, const char *object, int64_t now_ms) {
    struct acl_event made = event(object, now_ms);
    acl_log_add(log, &made, MAX);
}

/* The objects from the newest entry on, with a count where it is not 1: "a b*2". The caller frees
 * the text. */
static sds described(const struct acl_log *log) {
    sds text = sds_new(SLICE(""));
    size_t count = 0;
    for (const struct acl_entry *at = log->newest; at; at = at->older, count++) {
        text = sds_append(sds_append_cstr(text, count ? " " : ""), sds_slice(at->object));
        if (at->count > 1) text = sds_append_format(text, "*%d", (int)at->count);
        assert_ptr_equal(at->older ? at->older->newer : log->oldest, at);
    }
    assert_int_equal(count, log->count);
    return text;
}

static void expect(struct acl_log *log, const char *wanted) {
    sds text = described(log);
    assert_string_equal(text, wanted);
    sds_free(text);
}

static void events_of_a_kind_are_counted_and_come_to_the_front(void **state) {
    (void)state;
    struct acl_log log = {0};
    expect(&log, "");
    add(&log, "a", 1000);
    add(&log, "b", 2000);
    add(&log, "a", 3000);
    expect(&log, "a*2 b");
    assert_int_equal(log.newest->id, 0);
    assert_int_equal(log.newest->created_ms, 1000);
    assert_int_equal(log.newest->updated_ms, 3000);
    assert_int_equal(log.oldest->id, 1);
    acl_log_reset(&log);
}

static void other_kinds_are_other_entries(void **state) {
    (void)state;
    struct acl_log log = {0};
    struct acl_event made = event("a", 0);
    acl_log_add(&log, &made, MAX);
    made.reason = ACL_REASON_CHANNEL;
    acl_log_add(&log, &made, MAX);
    made.context = ACL_CONTEXT_LUA;
    acl_log_add(&log, &made, MAX);
    made.user = SLICE("v");
    acl_log_add(&log, &made, MAX);
    made.object = SLICE("b");
    acl_log_add(&log, &made, MAX);
    made.client = SLICE("id=2"); /* not a part of the kind: the last one is shown */
    acl_log_add(&log, &made, MAX);
    expect(&log, "b*2 a a a a");
    assert_string_equal(log.newest->client, "id=2");
    acl_log_reset(&log);
}

static void an_event_a_minute_later_is_a_new_entry(void **state) {
    (void)state;
    struct acl_log log = {0};
    add(&log, "a", 0);
    add(&log, "a", MINUTE_MS); /* from the last event of the entry on */
    add(&log, "a", 2 * MINUTE_MS);
    expect(&log, "a*3");
    add(&log, "a", 3 * MINUTE_MS + 1);
    expect(&log, "a a*3");
    add(&log, "a", 0); /* the clock was set back */
    expect(&log, "a*2 a*3");
    acl_log_reset(&log);
}

static void only_the_ten_newest_are_counted_on(void **state) {
    (void)state;
    struct acl_log log = {0};
    char object[2] = "a";
    for (; object[0] <= 'k'; object[0]++) add(&log, object, 0);
    add(&log, "b", 0); /* the tenth */
    expect(&log, "b*2 k j i h g f e d c a");
    add(&log, "a", 0); /* the eleventh */
    expect(&log, "a b*2 k j i h g f e d c a");
    acl_log_reset(&log);
}

static void the_oldest_entries_are_dropped(void **state) {
    (void)state;
    struct acl_log log = {0};
    struct acl_event made = event("d", 0);
    add(&log, "a", 0);
    add(&log, "b", 0);
    add(&log, "c", 0);
    acl_log_add(&log, &made, 2);
    expect(&log, "d c");
    made.object = SLICE("e");
    acl_log_add(&log, &made, 0); /* acllog-max-len 0 */
    expect(&log, "");
    add(&log, "a", 0);
    expect(&log, "a");
    acl_log_reset(&log);
}

/* Names of any length are cut, and are of one kind if they begin alike. */
static void long_names_are_cut(void **state) {
    (void)state;
    struct acl_log log = {0};
    static char name[1 << 20];
    memset(name, 'n', sizeof(name));
    struct acl_event made = event("", 0);
    made.object = made.user = slice_make(name, sizeof(name));
    acl_log_add(&log, &made, MAX);
    made.object.len = made.user.len = NAME_BYTES;
    acl_log_add(&log, &made, MAX);
    assert_int_equal(log.count, 1);
    assert_int_equal(sds_len(log.newest->object), NAME_BYTES);
    assert_int_equal(sds_len(log.newest->user), NAME_BYTES);
    made.object.len--;
    acl_log_add(&log, &made, MAX);
    assert_int_equal(log.count, 2);
    acl_log_reset(&log);
}

static void numbers_continue_after_a_reset(void **state) {
    (void)state;
    struct acl_log log = {0};
    add(&log, "a", 0);
    add(&log, "b", 0);
    acl_log_reset(&log);
    expect(&log, "");
    assert_null(log.newest);
    assert_null(log.oldest);
    add(&log, "a", 0);
    expect(&log, "a");
    assert_int_equal(log.newest->id, 2);
    acl_log_reset(&log);
    acl_log_reset(&log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_of_a_kind_are_counted_and_come_to_the_front),
        cmocka_unit_test(other_kinds_are_other_entries),
        cmocka_unit_test(an_event_a_minute_later_is_a_new_entry),
        cmocka_unit_test(only_the_ten_newest_are_counted_on),
        cmocka_unit_test(the_oldest_entries_are_dropped),
        cmocka_unit_test(long_names_are_cut),
        cmocka_unit_test(numbers_continue_after_a_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
