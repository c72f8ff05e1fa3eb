/* Cells, distances and windows, against known values and naive versions. */
#include "ds/places/geohash.h"

#include "unit/seed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct geo_point palermo = {13.361389, 38.115556}, catania = {15.087269, 37.502669};

static double random_between(struct random *random, double low, double high) {
    return low + (high - low) * ((double)random_below(random, 1u << 30) / (1u << 30));
}

static struct geo_point random_point(struct random *random) {
    return (struct geo_point){random_between(random, -GEOHASH_LONGITUDE_MAX, GEOHASH_LONGITUDE_MAX),
                              random_between(random, -GEOHASH_LATITUDE_MAX, GEOHASH_LATITUDE_MAX)};
}

static void assert_text(struct geo_point point, const char *expected) {
    char text[GEOHASH_TEXT_LENGTH];
    geohash_text(point, text);
    assert_memory_equal(text, expected, GEOHASH_TEXT_LENGTH);
}

static void known_places_have_the_numbers_that_redis_gives_them(void **state) {
    (void)state;
    assert_true(geohash_of(palermo) == 3479099956230698);
    assert_true(geohash_of(catania) == 3479447370796909);
    struct geo_point there = geohash_point(3479099956230698);
    assert_true(there.longitude == 13.361389338970184 && there.latitude == 38.1155563954963);
    assert_text(there, "sqc8b49rny0");
    assert_text(geohash_point(3479447370796909), "sqdtr74hyu0");
    double distance = geo_distance(there, geohash_point(3479447370796909));
    assert_true(fabs(distance - 166274.1516) < 0.0001);
}

static void places_on_the_limits_have_a_column_or_row_of_their_own(void **state) {
    (void)state;
    assert_true(geohash_of((struct geo_point){-180, -GEOHASH_LATITUDE_MAX}) == 0);
    assert_true(geohash_of((struct geo_point){180, -GEOHASH_LATITUDE_MAX}) == (uint64_t)1 << 53);
    assert_true(geohash_of((struct geo_point){-180, GEOHASH_LATITUDE_MAX}) == (uint64_t)1 << 52);
    struct geo_point corner = geohash_point((uint64_t)3 << 52);
    assert_true(corner.longitude == 180 && corner.latitude == GEOHASH_LATITUDE_MAX);
    assert_true(geohash_covers(corner));
    assert_false(geohash_covers((struct geo_point){180.0000001, 0}));
    assert_false(geohash_covers((struct geo_point){0, -85.1}));
    assert_false(geohash_covers((struct geo_point){NAN, 0}));
    assert_false(geohash_covers((struct geo_point){0, INFINITY}));
}

static void every_score_stands_for_some_number(void **state) {
    (void)state;
    assert_true(geohash_of_score(1.9) == 1 && geohash_of_score(0) == 0);
    assert_true(geohash_of_score(-1) == UINT64_MAX && geohash_of_score(-0.5) == 0);
    assert_true(geohash_of_score(9223372036854775808.0) == (uint64_t)1 << 63);
    assert_true(geohash_of_score(18446744073709551616.0) == 0);
    assert_true(geohash_of_score(INFINITY) == 0);
    assert_true(geohash_of_score(-INFINITY) == (uint64_t)1 << 63);
    const double odd[] = {-1, -1e300, INFINITY, -INFINITY, 1e18, 1e300, 0.5};
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
        assert_true(geohash_covers(geohash_point(geohash_of_score(odd[i]))));
}

