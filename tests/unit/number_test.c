#include "base/text/number.h"
#include "base/text/sds.h"
#include "unit/seed.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <cmocka.h>

static void check_round_trip(int64_t value) {
    char ours[INT64_TEXT_MAX + 1], libc[32];
    ours[INT64_TEXT_MAX] = 'x';
    size_t len = number_format_int64(ours, value);
    assert_int_equal(len, snprintf(libc, sizeof(libc), "%" PRId64, value));
    assert_memory_equal(ours, libc, len);
    assert_int_equal(number_int64_length(value), len);
    int64_t back = ~value;
    assert_true(number_parse_int64(slice_make(ours, len), &back));
    assert_true(back == value);

    uint64_t as_unsigned = (uint64_t)value, unsigned_back = ~as_unsigned;
    len = number_format_uint64(ours, as_unsigned);
    assert_int_equal(len, snprintf(libc, sizeof(libc), "%" PRIu64, as_unsigned));
    assert_memory_equal(ours, libc, len);
    assert_int_equal(number_uint64_length(as_unsigned), len);
    assert_true(number_parse_uint64(slice_make(ours, len), &unsigned_back));
    assert_true(unsigned_back == as_unsigned);
    assert_int_equal(ours[INT64_TEXT_MAX], 'x');
}

static void integers_survive_text_and_back(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    for (int64_t value = -11000; value < 11000; value++) check_round_trip(value);
    for (uint64_t power = 1, i = 0; i < 20; i++, power *= 10) {
        for (int delta = -2; delta <= 2; delta++) {
            check_round_trip((int64_t)(power + (uint64_t)delta));
            check_round_trip((int64_t)(0 - power + (uint64_t)delta));
        }
    }
    for (int bits = 0; bits < 64; bits++) {
        for (int delta = -2; delta <= 2; delta++) {
            check_round_trip((int64_t)((1UL << bits) + (uint64_t)delta));
        }
        for (int i = 0; i < 1000; i++) check_round_trip((int64_t)(random_next(&random) >> bits));
    }
}

static void assert_same_length_as_neighbours(int64_t value) {
    for (int delta = -9; delta <= 9; delta++) {
        int64_t other = (int64_t)((uint64_t)value + (uint64_t)delta);
        assert_int_equal(number_int64_same_length(value, other),
                         number_int64_length(value) == number_int64_length(other));
    }
}

static void integers_as_long_as_each_other_are_known(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    for (int64_t value = -1100; value < 1100; value++) assert_same_length_as_neighbours(value);
    for (uint64_t power = 1, i = 0; i < 20; i++, power *= 10) {
        for (int delta = -20; delta <= 20; delta++) {
            assert_same_length_as_neighbours((int64_t)(power + (uint64_t)delta));
            assert_same_length_as_neighbours((int64_t)(0 - power + (uint64_t)delta));
        }
    }
    for (int i = 0; i < 10000; i++) {
        int64_t a = (int64_t)random_next(&random) >> random_below(&random, 64);
        int64_t b = (int64_t)random_next(&random) >> random_below(&random, 64);
        assert_int_equal(number_int64_same_length(a, b),
                         number_int64_length(a) == number_int64_length(b));
    }
}

static void only_canonical_integers_are_accepted(void **state) {
    (void)state;
    static const char *refused[] = {"",
                                    "-",
                                    "+1",
                                    "-0",
                                    "00",
                                    "01",
                                    "-01",
                                    " 1",
                                    "1 ",
                                    "1a",
                                    "a1",
                                    "1.0",
                                    "1-1",
                                    "--1",
                                    "1a1",
                                    "0x10",
                                    "9223372036854775808",
                                    "-9223372036854775809",
                                    "18446744073709551616",
                                    "99999999999999999999",
                                    "100000000000000000000",
                                    "9999999999999999999a",
                                    "-99999999999999999999"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        int64_t value = 77;
        assert_false(number_parse_int64(slice_of_cstr(refused[i]), &value));
        assert_int_equal(value, 77);
    }
    int64_t value = 77;
    assert_false(number_parse_int64(slice_make(NULL, 0), &value));
    assert_false(number_parse_int64(SLICE("1\0"), &value));
    assert_false(number_parse_int64(SLICE("1\0001"), &value));
    assert_true(number_parse_int64(SLICE("-9223372036854775808"), &value));
    assert_true(value == INT64_MIN);

    uint64_t natural = 77;
    assert_false(number_parse_uint64(SLICE("-1"), &natural));
    assert_false(number_parse_uint64(SLICE("18446744073709551616"), &natural));
    assert_false(number_parse_uint64(SLICE("184467440737095516150"), &natural));
    assert_false(number_parse_uint64(SLICE("1844674407370955161/"), &natural));
    assert_false(number_parse_uint64(slice_make(NULL, 0), &natural));
    assert_int_equal(natural, 77);
    assert_true(number_parse_uint64(SLICE("18446744073709551615"), &natural));
    assert_true(natural == UINT64_MAX);
}

