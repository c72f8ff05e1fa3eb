#include "ds/places/geohash.h"

#include "base/checked.h"

#include <math.h>
#include <stddef.h>

/* Bits of the row are even, those of the column odd. */
static const uint64_t row_bits = 0x5555555555555555, column_bits = 0xAAAAAAAAAAAAAAAA;

bool geohash_covers(struct geo_point point) {
    return fabs(point.longitude) <= GEOHASH_LONGITUDE_MAX &&
           fabs(point.latitude) <= GEOHASH_LATITUDE_MAX;
}

/* --- Interleaving --- */

/* The bits of `value` as the even bits of the result; and back: other bits are ignored. */
static uint64_t spread(uint32_t value) {
    uint64_t bits = value;
    bits = (bits | bits << 16) & 0x0000FFFF0000FFFF;
    bits = (bits | bits << 8) & 0x00FF00FF00FF00FF;
    bits = (bits | bits << 4) & 0x0F0F0F0F0F0F0F0F;
    bits = (bits | bits << 2) & 0x3333333333333333;
    return (bits | bits << 1) & row_bits;
}

static uint32_t gather(uint64_t bits) {
    bits &= row_bits;
    bits = (bits | bits >> 1) & 0x3333333333333333;
    bits = (bits | bits >> 2) & 0x0F0F0F0F0F0F0F0F;
    bits = (bits | bits >> 4) & 0x00FF00FF00FF00FF;
    bits = (bits | bits >> 8) & 0x0000FFFF0000FFFF;
    return (uint32_t)(bits | bits >> 16);
}

static uint64_t interleave(uint32_t column, uint32_t row) {
    return spread(row) | spread(column) << 1;
}

/* --- Cells --- */

/* The place of `value` between the limits, in 2^steps parts. */
static uint32_t part_of(double value, double limit, unsigned steps) {
    double offset = (value + limit) / (limit + limit);
    return (uint32_t)(offset * (double)((uint64_t)1 << steps));
}

/* Where a part begins. */
static double part_begin(uint64_t part, double limit, unsigned steps) {
    return -limit + ((double)part / (double)((uint64_t)1 << steps)) * (limit + limit);
}

struct geohash_cell geohash_cell_of(struct geo_point point, unsigned steps) {
    CHECKED_ASSERT(geohash_covers(point) && steps >= 1 && steps <= GEOHASH_STEPS);
    return (struct geohash_cell){part_of(point.longitude, GEOHASH_LONGITUDE_MAX, steps),
                                 part_of(point.latitude, GEOHASH_LATITUDE_MAX, steps), steps};
}

struct geohash_area geohash_cell_area(struct geohash_cell cell) {
    uint64_t column = cell.column, row = cell.row;
    return (struct geohash_area){{part_begin(column, GEOHASH_LONGITUDE_MAX, cell.steps),
                                  part_begin(row, GEOHASH_LATITUDE_MAX, cell.steps)},
                                 {part_begin(column + 1, GEOHASH_LONGITUDE_MAX, cell.steps),
                                  part_begin(row + 1, GEOHASH_LATITUDE_MAX, cell.steps)}};
}

uint64_t geohash_cell_number(struct geohash_cell cell) {
    return interleave(cell.column, cell.row);
}

/* A part beyond the limit stays there if it does not move. */
static uint32_t moved(uint32_t part, int by, unsigned steps) {
    return by == 0 ? part : (part + (uint32_t)by) & (((uint32_t)1 << steps) - 1);
}

struct geohash_cell geohash_cell_beside(struct geohash_cell cell, int columns, int rows) {
    return (struct geohash_cell){moved(cell.column, columns, cell.steps),
                                 moved(cell.row, rows, cell.steps), cell.steps};
}

uint64_t geohash_of(struct geo_point point) {
    return geohash_cell_number(geohash_cell_of(point, GEOHASH_STEPS));
}

static double within(double value, double limit) {
    if (value > limit) return limit;
    return value < -limit ? -limit : value;
}

struct geo_point geohash_point(uint64_t number) {
    struct geohash_cell cell = {gather(number >> 1), gather(number), GEOHASH_STEPS};
    struct geohash_area area = geohash_cell_area(cell);
    return (struct geo_point){
        within((area.min.longitude + area.max.longitude) / 2, GEOHASH_LONGITUDE_MAX),
        within((area.min.latitude + area.max.latitude) / 2, GEOHASH_LATITUDE_MAX)};
}