static void a_cell_contains_its_places_and_is_found_by_its_centre(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    for (int i = 0; i < 20000; i++) {
        struct geo_point point = random_point(&random);
        uint64_t number = geohash_of(point);
        assert_true(number < (uint64_t)1 << 52);
        assert_true(geohash_of(geohash_point(number)) == number);
        unsigned steps = 1 + (unsigned)random_below(&random, GEOHASH_STEPS);
        struct geohash_cell cell = geohash_cell_of(point, steps);
        assert_true(geohash_cell_number(cell) == number >> 2 * (GEOHASH_STEPS - steps));
        struct geohash_area area = geohash_cell_area(cell);
        assert_true(area.min.longitude <= point.longitude && point.longitude <= area.max.longitude);
        assert_true(area.min.latitude <= point.latitude && point.latitude <= area.max.latitude);
        int columns = (int)random_below(&random, 3) - 1, rows = (int)random_below(&random, 3) - 1;
        struct geohash_cell beside = geohash_cell_beside(cell, columns, rows);
        struct geohash_cell back = geohash_cell_beside(beside, -columns, -rows);
        assert_true(geohash_cell_number(back) == geohash_cell_number(cell));
        struct geohash_area there = geohash_cell_area(beside);
        if (columns > 0 && beside.column) assert_true(there.min.longitude == area.max.longitude);
        if (rows < 0 && cell.row) assert_true(there.max.latitude == area.min.latitude);
    }
}

static void distances_follow_the_sphere(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    double quarter = GEO_EARTH_RADIUS * acos(0);
    struct geo_point origin = {0, 0}, east = {90, 0}, opposite = {180, 0};
    assert_true(geo_distance(palermo, palermo) == 0);
    assert_true(fabs(geo_distance(origin, east) - quarter) < 1e-6);
    assert_true(fabs(geo_distance(origin, opposite) - 2 * quarter) < 1e-6);
    for (int i = 0; i < 1000; i++) {
        struct geo_point a = random_point(&random), b = random_point(&random);
        double distance = geo_distance(a, b);
        assert_true(distance >= 0 && distance <= 2 * quarter);
        assert_true(fabs(distance - geo_distance(b, a)) < 1e-6);
        assert_true(geo_latitude_distance(a.latitude, b.latitude) <= distance + 1e-6);
        struct geo_point far_side = {a.longitude > 0 ? a.longitude - 180 : a.longitude + 180,
                                     -a.latitude};
        assert_true(fabs(geo_distance(a, far_side) - 2 * quarter) < 1);
    }
}

/* The column and row of a small number, bit by bit. */
static void take_apart(uint64_t number, uint32_t *column, uint32_t *row) {
    *column = *row = 0;
    for (unsigned bit = 0; bit < 32; bit++) {
        *row |= (uint32_t)(number >> 2 * bit & 1) << bit;
        *column |= (uint32_t)(number >> (2 * bit + 1) & 1) << bit;
    }
}

static void the_next_cell_of_a_window_is_the_one_that_a_walk_finds(void **state) {
    (void)state;
    enum { SIDE = 32 };
    struct random random = random_of_this_run();
    for (int round = 0; round < 300; round++) {
        uint32_t west = (uint32_t)random_below(&random, SIDE);
        uint32_t south = (uint32_t)random_below(&random, SIDE);
        uint32_t east = west + (uint32_t)random_below(&random, SIDE - west);
        uint32_t north = south + (uint32_t)random_below(&random, SIDE - south);
        struct geohash_window window = geohash_window(west, east, south, north);
        uint64_t after = UINT64_MAX, next = 0;
        for (uint64_t number = SIDE * SIDE; number-- > 0;) {
            uint32_t column, row;
            take_apart(number, &column, &row);
            bool inside = column >= west && column <= east && row >= south && row <= north;
            assert_true(geohash_window_has(&window, number) == inside);
            if (inside) {
                after = number;
                continue;
            }
            assert_true(geohash_window_next(&window, number, &next) == (after != UINT64_MAX));
            if (after != UINT64_MAX) assert_true(next == after);
        }
        assert_true(after == window.first);
        assert_false(geohash_window_next(&window, (uint64_t)1 << 52, &next));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_places_have_the_numbers_that_redis_gives_them),
        cmocka_unit_test(places_on_the_limits_have_a_column_or_row_of_their_own),
        cmocka_unit_test(every_score_stands_for_some_number),
        cmocka_unit_test(a_cell_contains_its_places_and_is_found_by_its_centre),
        cmocka_unit_test(distances_follow_the_sphere),
        cmocka_unit_test(the_next_cell_of_a_window_is_the_one_that_a_walk_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
