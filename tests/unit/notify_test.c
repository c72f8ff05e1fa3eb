/* The letters of notify-keyspace-events. */
#include "config/notify.h"

#include "store/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

static void check_text(const char *letters, const char *shown) {
    uint32_t flags = 0;
    assert_true(notify_parse(slice_of_cstr(letters), &flags));
    sds text = notify_append(sds_new(SLICE("")), flags);
    assert_string_equal(text, shown);
    sds_free(text);
}

static void letters_are_shown_in_one_order(void **state) {
    (void)state;
    check_text("", "");
    check_text("K", "K");
    check_text("KgKg", "gK");
    check_text("mEKndtexzhsl$", "$lshzxetdnKEm");
    check_text("mn", "nm");
    check_text("VTISh", "hSTIV");
    check_text("AV", "AV");
}

static void a_stands_for_ten_classes(void **state) {
    (void)state;
    check_text("KEA", "AKE");
    check_text("g$lshzxetd", "A");
    check_text("g$lshzxet", "g$lshzxet");
    check_text("Am", "Am");
    check_text("AncoE", "AnocE");
    uint32_t flags = 0;
    assert_true(notify_parse(SLICE("A"), &flags));
    assert_false(flags & (EVENT_NEW | EVENT_KEY_MISS | EVENT_OVERWRITTEN | EVENT_TYPE_CHANGED |
                          NOTIFY_KEYEVENT | NOTIFY_KEYSPACE));
    assert_false(flags & NOTIFY_FIELDS);
}

static void each_letter_is_a_flag_of_its_own(void **state) {
    (void)state;
    static const char letters[] = "g$lshzxetdnocKEmSTIV";
    uint32_t seen = 0;
    for (size_t i = 0; letters[i]; i++) {
        uint32_t flags = 0;
        assert_true(notify_parse(slice_make(&letters[i], 1), &flags));
        assert_true(flags != 0 && (flags & (flags - 1)) == 0);
        assert_false(seen & flags);
        seen |= flags;
    }
}

static void other_letters_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"q", "gQ", "G", "K E", " ", "KEA\n", "a", "k"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        uint32_t flags = EVENT_LIST;
        assert_false(notify_parse(slice_of_cstr(texts[i]), &flags));
        assert_int_equal(flags, EVENT_LIST);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_are_shown_in_one_order),
        cmocka_unit_test(a_stands_for_ten_classes),
        cmocka_unit_test(each_letter_is_a_flag_of_its_own),
        cmocka_unit_test(other_letters_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
