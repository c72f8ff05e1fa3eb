/* geohash: places on the Earth as cells of a grid, and distances between them.
 *
 * The grid has 2^26 columns of longitude and 2^26 rows of latitude, which end at 85.05112878
 * degrees (where the map of the Mercator projection is a square). The number of a cell interleaves
 * their bits, so that each prefix of it is a larger cell:
 *
 *      bit     51 50 49 48 …  1  0
 *              x  y  x  y  …  x  y       x: a bit of the column, y: of the row
 *
 * A cell's number is a member's score in a sorted set, as in Redis. A place on the upper limit of a
 * coordinate lies in column or row 2^26, which the grid does not have: its bit 53 or 52 is set, as
 * there.
 *
 * Results agree with Redis to the last digit: the order of the operations counts. All functions are
 * O(1). */
#ifndef PACKLIST_DS_PLACES_GEOHASH_H
#define PACKLIST_DS_PLACES_GEOHASH_H

#include <stdbool.h>
#include <stdint.h>

enum { GEOHASH_STEPS = 26 };       /* bits of a column or row */
enum { GEOHASH_TEXT_LENGTH = 11 }; /* of a geohash in base 32 */

#define GEOHASH_LONGITUDE_MAX 180.0
#define GEOHASH_LATITUDE_MAX  85.05112878

/* In degrees. */
struct geo_point {
    double longitude;
    double latitude;
};

/* Metres. */
#define GEO_EARTH_RADIUS 6372797.560856

/* Returns whether the place is within the limits of the grid. NaN is not. */
bool geohash_covers(struct geo_point point);

/* --- Cells --- */

/* A column and a row of the grid with 2^steps of each, or the numbers of a cell in it. */
struct geohash_cell {
    uint32_t column;
    uint32_t row;
    unsigned steps; /* 1 … GEOHASH_STEPS */
};

/* Where a cell ends, in degrees. */
struct geohash_area {
    struct geo_point min;
    struct geo_point max;
};

/* The cell of a place within the limits, in a grid of so many steps; the part of the Earth that a
 * cell is; its number. */
struct geohash_cell geohash_cell_of(struct geo_point point, unsigned steps);
struct geohash_area geohash_cell_area(struct geohash_cell cell);
uint64_t geohash_cell_number(struct geohash_cell cell);

/* The cell that is `columns` and `rows` (-1, 0 or 1) further east and north. Both directions wrap
 * around at the limits of the grid. */
struct geohash_cell geohash_cell_beside(struct geohash_cell cell, int columns, int rows);

/* The number of a place within the limits, in the finest grid; the centre of a cell of it, within
 * the limits. */
uint64_t geohash_of(struct geo_point point);
struct geo_point geohash_point(uint64_t number);

/* The number that a score stands for, whatever it is: what is behind the point is left out, and
 * what exceeds 64 bits is some number. `score` is not NaN. */
uint64_t geohash_of_score(double score);

/* The standard geohash of a place in base 32, whose latitude ends at 90 degrees. The last character
 * is always '0', for which a number has too few bits. Without terminator. */
void geohash_text(struct geo_point point, char text[GEOHASH_TEXT_LENGTH]);

/* --- Distances, in metres, on a sphere --- */

/* Along the great circle, by the haversine formula. */
double geo_distance(struct geo_point a, struct geo_point b);

/* Between two latitudes, in degrees, on one meridian. */
double geo_latitude_distance(double a, double b);

/* Degrees to radians, and back. */
double geo_radians(double degrees);
double geo_degrees(double radians);

/* --- Windows: which cells lie in a rectangle of columns and rows --- */

/* The numbers of its first and its last corner in the finest grid. */
struct geohash_window {
    uint64_t first; /* the lowest column and row */
    uint64_t last;  /* the highest ones */
};

struct geohash_window geohash_window(uint32_t column_min, uint32_t column_max, uint32_t row_min,
                                     uint32_t row_max);

/* Returns whether the cell lies in the window. Two comparisons each for column and row. */
bool geohash_window_has(const struct geohash_window *window, uint64_t number);

/* Finds the lowest number of a cell in the window that is above `number`, whose cell is not in it.
 * Returns false when there is none. O(bits). It is BIGMIN of Tropf and Herzog. */
bool geohash_window_next(const struct geohash_window *window, uint64_t number, uint64_t *next);

#endif
