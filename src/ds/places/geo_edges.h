/* geo_edges: the edges of a polygon, which tell whether places are in it.
 *
 * A ray from a place to the east crosses an odd number of edges if the place is in the polygon.
 * Most places are near the one before, so edges are listed for a cell that has the place, and for
 * the cells around it, each a quarter of the next:
 *
 *      the grid      all edges
 *      a quarter     without those that no ray from here crosses; those that each ray crosses
 *      a quarter     are left out, too, but counted
 *      …
 *
 * Only the edges in the smallest of these lists are looked at. A list is made once the one around
 * it has served a few places, which costs as much as making it. */
#ifndef PACKLIST_DS_PLACES_GEO_EDGES_H
#define PACKLIST_DS_PLACES_GEO_EDGES_H

#include "ds/places/geohash.h"

#include <stddef.h>

struct geo_edges;

/* The edges between vertices, at least 3 and fewer than 2^32, that follow each other; also from the
 * last one to the first. They are straight in degrees. The vertices must stay as they are until
 * geo_edges_free. O(vertices). */
struct geo_edges *geo_edges_new(const struct geo_point *vertices, size_t count);

/* `edges` may be NULL. */
void geo_edges_free(struct geo_edges *edges);

/* Returns whether the place is between the edges. O(edges near the place) where many places come in
 * the order of their numbers; never more than O(vertices), which it is for edges that lie on each
 * other. Memory: up to 4 bytes a vertex for each list. */
bool geo_edges_surround(struct geo_edges *edges, struct geo_point point);

#endif
