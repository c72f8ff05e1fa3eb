#include "ds/places/geo_shape.h"

#include "base/checked.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* --- Membership --- */

struct geo_point geo_polygon_center(const struct geo_point *vertices, size_t count) {
    double x = 0, y = 0, z = 0;
    for (size_t i = 0; i < count; i++) {
        double longitude = geo_radians(vertices[i].longitude);
        double latitude = geo_radians(vertices[i].latitude);
        x += cos(latitude) * cos(longitude);
        y += cos(latitude) * sin(longitude);
        z += sin(latitude);
    }
    struct geo_point center = {geo_degrees(atan2(y, x)),
                               geo_degrees(atan2(z, sqrt(x * x + y * y)))};
    /* The mean of vertices near a pole may be nearer to it than all of them. */
    center.latitude = fmin(fmax(center.latitude, -GEOHASH_LATITUDE_MAX), GEOHASH_LATITUDE_MAX);
    center.longitude = fmin(fmax(center.longitude, -GEOHASH_LONGITUDE_MAX), GEOHASH_LONGITUDE_MAX);
    return center;
}

static bool box_contains(const struct geo_shape *shape, struct geo_point point) {
    if (geo_latitude_distance(shape->center.latitude, point.latitude) > shape->height / 2)
        return false;
    struct geo_point below = {shape->center.longitude, point.latitude};
    return !(geo_distance(point, below) > shape->width / 2);
}

bool geo_shape_contains(const struct geo_shape *shape, struct geo_point point, double *distance) {
    if (shape->type == GEO_BOX && !box_contains(shape, point)) return false;
    if (shape->type == GEO_POLYGON && !geo_edges_surround(shape->edges, point)) return false;
    *distance = geo_distance(shape->center, point);
    return shape->type != GEO_CIRCLE || *distance <= shape->radius;
}

/* --- Cells --- */

/* The smallest rectangle around the vertices. */
static struct geohash_area polygon_area(const struct geo_shape *shape) {
    struct geohash_area area = {shape->vertices[0], shape->vertices[0]};
    for (size_t i = 1; i < shape->vertex_count; i++) {
        const struct geo_point *vertex = &shape->vertices[i];
        area.min.longitude = fmin(area.min.longitude, vertex->longitude);
        area.min.latitude = fmin(area.min.latitude, vertex->latitude);
        area.max.longitude = fmax(area.max.longitude, vertex->longitude);
        area.max.latitude = fmax(area.max.latitude, vertex->latitude);
    }
    return area;
}

/* The rectangle by which cells are chosen, as in Redis: near the poles it is not always large
 * enough, and not always within the limits. */
static struct geohash_area rectangle_around(const struct geo_shape *shape) {
    if (shape->type == GEO_POLYGON) return polygon_area(shape);
    struct geo_point center = shape->center;
    bool circle = shape->type == GEO_CIRCLE;
    double high = (circle ? shape->radius : shape->height / 2) / GEO_EARTH_RADIUS;
    double wide = (circle ? shape->radius : shape->width / 2) / GEO_EARTH_RADIUS;
    double latitudes = geo_degrees(high);
    double widest = center.latitude + (center.latitude < 0 ? -latitudes : latitudes);
    double longitudes = geo_degrees(wide / cos(geo_radians(widest)));
    return (struct geohash_area){{center.longitude - longitudes, center.latitude - latitudes},
                                 {center.longitude + longitudes, center.latitude + latitudes}};
}

/* How far the shape reaches from its centre, by which the size of the cells is chosen. */
static double reach_of(const struct geo_shape *shape, const struct geohash_area *around) {
    double width = shape->width / 2, height = shape->height / 2, reach = 0;
    if (shape->type == GEO_CIRCLE) return shape->radius;
    if (shape->type == GEO_BOX) return sqrt(width * width + height * height);
    const struct geo_point corners[] = {around->min,
                                        around->max,
                                        {around->min.longitude, around->max.latitude},
                                        {around->max.longitude, around->min.latitude}};
    for (size_t i = 0; i < sizeof(corners) / sizeof(corners[0]); i++)
        reach = fmax(reach, geo_distance(shape->center, corners[i]));
    return reach;
}

/* Larger cells for larger shapes, and near the poles, where the cells are narrow. */
static unsigned steps_for(double reach, double latitude) {
    const double half_equator = 20037726.37;
    int steps = -1;
    if (reach == 0) return GEOHASH_STEPS;
    for (; reach < half_equator; reach *= 2) steps++;
    if (fabs(latitude) > 66) steps--;
    if (fabs(latitude) > 80) steps--;
    if (steps < 1) return 1;
    return steps < GEOHASH_STEPS ? (unsigned)steps : GEOHASH_STEPS;
}

