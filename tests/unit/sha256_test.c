#include "base/hash/sha256.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* The examples of FIPS 180-4. */
static void texts_have_their_digests(void **state) {
    (void)state;
    static const struct {
        const char *text, *hex;
    } rows[] = {{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t digest[SHA256_SIZE], parsed[SHA256_SIZE];
        sha256(digest, slice_of_cstr(rows[i].text));
        sds hex = sha256_append_hex(sds_new(SLICE("")), digest);
        assert_string_equal(hex, rows[i].hex);
        assert_true(sha256_parse_hex(parsed, sds_slice(hex)));
        assert_true(sha256_equal(parsed, digest));
        parsed[SHA256_SIZE - 1] ^= 1;
        assert_false(sha256_equal(parsed, digest));
        sds_free(hex);
    }
}

static void only_64_lower_case_digits_are_a_digest(void **state) {
    (void)state;
    char hex[SHA256_HEX + 1];
    uint8_t digest[SHA256_SIZE];
    const char wrong[] = {'A', 'g', '/', ':', '`', ' ', 0};
    memset(hex, 'a', sizeof(hex));
    assert_true(sha256_parse_hex(digest, slice_make(hex, SHA256_HEX)));
    assert_false(sha256_parse_hex(digest, slice_make(hex, SHA256_HEX - 1)));
    assert_false(sha256_parse_hex(digest, slice_make(hex, SHA256_HEX + 1)));
    assert_false(sha256_parse_hex(digest, slice_make(NULL, 0)));
    for (size_t i = 0; i < sizeof(wrong); i++) {
        hex[SHA256_HEX - 1] = wrong[i];
        assert_false(sha256_parse_hex(digest, slice_make(hex, SHA256_HEX)));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_have_their_digests),
        cmocka_unit_test(only_64_lower_case_digits_are_a_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
