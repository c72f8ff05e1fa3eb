/* family_geo: the commands of places, which are members of sorted sets. */
#include "table/command_row.h"

/* clang-format off */

#define SEARCH_COMPLEXITY \
    "O(N + M log M), N being the places in the cells around the shape and M those in it"
#define SHAPE_COMPLEXITY \
    SEARCH_COMPLEXITY "; for a polygon with V vertices O(V) more, and at most O(N * V) where " \
    "edges lie on each other"

static const struct command rows[] = {

{.name = "geoadd", .arity = -5, .group = "geo", .since = "3.2.0",
 .flags = WRITE | DENYOOM, .categories = CATEGORY_GEO,
 .keys = ONE_KEY(CHANGE),
 .complexity = "O(log N) for each place, N being the members of the sorted set",
 .summary = "Adds places to a sorted set, or moves them.",
 .syntax =
     "key [<NX | XX>:condition@6.2.0] [CH:change@6.2.0] "
     "(longitude:double latitude:double member):data ..."
     "\n@6.2.0 Takes `CH`, `NX` and `XX`."},
{.name = "geodist", .arity = -4, .group = "geo", .since = "3.2.0",
 .flags = READONLY, .categories = CATEGORY_GEO,
 .keys = ONE_KEY(READ),
 .complexity = "O(1)",
 .summary = "Measures the distance between two places.",
 .syntax =
     "key member1 member2 [<M | KM | FT | MI>:unit]"},
{.name = "geohash", .arity = -2, .group = "geo", .since = "3.2.0",
 .flags = READONLY, .categories = CATEGORY_GEO,
 .keys = ONE_KEY(READ),
 .complexity = "O(1) for each member",
 .summary = "Returns the geohashes of places, as text.",
 .syntax =
     "key [member ...]"},
{.name = "geopos", .arity = -2, .group = "geo", .since = "3.2.0",
 .flags = READONLY, .categories = CATEGORY_GEO,
 .keys = ONE_KEY(READ),
 .complexity = "O(1) for each member",
 .summary = "Returns the longitudes and latitudes of places.",
 .syntax =
     "key [member ...]"},
{.name = "georadius", .arity = -6, .group = "geo", .since = "3.2.0",
 .flags = WRITE | DENYOOM | MOVABLE_KEYS, .categories = CATEGORY_GEO,
 .keys = PLACES_KEY(6),
 .complexity = SEARCH_COMPLEXITY,
 .summary = "Finds the places within a distance of a point; returns or stores them.",
 .syntax =
     "key longitude:double latitude:double radius:double <M | KM | FT | MI>:unit "
     "[WITHCOORD] [WITHDIST] [WITHHASH] "
     "[(COUNT count:integer [ANY@6.2.0]):count-block] [<ASC | DESC>:order] "
     "[<STORE storekey:key=key | STOREDIST storedistkey:key=key>:store]"
     "\n~6.2.0 `GEOSEARCH` and `GEOSEARCHSTORE` with `BYRADIUS`"
     "\n@6.2.0 Takes `ANY`."
     "\n@7.0.0 Takes units in upper case."},
{.name = "georadius_ro", .arity = -6, .group = "geo", .since = "3.2.10",
 .flags = READONLY, .categories = CATEGORY_GEO,
 .keys = ONE_KEY(READ),
 .complexity = SEARCH_COMPLEXITY,
 .summary = "Finds the places within a distance of a point.",
 .syntax =
     "key longitude:double latitude:double radius:double <M | KM | FT | MI>:unit "
     "[WITHCOORD] [WITHDIST] [WITHHASH] "
     "[(COUNT count:integer [ANY@6.2.0]):count-block] [<ASC | DESC>:order]"
     "\n~6.2.0 `GEOSEARCH` with `BYRADIUS`"
     "\n@6.2.0 Takes `ANY`."
     "\n@7.0.0 Takes units in upper case."},
{.name = "georadiusbymember", .arity = -5, .group = "geo", .since = "3.2.0",
 .flags = WRITE | DENYOOM | MOVABLE_KEYS, .categories = CATEGORY_GEO,
 .keys = PLACES_KEY(5),
 .complexity = SEARCH_COMPLEXITY,
 .summary = "Finds the places within a distance of a member; returns or stores them.",
 .syntax =
     "key member radius:double <M | KM | FT | MI>:unit [WITHCOORD] [WITHDIST] [WITHHASH] "
     "[(COUNT count:integer [ANY]):count-block] [<ASC | DESC>:order] "
     "[<STORE storekey:key=key | STOREDIST storedistkey:key=key>:store]"
     "\n~6.2.0 `GEOSEARCH` and `GEOSEARCHSTORE` with `BYRADIUS` and `FROMMEMBER`"
     "\n@6.2.0 Takes `ANY`."
     "\n@7.0.0 Takes units in upper case."},
{.name = "georadiusbymember_ro", .arity = -5, .group = "geo", .since = "3.2.10",
 .flags = READONLY, .categories = CATEGORY_GEO,
 .keys = ONE_KEY(READ),
 .complexity = SEARCH_COMPLEXITY,
 .summary = "Finds the places within a distance of a member.",
 .syntax =
     "key member radius:double <M | KM | FT | MI>:unit [WITHCOORD] [WITHDIST] [WITHHASH] "
     "[(COUNT count:integer [ANY]):count-block] [<ASC | DESC>:order]"
     "\n~6.2.0 `GEOSEARCH` with `BYRADIUS` and `FROMMEMBER`"
     "\n@6.2.0 Takes `ANY`."
     "\n@7.0.0 Takes units in upper case."},
{.name = "geosearch", .arity = -7, .group = "geo", .since = "6.2.0",
 .flags = READONLY, .categories = CATEGORY_GEO,
 .keys = ONE_KEY(READ),
 .complexity = SHAPE_COMPLEXITY,
 .summary = "Finds the places in a circle, a box or a polygon.",
 .syntax =
     "key [<FROMMEMBER member | FROMLONLAT (longitude:double latitude:double):fromlonlat>:from] "
     "<(BYRADIUS radius:double <M | KM | FT | MI>:unit):circle | "
     "(BYBOX width:double height:double <M | KM | FT | MI>:unit):box | "
     "(BYPOLYGON num-vertices:integer (longitude:double latitude:double):vertices ...)"
     "  :polygon@9.0.0>:by "
     "[<ASC | DESC>:order] [(COUNT count:integer [ANY]):count-block] "
     "[WITHCOORD] [WITHDIST] [WITHHASH]"
     "\n@7.0.0 Takes units in upper case."
     "\n@9.0.0 Takes `BYPOLYGON`."},
{.name = "geosearchstore", .arity = -8, .group = "geo", .since = "6.2.0",
 .flags = WRITE | DENYOOM, .categories = CATEGORY_GEO,
 .keys = TWO_KEYS(OVERWRITE, READ),
 .complexity = SHAPE_COMPLEXITY,
 .summary = "Stores the places in a circle, a box or a polygon.",
 .syntax =
     "destination:key source:key "
     "[<FROMMEMBER member | FROMLONLAT (longitude:double latitude:double):fromlonlat>:from] "
     "<(BYRADIUS radius:double <M | KM | FT | MI>:unit):circle | "
     "(BYBOX width:double height:double <M | KM | FT | MI>:unit):box | "
     "(BYPOLYGON num-vertices:integer (longitude:double latitude:double):vertices ...)"
     "  :polygon@9.0.0>:by "
     "[<ASC | DESC>:order] [(COUNT count:integer [ANY]):count-block] [STOREDIST]"
     "\n@7.0.0 Takes units in upper case."
     "\n@9.0.0 Takes `BYPOLYGON`."},
};

/* clang-format on */

const struct command_family command_family_geo = FAMILY_OF(rows);
