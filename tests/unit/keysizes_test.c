/* The text of INFO keysizes. */
#include "admin/info.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void assert_text(const struct size_histogram *histogram, const char *expected) {
    sds text = info_append_distribution(sds_new(SLICE("")), 7, histogram);
    assert_string_equal(text, expected);
    sds_free(text);
}

static void without_values_there_is_no_line(void **state) {
    (void)state;
    struct size_histogram histogram = {0};
    assert_text(&histogram, "");
    size_histogram_add(&histogram, VALUE_STRING, 5);
    size_histogram_remove(&histogram, VALUE_STRING, 5);
    assert_text(&histogram, "");
    size_histogram_free(&histogram);
}

static void buckets_have_names_with_units(void **state) {
    (void)state;
    struct size_histogram histogram = {0};
    size_histogram_add(&histogram, VALUE_STRING, 0);
    for (unsigned bit = 0; bit < 63; bit++)
        for (unsigned count = 0; count <= bit; count++)
            size_histogram_add(&histogram, VALUE_STRING, (uint64_t)1 << bit);
    assert_text(&histogram,
                "db7_distrib_strings_sizes:0=1,1=1,2=2,4=3,8=4,16=5,32=6,64=7,128=8,256=9,512=10,"
                "1K=11,2K=12,4K=13,8K=14,16K=15,32K=16,64K=17,128K=18,256K=19,512K=20,"
                "1M=21,2M=22,4M=23,8M=24,16M=25,32M=26,64M=27,128M=28,256M=29,512M=30,"
                "1G=31,2G=32,4G=33,8G=34,16G=35,32G=36,64G=37,128G=38,256G=39,512G=40,"
                "1T=41,2T=42,4T=43,8T=44,16T=45,32T=46,64T=47,128T=48,256T=49,512T=50,"
                "1P=51,2P=52,4P=53,8P=54,16P=55,32P=56,64P=57,128P=58,256P=59,512P=60,"
                "1E=61,2E=62,4E=63\r\n");
    size_histogram_free(&histogram);
}

static void each_type_has_its_line(void **state) {
    (void)state;
    struct size_histogram histogram = {0};
    for (unsigned type = 0; type < VALUE_TYPES; type++) {
        size_histogram_add(&histogram, (enum value_type)type, 1023);
        size_histogram_add(&histogram, (enum value_type)type, type);
    }
    assert_text(&histogram, "db7_distrib_strings_sizes:0=1,512=1\r\n"
                            "db7_distrib_lists_items:1=1,512=1\r\n"
                            "db7_distrib_sets_items:2=1,512=1\r\n"
                            "db7_distrib_zsets_items:2=1,512=1\r\n"
                            "db7_distrib_hashes_items:4=1,512=1\r\n");
    size_histogram_free(&histogram);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_values_there_is_no_line),
        cmocka_unit_test(buckets_have_names_with_units),
        cmocka_unit_test(each_type_has_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
