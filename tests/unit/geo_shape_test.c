/* What is in a shape must not be left out: by its cells, its bounds and the windows of these. */
#include "ds/places/geo_shape.h"

#include "unit/seed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { VERTICES_MAX = 8 };

struct fixture {
    struct random random;
    struct geo_shape shape;
    struct geo_point vertices[VERTICES_MAX];
    struct geo_cover cover;
    struct geo_bounds bounds;
};

static double random_between(struct random *random, double low, double high) {
    return low + (high - low) * ((double)random_below(random, 1u << 30) / (1u << 30));
}

static double clamp(double value, double limit) {
    return fmin(fmax(value, -limit), limit);
}

/* The middle of a cell at most so many degrees away, on the other side of the limit of longitudes,
 * too. */
static struct geo_point random_near(struct random *random, struct geo_point center,
                                    double degrees) {
    double longitude = center.longitude + random_between(random, -degrees, degrees);
    double latitude = center.latitude + random_between(random, -degrees, degrees);
    struct geo_point point = {clamp(remainder(longitude, 360), GEOHASH_LONGITUDE_MAX),
                              clamp(latitude, GEOHASH_LATITUDE_MAX)};
    return geohash_point(geohash_of(point));
}

/* Anywhere, often at the limits. */
static struct geo_point random_center(struct random *random) {
    struct geo_point point = {random_between(random, -180, 180),
                              random_between(random, -GEOHASH_LATITUDE_MAX, GEOHASH_LATITUDE_MAX)};
    if (random_below(random, 4) == 0) point.longitude = random_below(random, 2) ? 180 : -180;
    if (random_below(random, 4) == 0)
        point.latitude = random_below(random, 2) ? GEOHASH_LATITUDE_MAX : -GEOHASH_LATITUDE_MAX;
    return point;
}

static double random_length(struct random *random) {
    static const double lengths[] = {0, 1e-3, 1, 1e3, 1e5, 3e6, 1.1e7, 3e7, 1e300, INFINITY};
    double most = lengths[random_below(random, sizeof(lengths) / sizeof(lengths[0]))];
    return isinf(most) ? most : most * random_between(random, 0.1, 1);
}

static void make_polygon(struct fixture *f) {
    double degrees = pow(10, random_between(&f->random, -4, 2));
    struct geo_point middle = random_center(&f->random);
    size_t count = 3 + (size_t)random_below(&f->random, VERTICES_MAX - 2);
    for (size_t i = 0; i < count; i++) f->vertices[i] = random_near(&f->random, middle, degrees);
    if (random_below(&f->random, 20) == 0) { /* the whole map, whose centre is on its limit */
        const double west = -GEOHASH_LONGITUDE_MAX, south = -GEOHASH_LATITUDE_MAX;
        const struct geo_point map[] = {
            {west, south}, {-west, south}, {-west, -south}, {west, -south}};
        memcpy(f->vertices, map, sizeof(map));
        count = 4;
    }
    f->shape = (struct geo_shape){.type = GEO_POLYGON,
                                  .center = geo_polygon_center(f->vertices, count),
                                  .vertices = f->vertices,
                                  .vertex_count = count,
                                  .edges = geo_edges_new(f->vertices, count)};
}

static void make_shape(struct fixture *f) {
    struct geo_shape *shape = &f->shape;
    geo_edges_free(shape->edges);
    *shape = (struct geo_shape){.type = (enum geo_shape_type)random_below(&f->random, 3),
                                .center = random_center(&f->random),
                                .radius = random_length(&f->random),
                                .width = random_length(&f->random),
                                .height = random_length(&f->random)};
    if (shape->type == GEO_POLYGON) make_polygon(f);
    geo_cover(shape, &f->cover);
    geo_bounds_of(shape, &f->bounds);
}

/* A place that is often in the shape, or at its edge. */
static struct geo_point random_candidate(struct fixture *f) {
    double reach = f->shape.radius;
    if (f->shape.type == GEO_BOX) reach = fmax(f->shape.width, f->shape.height);
    if (f->shape.type == GEO_POLYGON) reach = geo_distance(f->shape.center, f->vertices[0]) * 2;
    double degrees = fmin(geo_degrees(reach / GEO_EARTH_RADIUS) * 1.5, 180);
    double factor = random_below(&f->random, 2)
                        ? 1
                        : 1 / fmax(cos(geo_radians(f->shape.center.latitude)), 0.01);
    return random_near(&f->random, f->shape.center, fmin(degrees * factor, 180));
}

/* The cell of the cover with this number, or NULL. */
static const struct geohash_cell *cell_with(const struct fixture *f, uint64_t number) {
    const struct geohash_cell *found = NULL;
    for (unsigned i = 0; i < f->cover.count; i++) {
        uint64_t first, end;
        geo_cell_range(f->cover.cells[i], &first, &end);
        if (number < first || number >= end) continue;
        assert_null(found); /* no two cells overlap */
        found = &f->cover.cells[i];
    }
    return found;
}

