/* family_geo: the commands of places, which are members of sorted sets. */
#include "table/command_row.h"

/* clang-format off */

#define SEARCH_COMPLEXITY \
    "O(N + M log M), N being the places in the cells around the shape and M those in it"
#define SHAPE_COMPLEXITY \
    SEARCH_COMPLEXITY "; for a polygon with V vertices O(V) more, and at most O(N * V) where " \
    "edges lie on each other"

static const struct command rows[] = {

{ROW("geoadd", -5, "geo", "3.2.0", WRITE | DENYOOM,
     "O(log N) for each place, N being the members of the sorted set",
     "Adds places to a sorted set, or moves them."),
 .keys = ONE_KEY(CHANGE),
 .syntax = "key [<NX | XX>:condition@6.2.0] [CH:change@6.2.0] "
           "(longitude:double latitude:double member):data ..."
           "\n@6.2.0 Takes `CH`, `NX` and `XX`."},
{ROW("geodist", -4, "geo", "3.2.0", READONLY,
     "O(1)", "Measures the distance between two places."),
 .keys = ONE_KEY(READ), .syntax = "key member1 member2 [<M | KM | FT | MI>:unit]"},
{ROW("geohash", -2, "geo", "3.2.0", READONLY,
     "O(1) for each member", "Returns the geohashes of places, as text."),
 .keys = ONE_KEY(READ), .syntax = "key [member ...]"},
{ROW("geopos", -2, "geo", "3.2.0", READONLY,
     "O(1) for each member", "Returns the longitudes and latitudes of places."),
 .keys = ONE_KEY(READ), .syntax = "key [member ...]"},
{ROW("georadius", -6, "geo", "3.2.0", WRITE | DENYOOM | MOVABLE_KEYS,
     SEARCH_COMPLEXITY, "Finds the places within a distance of a point; returns or stores them."),
 .keys = PLACES_KEY(6),
 .syntax = "key longitude:double latitude:double radius:double <M | KM | FT | MI>:unit "
           "[WITHCOORD] [WITHDIST] [WITHHASH] "
           "[(COUNT count:integer [ANY@6.2.0]):count-block] [<ASC | DESC>:order] "
           "[<STORE storekey:key=key | STOREDIST storedistkey:key=key>:store]"
           "\n~6.2.0 `GEOSEARCH` and `GEOSEARCHSTORE` with `BYRADIUS`"
           "\n@6.2.0 Takes `ANY`."
           "\n@7.0.0 Takes units in upper case."},
{ROW("georadius_ro", -6, "geo", "3.2.10", READONLY,
     SEARCH_COMPLEXITY, "Finds the places within a distance of a point."),
 .keys = ONE_KEY(READ),
 .syntax = "key longitude:double latitude:double radius:double <M | KM | FT | MI>:unit "
           "[WITHCOORD] [WITHDIST] [WITHHASH] "
           "[(COUNT count:integer [ANY@6.2.0]):count-block] [<ASC | DESC>:order]"
           "\n~6.2.0 `GEOSEARCH` with `BYRADIUS`"
           "\n@6.2.0 Takes `ANY`."
           "\n@7.0.0 Takes units in upper case."},
{ROW("georadiusbymember", -5, "geo", "3.2.0", WRITE | DENYOOM | MOVABLE_KEYS,
     SEARCH_COMPLEXITY, "Finds the places within a distance of a member; returns or stores them."),
 .keys = PLACES_KEY(5),
 .syntax = "key member radius:double <M | KM | FT | MI>:unit [WITHCOORD] [WITHDIST] [WITHHASH] "
           "[(COUNT count:integer [ANY]):count-block] [<ASC | DESC>:order] "
           "[<STORE storekey:key=key | STOREDIST storedistkey:key=key>:store]"
           "\n~6.2.0 `GEOSEARCH` and `GEOSEARCHSTORE` with `BYRADIUS` and `FROMMEMBER`"
           "\n@6.2.0 Takes `ANY`."
           "\n@7.0.0 Takes units in upper case."},
{ROW("georadiusbymember_ro", -5, "geo", "3.2.10", READONLY,
     SEARCH_COMPLEXITY, "Finds the places within a distance of a member."),
 .keys = ONE_KEY(READ),
 .syntax = "key member radius:double <M | KM | FT | MI>:unit [WITHCOORD] [WITHDIST] [WITHHASH] "
           "[(COUNT count:integer [ANY]):count-block] [<ASC | DESC>:order]"
           "\n~6.2.0 `GEOSEARCH` with `BYRADIUS` and `FROMMEMBER`"
           "\n@6.2.0 Takes `ANY`."
           "\n@7.0.0 Takes units in upper case."},
{ROW("geosearch", -7, "geo", "6.2.0", READONLY,
     SHAPE_COMPLEXITY, "Finds the places in a circle, a box or a polygon."),
 .keys = ONE_KEY(READ),
 .syntax = "key [<FROMMEMBER member | FROMLONLAT (longitude:double "
           "latitude:double):fromlonlat>:from] <(BYRADIUS radius:double "
           "<M | KM | FT | MI>:unit):circle | (BYBOX width:double height:double "
           "<M | KM | FT | MI>:unit):box | (BYPOLYGON num-vertices:integer "
           "(longitude:double latitude:double):vertices ...)  :polygon@9.0.0>:by "
           "[<ASC | DESC>:order] [(COUNT count:integer [ANY]):count-block] [WITHCOORD] [WITHDIST] "
           "[WITHHASH]"
           "\n@7.0.0 Takes units in upper case."
           "\n@9.0.0 Takes `BYPOLYGON`."},
{ROW("geosearchstore", -8, "geo", "6.2.0", WRITE | DENYOOM,
     SHAPE_COMPLEXITY, "Stores the places in a circle, a box or a polygon."),
 .keys = TWO_KEYS(OVERWRITE, READ),
 .syntax = "destination:key source:key [<FROMMEMBER member | FROMLONLAT "
           "(longitude:double latitude:double):fromlonlat>:from] <(BYRADIUS radius:double "
           "<M | KM | FT | MI>:unit):circle | (BYBOX width:double height:double "
           "<M | KM | FT | MI>:unit):box | (BYPOLYGON num-vertices:integer "
           "(longitude:double latitude:double):vertices ...)  :polygon@9.0.0>:by "
           "[<ASC | DESC>:order] [(COUNT count:integer [ANY]):count-block] [STOREDIST]"
           "\n@7.0.0 Takes units in upper case."
           "\n@9.0.0 Takes `BYPOLYGON`."},
};

/* clang-format on */

const struct command_family command_family_geo = FAMILY_OF(rows);
