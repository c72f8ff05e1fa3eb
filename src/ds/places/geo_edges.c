#include "ds/places/geo_edges.h"

#include "base/checked.h"
#include "base/memory/alloc.h"

#include <math.h>

enum {
#ifdef TINY_LIMITS
    FEW = 1,
    SERVES = 1
#else
    FEW = 16,  /* edges that are looked at rather than divided further */
    SERVES = 4 /* places that a list serves before a smaller one is made */
#endif
};

/* The edges that matter in a cell: edges->listed[first …]. */
struct level {
    struct geohash_area area; /* its upper limits do not belong to it */
    size_t first, count;
    bool is_odd;     /* whether the number of edges that all rays cross is odd */
    unsigned served; /* places, since a smaller list was made */
};

struct geo_edges {
    const struct geo_point *vertices;
    size_t vertex_count;
    uint32_t *listed; /* edges by the vertex where they end */
    size_t capacity;
    unsigned depth; /* of the smallest cell: levels[0] is the grid, and has all edges */
    struct level levels[GEOHASH_STEPS + 1];
};

/* --- One edge --- */

struct edge {
    struct geo_point from, to;
};

static struct edge edge_at(const struct geo_edges *edges, uint32_t index) {
    size_t before = index > 0 ? index - 1 : edges->vertex_count - 1;
    return (struct edge){edges->vertices[before], edges->vertices[index]};
}

/* The longitude at which a parallel crosses an edge, which is not parallel to it. */
static double crossing_at(const struct edge *edge, double latitude) {
    double share = (latitude - edge->to.latitude) / (edge->from.latitude - edge->to.latitude);
    return edge->to.longitude + share * (edge->from.longitude - edge->to.longitude);
}

/* Returns whether the ray from the place crosses the edge, whose northern end does not belong to
 * it. */
static bool is_crossed(const struct edge *edge, struct geo_point point) {
    return (edge->to.latitude > point.latitude) != (edge->from.latitude > point.latitude) &&
           point.longitude < crossing_at(edge, point.latitude);
}

/* --- Edges and cells --- */

/* How many of the rays that begin in a cell cross an edge. */
enum crossed { BY_NONE, BY_SOME, BY_ALL };

static enum crossed rays_across(const struct edge *edge, const struct geohash_area *area) {
    const double slack = 1e-9; /* degrees: more than rounding moves a crossing */
    double south = fmin(edge->from.latitude, edge->to.latitude);
    double north = fmax(edge->from.latitude, edge->to.latitude);
    if (south == north || north <= area->min.latitude || south >= area->max.latitude)
        return BY_NONE;
    double first = crossing_at(edge, fmax(south, area->min.latitude));
    double last = crossing_at(edge, fmin(north, area->max.latitude));
    if (fmax(first, last) + slack < area->min.longitude) return BY_NONE;
    bool is_east = fmin(first, last) - slack > area->max.longitude;
    bool is_long = south <= area->min.latitude && north >= area->max.latitude;
    return is_east && is_long ? BY_ALL : BY_SOME;
}

static bool area_has(const struct geohash_area *area, struct geo_point point) {
    return point.longitude >= area->min.longitude && point.longitude < area->max.longitude &&
           point.latitude >= area->min.latitude && point.latitude < area->max.latitude;
}

/* The quarter of an area that has the place. */
static struct geohash_area quarter_of(struct geohash_area area, struct geo_point point) {
    double longitude = (area.min.longitude + area.max.longitude) / 2;
    double latitude = (area.min.latitude + area.max.latitude) / 2;
    if (point.longitude < longitude)
        area.max.longitude = longitude;
    else
        area.min.longitude = longitude;
    if (point.latitude < latitude)
        area.max.latitude = latitude;
    else
        area.min.latitude = latitude;
    return area;
}

/* Makes the list for the quarter of the smallest cell that has the place. */
static void enter_quarter(struct geo_edges *edges, struct geo_point point) {
    CHECKED_ASSERT(edges->depth < GEOHASH_STEPS);
    const struct level *around = &edges->levels[edges->depth];
    size_t first = around->first + around->count;
    struct level level = {
        .area = quarter_of(around->area, point), .first = first, .is_odd = around->is_odd};
    MEM_RESERVE(edges->listed, edges->capacity, first + around->count);
    for (size_t i = 0; i < around->count; i++) {
        uint32_t index = edges->listed[around->first + i];
        struct edge edge = edge_at(edges, index);
        enum crossed crossed = rays_across(&edge, &level.area);
        if (crossed == BY_SOME) edges->listed[first + level.count++] = index;
        if (crossed == BY_ALL) level.is_odd = !level.is_odd;
    }
    edges->levels[++edges->depth] = level;
}

/* The smallest cell that has the place; one smaller than for the place before, if that pays. */
static struct level *find_level(struct geo_edges *edges, struct geo_point point) {
    while (edges->depth > 0 && !area_has(&edges->levels[edges->depth].area, point)) edges->depth--;
    struct level *level = &edges->levels[edges->depth];
    bool can_enter = level->count > FEW && edges->depth < GEOHASH_STEPS;
    if (can_enter && ++level->served > SERVES && area_has(&level->area, point)) {
        level->served = 0;
        enter_quarter(edges, point);
        level++;
    }
    return level;
}

/* --- All --- */

struct geo_edges *geo_edges_new(const struct geo_point *vertices, size_t count) {
    CHECKED_ASSERT(count >= 3 && count <= UINT32_MAX);
    struct geo_edges *edges = mem_alloc(sizeof(*edges));
    *edges = (struct geo_edges){.vertices = vertices, .vertex_count = count};
    MEM_RESERVE(edges->listed, edges->capacity, count);
    for (size_t i = 0; i < count; i++) edges->listed[i] = (uint32_t)i;
    edges->levels[0] = (struct level){
        .area = {{-GEOHASH_LONGITUDE_MAX, -GEOHASH_LATITUDE_MAX},
                 {GEOHASH_LONGITUDE_MAX, GEOHASH_LATITUDE_MAX}},
        .count = count,
    };
    return edges;
}

void geo_edges_free(struct geo_edges *edges) {
    if (!edges) return;
    mem_free(edges->listed);
    mem_free(edges);
}

bool geo_edges_surround(struct geo_edges *edges, struct geo_point point) {
    const struct level *level = find_level(edges, point);
    bool is_inside = level->is_odd;
    for (size_t i = 0; i < level->count; i++) {
        struct edge edge = edge_at(edges, edges->listed[level->first + i]);
        if (is_crossed(&edge, point)) is_inside = !is_inside;
    }
    return is_inside;
}