/* Returns whether a cell and its neighbours reach the ends of the rectangle. */
static bool reaches(struct geohash_cell cell, const struct geohash_area *around) {
    struct geohash_area north = geohash_cell_area(geohash_cell_beside(cell, 0, 1));
    struct geohash_area south = geohash_cell_area(geohash_cell_beside(cell, 0, -1));
    struct geohash_area east = geohash_cell_area(geohash_cell_beside(cell, 1, 0));
    struct geohash_area west = geohash_cell_area(geohash_cell_beside(cell, -1, 0));
    return !(
        north.max.latitude < around->max.latitude || south.min.latitude > around->min.latitude ||
        east.max.longitude < around->max.longitude || west.min.longitude > around->min.longitude);
}

/* The cell of the centre. On a limit it is the one beyond, from which not all others are reached.
 * No place on a limit is in a polygon, so it needs none of those. */
static struct geohash_cell middle_cell(const struct geo_shape *shape, unsigned steps) {
    struct geohash_cell cell = geohash_cell_of(shape->center, steps);
    uint32_t last = ((uint32_t)1 << steps) - 1;
    if (shape->type != GEO_POLYGON) return cell;
    if (cell.column > last) cell.column = last;
    if (cell.row > last) cell.row = last;
    return cell;
}

void geo_cover(const struct geo_shape *shape, struct geo_cover *cover) {
    /* Columns and rows from the centre; the north is up. */
    static const int order[GEO_COVER_MAX][2] = {{0, 0}, {0, 1},  {0, -1}, {1, 0},  {-1, 0},
                                                {1, 1}, {-1, 1}, {1, -1}, {-1, -1}};
    struct geohash_area around = rectangle_around(shape);
    unsigned steps = steps_for(reach_of(shape, &around), shape->center.latitude);
    struct geohash_cell middle = middle_cell(shape, steps);
    /* Redis takes larger cells only once; a polygon must not lose members. */
    for (bool again = true; again && steps > 1 && !reaches(middle, &around);) {
        middle = middle_cell(shape, --steps);
        again = shape->type == GEO_POLYGON;
    }
    struct geohash_area area = geohash_cell_area(middle);
    bool small = steps >= 2;
    bool no_south = small && area.min.latitude < around.min.latitude;
    bool no_north = small && area.max.latitude > around.max.latitude;
    bool no_west = small && area.min.longitude < around.min.longitude;
    bool no_east = small && area.max.longitude > around.max.longitude;
    cover->count = 0;
    for (size_t i = 0; i < GEO_COVER_MAX; i++) {
        int columns = order[i][0], rows = order[i][1];
        if ((rows < 0 && no_south) || (rows > 0 && no_north) || (columns < 0 && no_west) ||
            (columns > 0 && no_east))
            continue;
        struct geohash_cell cell = geohash_cell_beside(middle, columns, rows);
        /* Of two columns or rows, both neighbours of one are the same. */
        const struct geohash_cell *last = cover->count ? &cover->cells[cover->count - 1] : NULL;
        if (last && last->column == cell.column && last->row == cell.row) continue;
        cover->cells[cover->count++] = cell;
    }
}

void geo_cell_range(struct geohash_cell cell, uint64_t *first, uint64_t *end) {
    unsigned shift = 2 * (GEOHASH_STEPS - cell.steps);
    uint64_t number = geohash_cell_number(cell);
    *first = number << shift;
    *end = (number + 1) << shift;
}

/* --- Bounds ---
 *
 * All are a little wider than they must be, so that rounding never excludes a place that is in the
 * shape. */

static const double slack = 1e-9;         /* of a length */
static const double slack_degrees = 1e-7; /* a hundredth of a metre */

/* The angle with this sine, in degrees; 180 if it is near 1, where rounding counts, or above. */
static double reach_of_sine(double sine) {
    return sine < 0.99 ? geo_degrees(asin(sine)) * (1 + slack) + slack_degrees : 180;
}

/* cos() of the latitude in the bounds that is nearest to a pole. */
static double least_cosine(const struct geo_bounds *bounds) {
    double latitude = fmax(fabs(bounds->south), fabs(bounds->north));
    return latitude < 90 ? cos(geo_radians(latitude)) : 0;
}

/* sin(x) / x for the greatest x: at most what it is for all others. */
static double least_ratio(double degrees) {
    double x = geo_radians(fmin(fmax(degrees, slack_degrees), 180)) / 2;
    return sin(x) / x;
}

/* The haversine formula adds squares of sines, which the factors make squares of degrees. */
static void set_factors(struct geo_bounds *bounds, double radius) {
    double latitudes =
        fmax(bounds->center.latitude - bounds->south, bounds->north - bounds->center.latitude);
    double half_degree = geo_radians(0.5);
    double longitudes = bounds->reach + fabs(bounds->middle - bounds->center.longitude);
    double by_latitude = least_ratio(latitudes) * half_degree;
    double by_longitude = least_ratio(longitudes) * half_degree;
    double angle = (radius * (1 + slack) + 1e-3) / GEO_EARTH_RADIUS / 2;
    double sine = angle < pi / 2 ? sin(angle) : 1;
    bounds->latitude_factor = by_latitude * by_latitude;
    bounds->longitude_factor = by_longitude * by_longitude *
                               cos(geo_radians(bounds->center.latitude)) * least_cosine(bounds);
    bounds->limit = sine * sine * (1 + slack);
}