/* Whatever is accepted must be what would be written. */
static void random_texts_are_accepted_only_if_they_format_back(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    int accepted = 0;
    for (int i = 0; i < 300000; i++) {
        char text[24], back[INT64_TEXT_MAX];
        size_t len = random_below(&random, 22);
        for (size_t n = 0; n < len; n++) text[n] = "0123456789-9"[random_below(&random, 12)];
        int64_t value;
        char *end = NULL;
        text[len] = '\0';
        bool ok = number_parse_int64(slice_make(text, len), &value);
        long long expected = strtoll(text, &end, 10);
        bool same = len > 0 && end == text + len && number_format_int64(back, expected) == len &&
                    memcmp(back, text, len) == 0;
        assert_int_equal(ok, same);
        if (ok) assert_true(value == expected);
        accepted += ok;
    }
    assert_true(accepted > 1000);
}

static void floating_point_texts_follow_strtod_but_for_blanks_and_nan(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } accepted[] = {{"0", 0},
                    {"1.5", 1.5},
                    {"-2.25e3", -2250},
                    {"+3", 3},
                    {".5", 0.5},
                    {"5.", 5},
                    {"0x10", 16},
                    {"inf", INFINITY},
                    {"-INF", -INFINITY},
                    {"infinity", INFINITY},
                    {"5e-324", 5e-324}};
    for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
        double value = 77;
        long double long_value = 77;
        assert_true(number_parse_double(slice_of_cstr(accepted[i].text), &value));
        assert_true(value == accepted[i].value);
        assert_true(number_parse_long_double(slice_of_cstr(accepted[i].text), &long_value));
        assert_true((double)long_value == accepted[i].value);
    }
    static const char *refused[] = {"",  " 1", "\t1", "\n1",    "1 ",  "nan",     "-nan",
                                    "a", "1a", "1,5", "1e5000", "--1", "1e-5000", "nan(1)"};
    char zeros[LONG_DOUBLE_TEXT_MAX + 2];
    memset(zeros, '0', sizeof(zeros));
    double value = 77;
    long double long_value = 77;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        assert_false(number_parse_double(slice_of_cstr(refused[i]), &value));
        assert_false(number_parse_long_double(slice_of_cstr(refused[i]), &long_value));
    }
    assert_false(
        number_parse_long_double(slice_make(zeros, LONG_DOUBLE_TEXT_MAX + 1), &long_value));
    assert_false(number_parse_double(SLICE("1\0"), &value));
    assert_false(number_parse_double(slice_make(NULL, 0), &value));
    assert_true(value == 77 && long_value == 77);
    assert_true(number_parse_long_double(slice_make(zeros, LONG_DOUBLE_TEXT_MAX), &long_value));
    assert_true(long_value == 0);
}

/* The middle of the text is repeated until it has the length. */
static void check_long_text(const char *begin, char middle, const char *end, size_t len,
                            double expected) {
    char *text = malloc(len);
    size_t begin_len = strlen(begin), end_len = strlen(end);
    double value = 77;
    memset(text, middle, len);
    memcpy(text, begin, begin_len);
    memcpy(text + len - end_len, end, end_len);
    struct slice slice = slice_make(text, len);
    assert_int_equal(number_parse_double(slice, &value), isfinite(expected) && expected != 0);
    assert_true(value == (isfinite(expected) && expected != 0 ? expected : 77));
    assert_true(number_parse_decimal(slice, &value) && value == expected);
    text[len - 1] = 'y';
    assert_false(number_parse_double(slice, &value));
    assert_false(number_parse_decimal(slice, &value));
    text[len - 1] = text[0] = ' ';
    assert_false(number_parse_double(slice, &value));
    free(text);
}

/* "0" many times in place of "~", and "5" in place of "^". */
static sds expand(const char *pattern, size_t times) {
    sds text = sds_new(SLICE(""));
    for (const char *at = pattern; *at; at++) {
        char c = *at == '~' ? '0' : *at == '^' ? '5' : *at;
        for (size_t i = 0; i < (*at == '~' || *at == '^' ? times : 1); i++)
            text = sds_append(text, slice_make(&c, 1));
    }
    return text;
}

