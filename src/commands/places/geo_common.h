/* geo_common: what the commands of places share: their arguments and replies. A place is a member
 * of a sorted set, whose score is a cell (ds/places/geohash.h). */
#ifndef PACKLIST_COMMANDS_PLACES_GEO_COMMON_H
#define PACKLIST_COMMANDS_PLACES_GEO_COMMON_H

#include "ds/places/geohash.h"
#include "engine/call.h"

/* When the arguments are not valid, each of these replies the error and returns false. */

/* The longitude at argv[index] and the latitude behind it, within the limits of the grid. */
bool geo_parse_point(struct call *call, size_t index, struct geo_point *point);

/* The unit at argv[index], in metres: m, km, ft or mi. */
bool geo_parse_unit(struct call *call, size_t index, double *metres);

/* The place that a score stands for. */
struct geo_point geo_place(double score);

/* Looks a place up. Returns false when the sorted set has no such member. */
bool geo_find(const struct entry *entry, struct slice member, struct geo_point *point);

/* A distance with four digits behind the point, as a bulk; longitude and latitude, as an array. */
void geo_reply_distance(struct reply *reply, double distance);
void geo_reply_point(struct reply *reply, struct geo_point point);

#endif
