/* key_slot: the slots of keys, as clients of clusters compute them; and crc16, which makes them. */
#include "store/key_slot.h"

#include "base/hash/crc16.h"
#include "unit/seed.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static unsigned bit_by_bit(const uint8_t *bytes, size_t len) {
    unsigned crc = 0;
    for (size_t i = 0; i < len; i++) {
        crc ^= (unsigned)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++) crc = (crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xFFFF;
    }
    return crc;
}

static void the_checksum_is_that_of_its_bits(void **state) {
    enum { SIZE = 100 };
    struct random *random = *state;
    uint8_t bytes[SIZE];
    assert_int_equal(crc16("123456789", 9), 0x31C3);
    assert_int_equal(crc16("", 0), 0);
    for (int i = 0; i < 5000; i++) {
        size_t len = random_below(random, SIZE + 1);
        for (size_t at = 0; at < len; at++) bytes[at] = (uint8_t)random_next(random);
        assert_int_equal(crc16(bytes, len), bit_by_bit(bytes, len));
    }
}

static void known_keys_are_in_their_slots(void **state) {
    (void)state;
    assert_int_equal(key_slot(SLICE("123456789")), 12739);
    assert_int_equal(key_slot(SLICE("foo")), 12182);
    assert_int_equal(key_slot(SLICE("bar")), 5061);
    assert_int_equal(key_slot(SLICE("")), 0);
    assert_int_equal(key_slot((struct slice){0}), 0);
}

static void a_hash_tag_alone_decides(void **state) {
    (void)state;
    unsigned slot = key_slot(SLICE("user:1"));
    assert_int_equal(key_slot(SLICE("{user:1}")), slot);
    assert_int_equal(key_slot(SLICE("{user:1}:name")), slot);
    assert_int_equal(key_slot(SLICE("of{user:1}{user:2}")), slot);
    assert_int_equal(key_slot(SLICE("}{user:1}")), slot);
    assert_int_equal(key_slot(SLICE("x{{bar}y")), key_slot(SLICE("{bar")));
}

static void what_is_no_hash_tag_belongs_to_the_key(void **state) {
    (void)state;
    const struct slice keys[] = {SLICE("{}foo"), SLICE("foo{}{bar}"), SLICE("{foo"), SLICE("foo}"),
                                 SLICE("foo{"),  SLICE("{"),          SLICE("{}")};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        assert_int_equal(key_slot(keys[i]), crc16(keys[i].ptr, keys[i].len) % KEY_SLOTS);
}

static void each_slot_has_a_tag(void **state) {
    (void)state;
    for (unsigned slot = 0; slot < KEY_SLOTS; slot++) {
        char tag[KEY_SLOT_TAG];
        key_slot_tag(slot, tag);
        struct slice text = {tag, KEY_SLOT_TAG};
        assert_int_equal(key_slot(text), slot);
        for (int i = 0; i < KEY_SLOT_TAG; i++) assert_true(isalnum((unsigned char)tag[i]));
    }
}

int main(void) {
    struct random random = random_of_this_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(the_checksum_is_that_of_its_bits, &random),
        cmocka_unit_test(known_keys_are_in_their_slots),
        cmocka_unit_test(a_hash_tag_alone_decides),
        cmocka_unit_test(what_is_no_hash_tag_belongs_to_the_key),
        cmocka_unit_test(each_slot_has_a_tag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