void geo_bounds_narrow(struct geo_bounds *bounds, double radius) {
    double angle = radius * (1 + slack) / GEO_EARTH_RADIUS;
    double latitudes = geo_degrees(angle) + slack_degrees;
    double latitude = fabs(bounds->center.latitude);
    bounds->south = fmax(bounds->south, bounds->center.latitude - latitudes);
    bounds->north = fmin(bounds->north, bounds->center.latitude + latitudes);
    if (bounds->middle == bounds->center.longitude && latitude + latitudes < 90) {
        double sine = sin(angle) / cos(geo_radians(latitude));
        bounds->reach = fmin(bounds->reach, reach_of_sine(sine));
    }
    set_factors(bounds, radius);
}

void geo_bounds_of(const struct geo_shape *shape, struct geo_bounds *bounds) {
    struct geo_point center = shape->center;
    *bounds = (struct geo_bounds){.center = center,
                                  .south = -90,
                                  .north = 90,
                                  .reach = 180,
                                  .middle = center.longitude,
                                  .limit = INFINITY};
    if (shape->type == GEO_CIRCLE) {
        geo_bounds_narrow(bounds, shape->radius);
        return;
    }
    if (shape->type == GEO_POLYGON) {
        struct geohash_area area = polygon_area(shape);
        bounds->south = area.min.latitude - slack_degrees;
        bounds->north = area.max.latitude + slack_degrees;
        bounds->middle = (area.min.longitude + area.max.longitude) / 2;
        bounds->reach = (area.max.longitude - area.min.longitude) / 2 + slack_degrees;
        return;
    }
    double latitudes =
        geo_degrees(shape->height / 2 * (1 + slack) / GEO_EARTH_RADIUS) + slack_degrees;
    bounds->south = fmax(-90, center.latitude - latitudes);
    bounds->north = fmin(90, center.latitude + latitudes);
    double angle = shape->width * (1 + slack) / GEO_EARTH_RADIUS / 4;
    double cosine = least_cosine(bounds);
    if (angle < pi / 2 && cosine > 0)
        bounds->reach = fmin(2 * reach_of_sine(sin(angle) / cosine), 180);
}

bool geo_bounds_exclude(const struct geo_bounds *bounds, struct geo_point point) {
    double latitudes = point.latitude - bounds->center.latitude;
    double longitudes = fabs(point.longitude - bounds->center.longitude);
    if (longitudes > 180) longitudes = 360 - longitudes;
    return latitudes * latitudes * bounds->latitude_factor +
               longitudes * longitudes * bounds->longitude_factor >
           bounds->limit;
}

/* Leaves of the parts [*from, *to] those in [low, high]. Returns false when there are none. */
static bool clip(int64_t *from, int64_t *to, int64_t low, int64_t high) {
    if (low > *from) *from = low;
    if (high < *to) *to = high;
    return *from <= *to;
}

/* The part of the finest grid in which a coordinate is; it may be beyond the limits. */
static int64_t part_at(double degrees, double limit) {
    return (int64_t)floor((degrees + limit) / (2 * limit) * (1 << GEOHASH_STEPS));
}

/* The same for columns, which continue from the last one to the first. What lies at both ends of
 * the cell leaves all of it. */
static bool clip_columns(const struct geo_bounds *bounds, int64_t *from, int64_t *to) {
    const int64_t around = (int64_t)1 << GEOHASH_STEPS;
    if (bounds->reach >= 180) return true;
    int64_t low = part_at(bounds->middle - bounds->reach, GEOHASH_LONGITUDE_MAX);
    int64_t high = part_at(bounds->middle + bounds->reach, GEOHASH_LONGITUDE_MAX);
    int64_t first = *from, last = *to;
    unsigned pieces = 0;
    for (int64_t turn = -around; turn <= around; turn += around) {
        int64_t begin = first, end = last;
        if (!clip(&begin, &end, low + turn, high + turn)) continue;
        *from = begin;
        *to = end;
        pieces++;
    }
    if (pieces > 1) *from = first, *to = last;
    return pieces > 0;
}

bool geo_bounds_window(const struct geo_bounds *bounds, struct geohash_cell cell,
                       struct geohash_window *window) {
    unsigned shift = GEOHASH_STEPS - cell.steps;
    int64_t size = (int64_t)1 << shift;
    int64_t west = (int64_t)cell.column << shift, east = west + size - 1;
    int64_t south = (int64_t)cell.row << shift, north = south + size - 1;
    /* What lies on the limits has cells beyond them. */
    bool beyond = cell.column >> cell.steps || cell.row >> cell.steps;
    if (!beyond && !(clip(&south, &north, part_at(bounds->south, GEOHASH_LATITUDE_MAX),
                          part_at(bounds->north, GEOHASH_LATITUDE_MAX)) &&
                     clip_columns(bounds, &west, &east)))
        return false;
    *window = geohash_window((uint32_t)west, (uint32_t)east, (uint32_t)south, (uint32_t)north);
    return true;
}