/* The patterns are those of numbers whose last digits decide, of long exponents, and of texts that
 * are no numbers. */
static void long_texts_are_what_strtod_reads(void **state) {
    (void)state;
    static const char *const patterns[] = {"9007199254740993.~1",
                                           "9007199254740993.~",
                                           "-9007199254740993~e-2000",
                                           "~1e5",
                                           ".~1e1900",
                                           "1e~5",
                                           "1e-~5",
                                           "1e^",
                                           "1e-^",
                                           "0e^",
                                           "-~",
                                           "+~7",
                                           ".^",
                                           "^.^e-2000",
                                           "2.225073858507201^e-308",
                                           "4.9406564584124654^e-324",
                                           "2.4703282292062327208^e-324",
                                           "1.797693134862315^e308",
                                           "0x~1p4",
                                           "0X1.~",
                                           "0x.~1P8005",
                                           "0x20000000000001.~1",
                                           "0x20000000000001.~",
                                           "-0xfF~p-8000",
                                           "0x.~p5",
                                           "0x~.p1",
                                           "1~e900000000000000000000000",
                                           "1~e-900000000000000000000000",
                                           "1~e-1990",
                                           "1~e",
                                           "1~e+",
                                           "1~e+-5",
                                           "1~ ",
                                           "1.~.",
                                           "0x~p",
                                           "0x~g",
                                           "0xe",
                                           "1~p5",
                                           "0x1~e5",
                                           "e~5",
                                           ".e~5",
                                           "+-~5",
                                           "--~5",
                                           "~inf",
                                           "nan(~)",
                                           "1~x",
                                           "x~1",
                                           "1~f",
                                           "^x"};
    static const size_t times[] = {1, 700, 790, 810, 1019, 1030, 1990, 2000, 10000};
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        for (size_t j = 0; j < sizeof(times) / sizeof(times[0]); j++) {
            sds text = expand(patterns[i], times[j]);
            char *end;
            errno = 0;
            double expected = strtod(text, &end), value = 77;
            bool is_beyond = errno == ERANGE && (isinf(expected) || expected == 0);
            bool is_number = *end == '\0' && !isnan(expected);
            assert_int_equal(number_parse_double(sds_slice(text), &value), is_number && !is_beyond);
            assert_true(value == (is_number && !is_beyond ? expected : 77));
            assert_int_equal(signbit(value), is_number && !is_beyond ? signbit(expected) : 0);
            sds_free(text);
        }
    }
}

static long peak_kb(void) {
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

static void a_long_text_takes_no_memory(void **state) {
    (void)state;
    sds text = sds_try_new_uninit(64 << 20);
    double value = 77;
    memset(text, '0', sds_len(text));
    long before = peak_kb();
    assert_true(number_parse_double(sds_slice(text), &value) && value == 0);
    text[sds_len(text) - 1] = 'y';
    assert_false(number_parse_double(sds_slice(text), &value));
    assert_true(peak_kb() - before < 16 << 10);
    sds_free(text);
}

static void texts_of_any_length_are_parsed(void **state) {
    (void)state;
    static const size_t lengths[] = {255, 256, 257, 5119, 5120, 1000000};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        size_t len = lengths[i];
        check_long_text("0", '0', "7", len, 7);
        check_long_text("-1.", '0', "1", len, -1);
        check_long_text("0.1", '3', "3", len, 0.1333333333333333333);
        check_long_text("0", '0', "1.5e-5", len, 1.5e-5);
        if (len < 400) continue;
        check_long_text("2", '0', "0", len, INFINITY);
        check_long_text("-2", '0', "0", len, -INFINITY);
        check_long_text("0.", '0', "1", len, 0);
    }
}

static void long_doubles_are_written_plainly_with_17_places(void **state) {
    (void)state;
    /* x86-64 has 64 bits of precision; processors with 113, such as arm64, show the digits as they were written. */
    static const char *const inexact = LDBL_MANT_DIG == 64 ? "3000.10000000000000009" : "3000.1";
    const struct {
        long double value;
        const char *text;
    } rows[] = {{0, "0"},
                {-0.0L, "0"},
                {-1e-30L, "0"},
                {1, "1"},
                {-10, "-10"},
                {100, "100"},
                {0.5L, "0.5"},
                {10.6L, "10.6"},
                {3.0e3L, "3000"},
                {3000.1L, inexact},
                {1e20L, "100000000000000000000"}};
    char text[LONG_DOUBLE_TEXT_MAX];
    long double back;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct slice written = slice_make(text, number_format_long_double(text, rows[i].value));
        assert_true(slice_equal(written, slice_of_cstr(rows[i].text)));
    }
    static const long double widest[] = {LDBL_MAX, -LDBL_MAX};
    for (size_t i = 0; i < 2; i++) {
        struct slice written = slice_make(text, number_format_long_double(text, widest[i]));
        assert_int_equal(written.len, 4933 + i);
        assert_true(number_parse_long_double(written, &back) && back == widest[i]);
    }
}

