/* Whichever edges are listed, a place is in a polygon as if all edges were looked at. */
#include "ds/places/geo_edges.h"

#include "base/memory/alloc.h"
#include "unit/seed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { VERTICES_MAX = 200, PLACES = 2000, ROUNDS = 100 };

static double random_between(struct random *random, double low, double high) {
    return low + (high - low) * ((double)random_below(random, 1u << 30) / (1u << 30));
}

/* What the ray to the east crosses, edge by edge. */
static bool model_has(const struct geo_point *vertices, size_t count, struct geo_point point) {
    bool is_inside = false;
    for (size_t i = 0, before = count - 1; i < count; before = i++) {
        struct geo_point from = vertices[before], to = vertices[i];
        if ((to.latitude > point.latitude) == (from.latitude > point.latitude)) continue;
        double share = (point.latitude - to.latitude) / (from.latitude - to.latitude);
        double crossing = to.longitude + share * (from.longitude - to.longitude);
        if (point.longitude < crossing) is_inside = !is_inside;
    }
    return is_inside;
}

/* Vertices on a circle, to and fro between two parallels, or anywhere; often with coordinates that
 * are also limits of cells. */
static size_t random_polygon(struct random *random, struct geo_point *vertices, double degrees) {
    const double pi = 3.14159265358979323846;
    size_t count = 3 + (size_t)random_below(random, VERTICES_MAX - 2);
    uint64_t kind = random_below(random, 3);
    bool rounds = random_below(random, 2);
    for (size_t i = 0; i < count; i++) {
        double angle = 2 * pi * (double)i / (double)count, along = (double)i / (double)count;
        double x = random_between(random, -1, 1), y = random_between(random, -1, 1);
        if (kind == 0) x = cos(angle), y = sin(angle);
        if (kind == 1) x = 2 * along - 1, y = i % 2 ? 1 : -1;
        vertices[i] = (struct geo_point){x * degrees, y * fmin(degrees, GEOHASH_LATITUDE_MAX)};
        if (rounds) vertices[i].longitude = 45.0 / 64 * round(vertices[i].longitude * 64 / 45);
        if (rounds && random_below(random, 2))
            vertices[i].latitude =
                GEOHASH_LATITUDE_MAX / 64 * round(vertices[i].latitude * 64 / GEOHASH_LATITUDE_MAX);
    }
    return count;
}

static int compare_numbers(const void *a, const void *b) {
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return first < second ? -1 : first > second;
}

static void a_place_is_inside_as_if_all_edges_were_looked_at(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    struct geo_point vertices[VERTICES_MAX];
    static uint64_t numbers[PLACES];
    size_t inside = 0, outside = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double degrees = pow(10, random_between(&random, -3, 2));
        size_t count = random_polygon(&random, vertices, degrees);
        struct geo_edges *edges = geo_edges_new(vertices, count);
        for (size_t i = 0; i < PLACES; i++) {
            double latitude = fmin(degrees, GEOHASH_LATITUDE_MAX);
            struct geo_point near = {random_between(&random, -1.2, 1.2) * degrees,
                                     random_between(&random, -1, 1) * latitude};
            if (random_below(&random, 10) == 0) near = vertices[random_below(&random, count)];
            numbers[i] = geohash_of(near);
        }
        if (round % 4) qsort(numbers, PLACES, sizeof(*numbers), compare_numbers);
        for (size_t i = 0; i < PLACES; i++) {
            struct geo_point place = geohash_point(numbers[i]);
            bool expected = model_has(vertices, count, place);
            assert_int_equal(geo_edges_surround(edges, place), expected);
            expected ? inside++ : outside++;
        }
        geo_edges_free(edges);
    }
    assert_true(inside > 1000 && outside > 1000);
}

/* Also places that are no middle of a cell, and those on the limits of the grid. */
static void places_on_limits_of_cells_and_edges_are_told_apart(void **state) {
    (void)state;
    struct geo_point vertices[VERTICES_MAX];
    struct random random = random_of_this_run();
    for (int round = 0; round < ROUNDS; round++) {
        size_t count = random_polygon(&random, vertices, 180);
        struct geo_edges *edges = geo_edges_new(vertices, count);
        for (int i = 0; i <= 128 * 128; i++) {
            struct geo_point place = {180 * (i % 129 - 64) / 64.0,
                                      GEOHASH_LATITUDE_MAX * (i / 129 - 64) / 64};
            assert_int_equal(geo_edges_surround(edges, place), model_has(vertices, count, place));
        }
        geo_edges_free(edges);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_is_inside_as_if_all_edges_were_looked_at),
        cmocka_unit_test(places_on_limits_of_cells_and_edges_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