/* As the conversion of an x86-64 processor, which C leaves open for such numbers. */
uint64_t geohash_of_score(double score) {
    const double limit = 9223372036854775808.0; /* 2^63 */
    CHECKED_ASSERT(score == score);
    if (score >= 2 * limit) return 0;
    if (score >= 0) return (uint64_t)score;
    return score >= -limit ? (uint64_t)(int64_t)score : (uint64_t)1 << 63;
}

void geohash_text(struct geo_point point, char text[GEOHASH_TEXT_LENGTH]) {
    static const char digits[] = "0123456789bcdefghjkmnpqrstuvwxyz";
    enum { DIGIT_BITS = 5, CELL_BITS = 2 * GEOHASH_STEPS };
    uint64_t bits = interleave(part_of(point.longitude, GEOHASH_LONGITUDE_MAX, GEOHASH_STEPS),
                               part_of(point.latitude, 90, GEOHASH_STEPS));
    for (unsigned i = 0; i < GEOHASH_TEXT_LENGTH - 1; i++)
        text[i] = digits[bits >> (CELL_BITS - DIGIT_BITS * (i + 1)) & 31];
    text[GEOHASH_TEXT_LENGTH - 1] = '0';
}

/* --- Distances --- */

static const double radians_per_degree = 3.14159265358979323846 / 180;

double geo_radians(double degrees) {
    return degrees * radians_per_degree;
}

double geo_degrees(double radians) {
    return radians / radians_per_degree;
}

double geo_latitude_distance(double a, double b) {
    return GEO_EARTH_RADIUS * fabs(geo_radians(b) - geo_radians(a));
}

double geo_distance(struct geo_point a, struct geo_point b) {
    double v = sin((geo_radians(b.longitude) - geo_radians(a.longitude)) / 2);
    if (v == 0) return geo_latitude_distance(a.latitude, b.latitude);
    double from = geo_radians(a.latitude), to = geo_radians(b.latitude);
    double u = sin((to - from) / 2);
    double chord = u * u + cos(from) * cos(to) * v * v;
    /* Rounding may bring it above 1 for points on opposite sides of the Earth. */
    return 2 * GEO_EARTH_RADIUS * asin(fmin(sqrt(chord), 1));
}

/* --- Windows --- */

struct geohash_window geohash_window(uint32_t column_min, uint32_t column_max, uint32_t row_min,
                                     uint32_t row_max) {
    CHECKED_ASSERT(column_min <= column_max && row_min <= row_max);
    return (struct geohash_window){interleave(column_min, row_min),
                                   interleave(column_max, row_max)};
}

/* Interleaved bits have the order of the part that they are bits of. */
bool geohash_window_has(const struct geohash_window *window, uint64_t number) {
    uint64_t column = number & column_bits, row = number & row_bits;
    return column >= (window->first & column_bits) && column <= (window->last & column_bits) &&
           row >= (window->first & row_bits) && row <= (window->last & row_bits);
}

/* Of the bits from `bit` down that belong to the same part. */
static uint64_t same_part_below(unsigned bit) {
    uint64_t part = bit % 2 ? column_bits : row_bits;
    return part & (((uint64_t)1 << bit) - 1);
}

/* Halves the window at each bit of the number, from the highest one on in which they differ, and
 * goes on with the half in which the number is. The last higher half that it left behind begins
 * with the result, unless the number is below the whole rest. */
bool geohash_window_next(const struct geohash_window *window, uint64_t number, uint64_t *next) {
    uint64_t first = window->first, last = window->last;
    bool found = false;
    unsigned bits = 64 - (unsigned)__builtin_clzl((first ^ last) | (first ^ number) | 1);
    for (unsigned bit = bits; bit-- > 0;) {
        uint64_t mask = (uint64_t)1 << bit;
        bool begins_low = !(first & mask), ends_high = last & mask;
        if (!(number & mask)) {
            if (!begins_low) { /* all of the rest is above */
                *next = first;
                return true;
            }
            if (!ends_high) continue;
            *next = (first | mask) & ~same_part_below(bit);
            found = true;
            last = (last & ~mask) | same_part_below(bit);
        } else {
            if (!ends_high) return found; /* all of the rest is below */
            if (begins_low) first = (first | mask) & ~same_part_below(bit);
        }
    }
    return found;
}