static void sizes_take_units_in_any_case(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } accepted[] = {{"0", 0},
                    {"100", 100},
                    {"1b", 1},
                    {"007", 7},
                    {"1k", 1000},
                    {"1kb", 1024},
                    {"2K", 2000},
                    {"3Kb", 3072},
                    {"1m", 1000000},
                    {"1MB", 1048576},
                    {"1g", 1000000000},
                    {"4gb", 4294967296},
                    {"18446744073709551615", UINT64_MAX}};
    for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
        uint64_t bytes = 77;
        assert_true(number_parse_memory(slice_of_cstr(accepted[i].text), &bytes));
        assert_true(bytes == accepted[i].bytes);
    }
    static const char *refused[] = {
        "", "-1", "kb", "1 kb", "1kib", "1.5g", "1tb", "+1", "18446744073709551615k", "1kbb"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        uint64_t bytes = 77;
        assert_false(number_parse_memory(slice_of_cstr(refused[i]), &bytes));
        assert_int_equal(bytes, 77);
    }
}

static void check_double_text(double value, const char *expected) {
    char text[DOUBLE_TEXT_MAX];
    size_t len = number_format_double(text, value);
    assert_string_equal(text, expected);
    assert_int_equal(len, strlen(expected));
}

static void doubles_are_written_in_the_shortest_plain_form(void **state) {
    (void)state;
    check_double_text(0, "0");
    check_double_text(-0.0, "-0");
    check_double_text(3, "3");
    check_double_text(-17, "-17");
    check_double_text(3.3, "3.3");
    check_double_text(0.1, "0.1");
    check_double_text(1.0 / 3, "0.3333333333333333");
    check_double_text(-0.00001, "-0.00001");
    check_double_text(1e-7, "1e-7");
    check_double_text(1.5e-10, "1.5e-10");
    check_double_text(123456789.125, "123456789.125");
    check_double_text(2251799813685249.5, "2251799813685249.5");
    check_double_text(467957031831174912.0, "467957031831174912");
    check_double_text(1e18, "1000000000000000000");
    check_double_text(4611686018427387904.0, "4611686018427387904");
    check_double_text(-4611686018427387904.0, "-4611686018427387904");
    check_double_text(4611686018427388928.0, "4611686018427389000");
    check_double_text(1e19, "1e+19");
    check_double_text(1.7976931348623157e308, "1.7976931348623157e+308");
    check_double_text(-2.2250738585072014e-308, "-2.2250738585072014e-308");
    check_double_text(5e-324, "5e-324");
    check_double_text(INFINITY, "inf");
    check_double_text(-INFINITY, "-inf");
    check_double_text(NAN, "nan");
}

static void doubles_read_back_the_same(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = random_next(&random);
        double value, back;
        memcpy(&value, &bits, sizeof(value));
        if (i % 2) value = (double)(int64_t)(bits >> i % 64) / (double)(1L << bits % 20);
        if (isnan(value)) continue;
        char text[DOUBLE_TEXT_MAX];
        size_t len = number_format_double(text, value);
        assert_true(len < DOUBLE_TEXT_MAX && text[len] == '\0');
        assert_true(number_parse_double(slice_make(text, len), &back));
        assert_true(back == value);
    }
}

/* The significant digits of a text, without zeros at either end. */
static void digits_of(const char *text, char *digits) {
    size_t count = 0;
    for (; *text && *text != 'e'; text++)
        if (number_is_digit(*text) && (count > 0 || *text != '0')) digits[count++] = *text;
    while (count > 0 && digits[count - 1] == '0') count--;
    digits[count] = '\0';
}

static void no_fewer_digits_would_do(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    for (int i = 0; i < 30000; i++) {
        char text[DOUBLE_TEXT_MAX], expected[DOUBLE_TEXT_MAX], digits[DOUBLE_TEXT_MAX];
        uint64_t integer = random_next(&random) >> random_below(&random, 64);
        double value = (double)(integer + 1) / pow(10, (double)random_below(&random, 30));
        if (i % 3 == 0) value += value / 3;
        int precision = 0;
        do {
            snprintf(text, sizeof(text), "%.*e", precision++, value);
        } while (strtod(text, NULL) != value);
        digits_of(text, expected);
        number_format_shortest(text, value);
        digits_of(text, digits);
        assert_string_equal(digits, expected);
    }
}