static void assert_within(const struct geo_bounds *bounds, const struct geohash_cell *cell,
                          struct geo_point point) {
    struct geohash_window window;
    assert_false(geo_bounds_exclude(bounds, point));
    if (!cell) return;
    assert_true(geo_bounds_window(bounds, *cell, &window));
    assert_true(geohash_window_has(&window, geohash_of(point)));
}

static void nothing_in_a_shape_is_outside_its_bounds(void **state) {
    struct fixture *f = *state;
    size_t inside = 0;
    for (int round = 0; round < 3000; round++) {
        make_shape(f);
        for (int i = 0; i < 40; i++) {
            double distance, limit;
            struct geo_point point = random_candidate(f);
            if (!geo_shape_contains(&f->shape, point, &distance)) continue;
            inside++;
            const struct geohash_cell *cell = cell_with(f, geohash_of(point));
            if (f->shape.type == GEO_POLYGON) assert_non_null(cell);
            assert_within(&f->bounds, cell, point);
            struct geo_bounds narrow = f->bounds;
            limit = distance * random_between(&f->random, 1, 3);
            geo_bounds_narrow(&narrow, limit);
            assert_within(&narrow, cell, point);
        }
    }
    assert_true(inside > 5000);
}

static void small_shapes_away_from_the_poles_are_covered(void **state) {
    struct fixture *f = *state;
    for (int round = 0; round < 2000; round++) {
        make_shape(f);
        if (f->shape.type == GEO_POLYGON) continue;
        f->shape.center.latitude *= 0.7;
        f->shape.radius = random_between(&f->random, 0, 1e5);
        f->shape.width = random_between(&f->random, 0, 1e5);
        f->shape.height = random_between(&f->random, 0, 1e5);
        geo_cover(&f->shape, &f->cover);
        for (int i = 0; i < 40; i++) {
            double distance;
            struct geo_point point = random_candidate(f);
            bool beside_limit = fabs(point.longitude - f->shape.center.longitude) > 180 ||
                                fabs(f->shape.center.longitude) == 180;
            if (beside_limit || !geo_shape_contains(&f->shape, point, &distance)) continue;
            assert_non_null(cell_with(f, geohash_of(point)));
        }
    }
}

static void bounds_leave_out_most_of_what_is_far_away(void **state) {
    (void)state;
    struct geo_shape shape = {.type = GEO_CIRCLE, .center = {13, 52}, .radius = 1000};
    struct geo_bounds bounds;
    struct geohash_window window;
    geo_bounds_of(&shape, &bounds);
    assert_true(geo_bounds_exclude(&bounds, (struct geo_point){13, 52.01}));
    assert_true(geo_bounds_exclude(&bounds, (struct geo_point){13.02, 52}));
    assert_false(geo_bounds_exclude(&bounds, (struct geo_point){13.01, 52.005}));
    struct geohash_cell far_away = geohash_cell_of((struct geo_point){14, 52}, 10);
    assert_false(geo_bounds_window(&bounds, far_away, &window));
    struct geohash_cell here = geohash_cell_of(shape.center, 10);
    assert_true(geo_bounds_window(&bounds, here, &window));
    assert_false(geohash_window_has(&window, geohash_of((struct geo_point){13.02, 52})));
}

static void a_polygon_has_what_is_between_its_edges(void **state) {
    (void)state;
    /* A square with a notch from the north to its middle. */
    const struct geo_point notched[] = {{0, 0}, {10, 0}, {10, 10}, {5, 5}, {0, 10}};
    struct geo_edges *edges = geo_edges_new(notched, 5);
    struct geo_shape shape = {
        .type = GEO_POLYGON, .vertices = notched, .vertex_count = 5, .edges = edges};
    double distance;
    shape.center = geo_polygon_center(notched, 5);
    assert_true(geo_shape_contains(&shape, (struct geo_point){1, 8}, &distance));
    assert_true(geo_shape_contains(&shape, (struct geo_point){9, 8}, &distance));
    assert_true(geo_shape_contains(&shape, (struct geo_point){5, 4}, &distance));
    assert_false(geo_shape_contains(&shape, (struct geo_point){5, 6}, &distance));
    assert_false(geo_shape_contains(&shape, (struct geo_point){-1, 5}, &distance));
    assert_false(geo_shape_contains(&shape, (struct geo_point){11, 5}, &distance));
    geo_edges_free(edges);
}

static int setup(void **state) {
    static struct fixture f;
    f.random = random_of_this_run();
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    geo_edges_free(f->shape.edges);
    f->shape.edges = NULL;
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_in_a_shape_is_outside_its_bounds, setup, teardown),
        cmocka_unit_test_setup_teardown(small_shapes_away_from_the_poles_are_covered, setup,
                                        teardown),
        cmocka_unit_test(bounds_leave_out_most_of_what_is_far_away),
        cmocka_unit_test(a_polygon_has_what_is_between_its_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
