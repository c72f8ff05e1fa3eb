/* geo_shape: circles, boxes and polygons on the Earth, and the cells (ds/places/geohash.h) that
 * cover one.
 *
 * A search visits the cells in their order, and in each the places whose numbers are in its range,
 * in the order of their numbers: so it finds the same places as Redis, in the same order. What it
 * may leave out is in the bounds: a rectangle outside of which nothing is in the shape. */
#ifndef PACKLIST_DS_PLACES_GEO_SHAPE_H
#define PACKLIST_DS_PLACES_GEO_SHAPE_H

#include "ds/places/geo_edges.h"
#include "ds/places/geohash.h"

#include <stddef.h>

enum geo_shape_type { GEO_CIRCLE, GEO_BOX, GEO_POLYGON };

/* Lengths in metres, not negative; infinite ones are allowed. */
struct geo_shape {
    enum geo_shape_type type;
    struct geo_point center; /* from which distances are measured; within the grid's limits */
    double radius;           /* of a circle */
    double width;            /* of a box, along the latitude of each place */
    double height;
    const struct geo_point *vertices; /* of a polygon, at least 3; a view */
    size_t vertex_count;
    struct geo_edges *edges; /* between the vertices; a view */
};

/* The centre of a polygon: the mean of the vertices, as vectors from the centre of the Earth.
 * O(vertices). */
struct geo_point geo_polygon_center(const struct geo_point *vertices, size_t count);

/* Returns whether the place is in the shape; then *distance gets its distance from the centre. The
 * edges of a polygon are straight in degrees and do not cross the limit of 180 degrees. O(1), for a
 * polygon as geo_edges_surround. */
bool geo_shape_contains(const struct geo_shape *shape, struct geo_point point, double *distance);

/* --- Cells --- */

enum { GEO_COVER_MAX = 9 };

/* In the order of a search; no two are equal. A circle or box that is large and near a pole may
 * have parts in none of them, as in Redis. */
struct geo_cover {
    unsigned count;
    struct geohash_cell cells[GEO_COVER_MAX];
};

/* O(1), O(vertices) for a polygon. */
void geo_cover(const struct geo_shape *shape, struct geo_cover *cover);

/* The numbers [*first, *end) of the places in the cell. */
void geo_cell_range(struct geohash_cell cell, uint64_t *first, uint64_t *end);

/* --- Bounds --- */

/* Where a search may find something. */
struct geo_bounds {
    struct geo_point center;
    double south, north; /* degrees of latitude */
    double reach;        /* degrees of longitude to both sides of the middle; at most 180 */
    double middle;

    /* A place at these degrees from the centre is too far away if the sum of their squares, each
     * multiplied by its factor, is above the limit. */
    double latitude_factor, longitude_factor, limit;
};

/* The bounds of a shape. O(1), O(vertices) for a polygon. */
void geo_bounds_of(const struct geo_shape *shape, struct geo_bounds *bounds);

/* Leaves out what is further from the centre than `radius`, and perhaps what is just as far. */
void geo_bounds_narrow(struct geo_bounds *bounds, double radius);

/* Returns whether the place is certainly too far away. A few nanoseconds. */
bool geo_bounds_exclude(const struct geo_bounds *bounds, struct geo_point point);

/* Makes the window of what is within the bounds in a cell. Returns false when nothing is. */
bool geo_bounds_window(const struct geo_bounds *bounds, struct geohash_cell cell,
                       struct geohash_window *window);

#endif