static void integers_are_shortened_by_exponents_on_demand(void **state) {
    (void)state;
    const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},        {-0.0, "-0"},      {1000, "1000"},      {-3, "-3"},
                 {1e8, "1e+8"},   {1e15, "1e+15"},   {0.1, "0.1"},        {1e-7, "1e-7"},
                 {1e21, "1e+21"}, {INFINITY, "inf"}, {-INFINITY, "-inf"}, {12345678, "12345678"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[DOUBLE_TEXT_MAX];
        size_t len = number_format_shortest(text, cases[i].value);
        assert_string_equal(text, cases[i].text);
        assert_int_equal(len, strlen(text));
    }
}

static void decimal_numbers_out_of_range_are_infinite_or_zero(void **state) {
    (void)state;
    const struct {
        const char *text;
        double value;
    } cases[] = {{"1.5", 1.5},  {"+2", 2},           {"5.", 5},
                 {".5", 0.5},   {"1e400", INFINITY}, {"-1e400", -INFINITY},
                 {"1e-400", 0}, {"inf", INFINITY},   {"-Infinity", -INFINITY}};
    const char *refused[] = {"", "x", "0x10", "-0X1", " 1", "1 ", "nan", "-nan", "1e", "1.5x"};
    double value = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(number_parse_decimal(slice_of_cstr(cases[i].text), &value));
        assert_true(value == cases[i].value);
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        assert_false(number_parse_decimal(slice_of_cstr(refused[i]), &value));
}

/* A decimal with up to `digits` digits. Returns its length. */
static size_t random_decimal(struct random *random, unsigned digits, char *text) {
    size_t len = 0, point = random_below(random, 2) ? random_below(random, digits + 1) : digits + 1;
    if (random_below(random, 2)) text[len++] = '-';
    for (unsigned i = 0; i < digits; i++) {
        if (i == point) text[len++] = '.';
        text[len++] = (char)('0' + random_below(random, 10));
    }
    text[len] = '\0';
    return len;
}

static void decimals_are_what_strtod_reads(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    for (int i = 0; i < 100000; i++) {
        char text[32], *digits = text;
        unsigned count = 1 + (unsigned)random_below(&random, 17);
        size_t len = random_decimal(&random, count, text);
        double expected = strtod(text, NULL), value = 77, whole = 77;
        if (*digits == '-') digits++;
        size_t read = number_read_decimal(slice_make(text, len), &value);
        assert_int_equal(read, count <= 15 && *digits != '.' ? len : 0);
        if (read > 0) assert_memory_equal(&value, &expected, sizeof(value));
        assert_true(number_parse_double(slice_make(text, len), &whole));
        assert_memory_equal(&whole, &expected, sizeof(whole));
        static const char ends[] = " .-ex5";
        text[len] = ends[random_below(&random, sizeof(ends) - 1)];
        text[len + 1] = '\0';
        char *end;
        expected = strtod(text, &end);
        read = number_read_decimal(slice_make(text, len + 1), &value);
        if (read > 0) assert_true(read == (size_t)(end - text) && value == expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_survive_text_and_back),
        cmocka_unit_test(integers_as_long_as_each_other_are_known),
        cmocka_unit_test(only_canonical_integers_are_accepted),
        cmocka_unit_test(random_texts_are_accepted_only_if_they_format_back),
        cmocka_unit_test(floating_point_texts_follow_strtod_but_for_blanks_and_nan),
        cmocka_unit_test(decimals_are_what_strtod_reads),
        cmocka_unit_test(texts_of_any_length_are_parsed),
        cmocka_unit_test(long_texts_are_what_strtod_reads),
        cmocka_unit_test(a_long_text_takes_no_memory),
        cmocka_unit_test(long_doubles_are_written_plainly_with_17_places),
        cmocka_unit_test(sizes_take_units_in_any_case),
        cmocka_unit_test(doubles_are_written_in_the_shortest_plain_form),
        cmocka_unit_test(no_fewer_digits_would_do),
        cmocka_unit_test(doubles_read_back_the_same),
        cmocka_unit_test(integers_are_shortened_by_exponents_on_demand),
        cmocka_unit_test(decimal_numbers_out_of_range_are_infinite_or_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
