/* GEOADD GEOPOS GEODIST GEOHASH: places as members of sorted sets; commands/places/geo_search.c
 * finds them. */
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "commands/commands.h"
#include "commands/places/geo_common.h"
#include "commands/sorted_sets/zset_common.h"

#include <math.h>

/* --- Shared --- */

static bool parse_coordinate(struct call *call, size_t index, double *value) {
    return number_parse_double(call->argv[index], value) ||
           reply_error(call->reply, "ERR value is not a valid float");
}

bool geo_parse_point(struct call *call, size_t index, struct geo_point *point) {
    return parse_coordinate(call, index, &point->longitude) &&
           parse_coordinate(call, index + 1, &point->latitude) &&
           (geohash_covers(*point) ||
            reply_error_format(call->reply, "ERR invalid longitude,latitude pair %f,%f",
                               point->longitude, point->latitude));
}

bool geo_parse_unit(struct call *call, size_t index, double *metres) {
    static const struct {
        const char *name;
        double metres;
    } units[] = {{"m", 1}, {"km", 1000}, {"ft", 0.3048}, {"mi", 1609.34}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (!slice_is(call->argv[index], units[i].name)) continue;
        *metres = units[i].metres;
        return true;
    }
    return reply_error(call->reply, "ERR unsupported unit provided. please use M, KM, FT, MI");
}

struct geo_point geo_place(double score) {
    return geohash_point(geohash_of_score(score));
}

bool geo_find(const struct entry *entry, struct slice member, struct geo_point *point) {
    if (!entry) return false;
    struct zset_place place = zset_find(entry, member);
    if (place.found) *point = geo_place(place.score);
    return place.found;
}

/* Rounded as a number of ten-thousandths, half to even. */
void geo_reply_distance(struct reply *reply, double distance) {
    enum { FRACTION = 10000, FRACTION_DIGITS = 4 };
    char text[INT64_TEXT_MAX + 1];
    uint64_t scaled = (uint64_t)llrint(distance * FRACTION);
    size_t len = number_format_uint64(text, scaled / FRACTION);
    /* The digit in front of the fraction is replaced by the point. */
    number_format_uint64(text + len, FRACTION + scaled % FRACTION);
    text[len] = '.';
    reply_bulk(reply, slice_make(text, len + 1 + FRACTION_DIGITS));
}

void geo_reply_point(struct reply *reply, struct geo_point point) {
    reply_array(reply, 2);
    reply_double(reply, point.longitude);
    reply_double(reply, point.latitude);
}

/* --- GEOADD key [NX | XX] [CH] longitude latitude member … --- */

/* The same change as a ZADD, so that the command log and replicas need no arithmetic. */
static void propagate_as_zadd(const struct zset_addition *addition, const double *scores) {
    enum { WORDS_BEFORE = 4 };
    struct call *call = addition->call;
    if (!call->propagates) return;
    struct slice *words = mem_alloc((WORDS_BEFORE + 2 * addition->count) * sizeof(*words));
    char(*texts)[DOUBLE_TEXT_MAX] = mem_alloc(addition->count * sizeof(*texts));
    size_t count = 0;
    words[count++] = SLICE("ZADD");
    words[count++] = call->argv[1];
    if (addition->only_new) words[count++] = SLICE("NX");
    if (addition->only_existing) words[count++] = SLICE("XX");
    for (size_t i = 0; i < addition->count; i++) {
        words[count++] = slice_make(texts[i], number_format_double(texts[i], scores[i]));
        words[count++] = call->argv[addition->first + addition->stride * i];
    }
    call_propagate_as(call, words, count);
    mem_free(texts);
    mem_free(words);
}

static bool parse_places(const struct zset_addition *addition, double *scores) {
    struct geo_point point;
    for (size_t i = 0; i < addition->count; i++) {
        if (!geo_parse_point(addition->call, addition->first - 2 + addition->stride * i, &point))
            return false;
        scores[i] = (double)geohash_of(point);
    }
    return true;
}

void geoadd_command(struct call *call) {
    struct zset_addition addition = {.call = call, .stride = 3};
    size_t at = 2;
    zset_addition_options(&addition, false, &at);
    size_t left = call->argc - at;
    addition.first = at + 2;
    addition.count = left / 3;
    if (left == 0 || left % 3 || (addition.only_new && addition.only_existing)) {
        call_syntax_error(call);
        return;
    }
    double *scores = mem_alloc(addition.count * sizeof(*scores));
    if (parse_places(&addition, scores)) {
        zset_add(&addition, scores);
        if (addition.added + addition.changed > 0) propagate_as_zadd(&addition, scores);
    }
    mem_free(scores);
}

/* --- GEOPOS, GEOHASH: key [member …] --- */

/* Replies an array of what `write` replies for each member; `write_none` where there is none. */
static void reply_places(struct call *call, void (*write)(struct reply *, struct geo_point),
                         void (*write_none)(struct reply *)) {
    struct keyref ref;
    struct geo_point point;
    if (!call_find_typed_read(call, call->argv[1], VALUE_ZSET, &ref)) return;
    reply_array(call->reply, call->argc - 2);
    for (size_t i = 2; i < call->argc; i++) {
        if ((i - 2) % ZSET_PREFETCHED_MAX == 0)
            zset_prefetch_members(ref.entry, &call->argv[i], call->argc - i);
        if (geo_find(ref.entry, call->argv[i], &point))
            write(call->reply, point);
        else
            write_none(call->reply);
    }
}

COMMAND_FORM(geopos_command, reply_places, geo_reply_point, reply_null_array)

static void reply_geohash(struct reply *reply, struct geo_point point) {
    char text[GEOHASH_TEXT_LENGTH];
    geohash_text(point, text);
    reply_bulk(reply, slice_make(text, sizeof(text)));
}

COMMAND_FORM(geohash_command, reply_places, reply_geohash, reply_null)

/* --- GEODIST key member member [unit] --- */

void geodist_command(struct call *call) {
    struct keyref ref;
    struct geo_point from, to;
    double unit = 1;
    if (call->argc > 5) {
        call_syntax_error(call);
        return;
    }
    if (call->argc == 5 && !geo_parse_unit(call, 4, &unit)) return;
    if (!call_find_typed_read(call, call->argv[1], VALUE_ZSET, &ref)) return;
    zset_prefetch_members(ref.entry, &call->argv[2], 2);
    if (geo_find(ref.entry, call->argv[2], &from) && geo_find(ref.entry, call->argv[3], &to))
        geo_reply_distance(call->reply, geo_distance(from, to) / unit);
    else
        reply_null(call->reply);
}
