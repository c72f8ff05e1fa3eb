/* GEOSEARCH GEOSEARCHSTORE, GEORADIUS GEORADIUSBYMEMBER and their _RO forms: the places in a
 * circle, a box or a polygon.
 *
 * The cells that cover the shape are ranges of scores. They are read in their order, without what
 * is outside the bounds of the shape. Where only the nearest places are wanted, the bounds become
 * narrower while better ones are found.
 *
 * A search reads the sorted set and nothing else of the server: commands that take long are works
 * (engine/work.h). */
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "commands/commands.h"
#include "commands/kept_texts.h"
#include "commands/places/geo_common.h"
#include "commands/sort_order.h"
#include "commands/sorted_sets/zset_common.h"
#include "ds/places/geo_shape.h"
#include "engine/claim.h"
#include "engine/work.h"
#include "resp/made_reply.h"
#include "types/value.h"

#include <math.h>

/* What a command is. */
struct form {
    bool is_search; /* GEOSEARCH, GEOSEARCHSTORE: shape and centre are options */
    bool stores;    /* GEOSEARCHSTORE */
    bool by_member; /* GEORADIUSBYMEMBER */
    bool may_store; /* GEORADIUS, GEORADIUSBYMEMBER: STORE and STOREDIST are options */
};

enum order { UNSORTED, ASCENDING, DESCENDING };

struct query {
    struct call *call; /* not in a work */
    struct form form;
    struct entry *entry; /* NULL: there is no such key, or it is a work */
    struct geo_shape shape;
    struct geo_point *vertices; /* owned, as are shape.edges */
    double unit;                /* of distances, in metres */
    bool has_member, has_point; /* FROMMEMBER, FROMLONLAT */
    bool has_circle, has_box, has_polygon;
    bool with_distance, with_hash, with_point;
    enum order order;
    bool any;
    int64_t count; /* 0: all */
    size_t target; /* argv index of the key to store to; 0: none */
    bool stores_distance;
};

/* --- Arguments --- */

/* A length at argv[index], in the unit that follows. */
static bool parse_length(struct call *call, size_t index, const char *error, double *length) {
    if (number_parse_double(call->argv[index], length)) return true;
    reply_error(call->reply, error);
    return false; /* said here, for compilers that see no further */
}

/* Radius and unit at argv[index]. */
static bool parse_circle(struct query *query, size_t index) {
    struct call *call = query->call;
    double radius;
    if (!parse_length(call, index, "ERR need numeric radius", &radius)) return false;
    if (radius < 0) return reply_error(call->reply, "ERR radius cannot be negative");
    if (!geo_parse_unit(call, index + 1, &query->unit)) return false;
    query->shape.type = GEO_CIRCLE;
    query->shape.radius = radius * query->unit;
    query->has_circle = true;
    return true;
}

/* Width, height and unit. */
static bool parse_box(struct query *query, size_t index) {
    struct call *call = query->call;
    double width, height;
    if (!parse_length(call, index, "ERR need numeric width", &width) ||
        !parse_length(call, index + 1, "ERR need numeric height", &height))
        return false;
    if (width < 0 || height < 0)
        return reply_error(call->reply, "ERR height or width cannot be negative");
    if (!geo_parse_unit(call, index + 2, &query->unit)) return false;
    query->shape.type = GEO_BOX;
    query->shape.width = width * query->unit;
    query->shape.height = height * query->unit;
    query->has_box = true;
    return true;
}

static void free_polygon(struct query *query) {
    geo_edges_free(query->shape.edges);
    mem_free(query->vertices);
    query->shape.edges = NULL;
    query->vertices = NULL;
}

/* The number of vertices at argv[*index], and so many longitudes and latitudes; *index gets the
 * index of the last one. Distances are in metres. */
static bool parse_polygon(struct query *query, size_t *index) {
    struct call *call = query->call;
    int64_t count;
    if (!number_parse_int64(call->argv[*index], &count) || count < INT32_MIN || count > INT32_MAX)
        return reply_error(call->reply, "ERR invalid number of vertices");
    size_t left = call->argc - *index - 1;
    if (count < 3 || (uint64_t)count > left / 2)
        return reply_error(call->reply, "ERR GEOSEARCH BYPOLYGON must have at least 3 vertices");
    free_polygon(query);
    query->vertices = mem_alloc((size_t)count * sizeof(*query->vertices));
    for (size_t i = 0; i < (size_t)count; i++)
        if (!geo_parse_point(call, *index + 1 + 2 * i, &query->vertices[i])) return false;
    *index += 2 * (size_t)count;
    query->unit = 1;
    query->shape = (struct geo_shape){.type = GEO_POLYGON,
                                      .center = geo_polygon_center(query->vertices, (size_t)count),
                                      .vertices = query->vertices,
                                      .vertex_count = (size_t)count,
                                      .edges = geo_edges_new(query->vertices, (size_t)count)};
    query->has_polygon = true;
    return true;
}

/* The member at argv[index] is the centre. Without a key there is nothing to look up. */
static bool find_center(struct query *query, size_t index) {
    query->has_member = true;
    return !query->entry ||
           geo_find(query->entry, query->call->argv[index], &query->shape.center) ||
           reply_error(query->call->reply, "ERR could not decode requested zset member");
}

/* Reads an option that says where to search, at argv[*index], and moves *index to its last
 * argument. Returns false when it is none of them or not allowed here (*valid stays), or not
 * valid. */
static bool parse_place(struct query *query, size_t *index, bool *valid) {
    struct slice word = query->call->argv[*index];
    size_t at = *index + 1, left = query->call->argc - at;
    if (!query->form.is_search) return false;
    if (slice_is(word, "frommember") && left >= 1 && !query->has_point && !query->has_polygon) {
        *index += 1;
        *valid = find_center(query, at);
    } else if (slice_is(word, "fromlonlat") && left >= 2 && !query->has_member &&
               !query->has_polygon) {
        *index += 2;
        query->has_point = true;
        *valid = geo_parse_point(query->call, at, &query->shape.center);
    } else if (slice_is(word, "byradius") && left >= 2 && !query->has_box && !query->has_polygon) {
        *index += 2;
        *valid = parse_circle(query, at);
    } else if (slice_is(word, "bybox") && left >= 3 && !query->has_circle && !query->has_polygon) {
        *index += 3;
        *valid = parse_box(query, at);
    } else if (slice_is(word, "bypolygon") && left >= 2 && !query->has_circle && !query->has_box &&
               !query->has_member && !query->has_point) {
        *index = at;
        *valid = parse_polygon(query, index);
    } else {
        return false;
    }
    return *valid;
}

/* The same for the other options that have a value. */
static bool parse_valued(struct query *query, size_t *index, bool *valid) {
    struct slice word = query->call->argv[*index];
    size_t at = *index + 1;
    if (at == query->call->argc) return false;
    if (slice_is(word, "count")) {
        *valid = call_integer_within(query->call, at, 1, INT64_MAX, &query->count,
                                     "ERR COUNT must be > 0");
    } else if (query->form.may_store && (slice_is(word, "store") || slice_is(word, "storedist"))) {
        query->target = at;
        query->stores_distance = slice_is(word, "storedist");
    } else {
        return false;
    }
    *index = at;
    return *valid;
}

static bool parse_word(struct query *query, struct slice word) {
    if (slice_is(word, "withdist"))
        query->with_distance = true;
    else if (slice_is(word, "withhash"))
        query->with_hash = true;
    else if (slice_is(word, "withcoord"))
        query->with_point = true;
    else if (slice_is(word, "any"))
        query->any = true;
    else if (slice_is(word, "asc"))
        query->order = ASCENDING;
    else if (slice_is(word, "desc"))
        query->order = DESCENDING;
    else if (query->form.stores && slice_is(word, "storedist"))
        query->stores_distance = true;
    else
        return false;
    return true;
}

static bool parse_options(struct query *query, size_t first) {
    struct call *call = query->call;
    bool valid = true;
    for (size_t i = first; i < call->argc; i++) {
        if (parse_word(query, call->argv[i]) || parse_place(query, &i, &valid) ||
            (valid && parse_valued(query, &i, &valid)))
            continue;
        return valid && call_syntax_error(call);
    }
    return true;
}

/* What the options must be together. */
static bool check_options(struct query *query) {
    struct call *call = query->call;
    struct slice name = call->argv[0];
    bool has_center = query->has_member || query->has_point || query->has_polygon;
    bool has_shape = query->has_circle || query->has_box || query->has_polygon;
    if (query->target && (query->with_distance || query->with_hash || query->with_point))
        return reply_error_format(
            call->reply, "ERR %s is not compatible with WITHDIST, WITHHASH and WITHCOORD options",
            query->form.stores ? "GEOSEARCHSTORE" : "STORE option in GEORADIUS");
    if (query->form.is_search && !has_center)
        return reply_error_format(
            call->reply, "ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for %.*s",
            slice_precision(name), name.ptr);
    if (query->form.is_search && !has_shape)
        return reply_error_format(call->reply,
                                  "ERR exactly one of BYRADIUS and BYBOX can be specified for %.*s",
                                  slice_precision(name), name.ptr);
    if (query->any && query->count == 0)
        return reply_error(call->reply, "ERR the ANY argument requires COUNT argument");
    if (query->count > 0 && !query->any && query->order == UNSORTED) query->order = ASCENDING;
    return true;
}

/* GEORADIUS has centre and radius before its options. Without a key GEORADIUSBYMEMBER does not look
 * at them. */
static bool parse_fixed(struct query *query, size_t *options) {
    *options = query->form.stores ? 3 : 2;
    if (query->form.is_search) return true;
    if (!query->form.by_member) {
        *options = 6;
        return geo_parse_point(query->call, 2, &query->shape.center) && parse_circle(query, 4);
    }
    *options = 5;
    return !query->entry || (find_center(query, 2) && parse_circle(query, 3));
}

static bool parse_query(struct query *query) {
    struct call *call = query->call;
    size_t options, key = query->form.stores ? 2 : 1;
    struct keyref ref;
    if (!call_find_typed_read(call, call->argv[key], VALUE_ZSET, &ref)) return false;
    query->entry = ref.entry;
    if (query->form.stores) query->target = 1;
    return parse_fixed(query, &options) && parse_options(query, options) && check_options(query);
}

/* --- Searching --- */

/* The places that were found: `text` is the member, `score` the distance in metres, `carried` the
 * score in the sorted set. */
struct search {
    const struct query *query;
    const struct work *work;     /* when that is cancelled, the search may end; or NULL */
    const struct frozen *frozen; /* of the work; NULL: query->entry is read */
    struct geo_cover cover;
    struct geo_bounds bounds;
    struct sort_item *items;
    size_t count;
    size_t capacity;
    bool selects;            /* of many, only the first ones by distance are wanted: */
    size_t wanted;           /* these, */
    size_t trim_at;          /* and the others are dropped when so many were found */
    bool is_trimmed;         /* items[wanted - 1] is the last one of these so far */
    double gap_from, gap_to; /* no score is from here on and below there */
    struct kept_texts texts;
};

/* So many more places are collected before the others are dropped: then the bounds are narrowed. */
enum {
#ifdef TINY_LIMITS
    TRIM_MIN = 3
#else
    TRIM_MIN = 32
#endif
};

/* Of a search for `search->query`, whose other members are 0. */
static void search_begin(struct search *search) {
    const struct query *query = search->query;
    search->selects = query->count > 0 && !query->any;
    geo_cover(&query->shape, &search->cover);
    geo_bounds_of(&query->shape, &search->bounds);
    if (!search->selects) return;
    uint64_t length = zset_length(query->entry);
    search->wanted = (size_t)query->count < length ? (size_t)query->count : (size_t)length;
    search->trim_at = search->wanted + (search->wanted > TRIM_MIN ? search->wanted : TRIM_MIN);
}

static void search_sort(struct search *search, size_t wanted) {
    sort_items(search->items, search->count, wanted, SORT_BY_SCORE,
               search->query->order == DESCENDING);
    search->count = wanted;
}

/* Returns whether a place at this distance comes after all that are wanted. */
static bool is_too_late(const struct search *search, double distance) {
    if (!search->is_trimmed) return false;
    double last = search->items[search->wanted - 1].score;
    return search->query->order == DESCENDING ? distance <= last : distance >= last;
}

/* Drops what is not wanted. Returns whether the bounds are narrower now. */
static bool trim(struct search *search) {
    search_sort(search, search->wanted);
    search->is_trimmed = true;
    if (search->query->order == DESCENDING) return false;
    geo_bounds_narrow(&search->bounds, search->items[search->wanted - 1].score);
    return true;
}

static void keep(struct search *search, const struct zset_seeker *at, double distance) {
    char digits[INT64_TEXT_MAX];
    MEM_RESERVE(search->items, search->capacity, search->count + 1);
    struct slice text = zset_seek_text(at, digits);
    if (text.ptr == digits) text = kept_text(&search->texts, text);
    search->items[search->count++] =
        (struct sort_item){.text = text, .carried = at->score, .score = distance};
}

/* Returns whether no more places are needed: COUNT … ANY has what it wants, or nobody waits. */
static bool is_over(const struct search *search) {
    return (search->query->any && search->count >= (size_t)search->query->count) ||
           (search->work && work_is_cancelled(search->work));
}

/* Looks at one place within the window. Returns whether the bounds are narrower now. */
static bool visit(struct search *search, const struct zset_seeker *at) {
    struct geo_point point = geo_place(at->score);
    double distance;
    if (geo_bounds_exclude(&search->bounds, point) ||
        !geo_shape_contains(&search->query->shape, point, &distance) ||
        is_too_late(search, distance))
        return false;
    keep(search, at, distance);
    return search->selects && search->count >= search->trim_at && trim(search);
}

/* Goes to the next place from this score on, and one place at least: a score above 2^53 may have
 * been rounded down to that of the place where the seeker is. */
static bool leap(struct zset_seeker *at, double score) {
    return score > at->score ? zset_seek_forward(at, score) : zset_seek_next(at);
}

static bool seek(const struct search *search, struct zset_seeker *at, double score) {
    if (search->frozen) return zset_seek_frozen(at, search->frozen, score);
    return zset_seek(at, search->query->entry, score);
}

/* The places of one cell, in their order. */
static void search_cell(struct search *search, struct geohash_cell cell) {
    struct geohash_window window;
    struct zset_seeker at;
    uint64_t first, end, next;
    geo_cell_range(cell, &first, &end);
    if (!geo_bounds_window(&search->bounds, cell, &window)) return;
    if ((double)window.first >= search->gap_from && (double)(window.last + 1) <= search->gap_to)
        return;
    bool found = seek(search, &at, (double)window.first);
    search->gap_from = (double)window.first;
    search->gap_to = found ? at.score : INFINITY;
    while (found && at.score < (double)end && !is_over(search)) {
        uint64_t number = geohash_of_score(at.score);
        if (!geohash_window_has(&window, number)) {
            found = geohash_window_next(&window, number, &next) && leap(&at, (double)next);
            continue;
        }
        if (visit(search, &at) && !geo_bounds_window(&search->bounds, cell, &window)) return;
        found = zset_seek_next(&at);
    }
}

/* All places of the shape, or those that COUNT leaves, in the order of the reply. */
static void search_run(struct search *search) {
    const struct query *query = search->query;
    for (unsigned i = 0; i < search->cover.count && !is_over(search); i++)
        search_cell(search, search->cover.cells[i]);
    size_t wanted = search->count;
    if (search->selects && search->wanted < wanted) wanted = search->wanted;
    if (query->order != UNSORTED) search_sort(search, wanted);
}

static void search_end(struct search *search) {
    kept_texts_free(&search->texts);
    mem_free(search->items);
}

/* --- Results --- */

static void reply_item(struct reply *reply, const struct query *query,
                       const struct sort_item *item) {
    size_t more = (size_t)query->with_distance + query->with_hash + query->with_point;
    if (more > 0) reply_array(reply, 1 + more);
    reply_bulk(reply, item->text);
    if (query->with_distance) geo_reply_distance(reply, item->score / query->unit);
    if (query->with_hash) reply_integer(reply, (int64_t)geohash_of_score(item->carried));
    if (query->with_point) geo_reply_point(reply, geo_place(item->carried));
}

static void reply_found(struct reply *reply, const struct search *search) {
    reply_array(reply, search->count);
    for (size_t i = 0; i < search->count; i++) reply_item(reply, search->query, &search->items[i]);
}

/* Returns what was found as a value of this key; NULL: nothing was. */
static struct entry *make_zset(const struct search *search, struct slice key,
                               const struct listpack_limits *limits) {
    const struct query *query = search->query;
    struct zset_result result = {.list = skiplist_new()};
    for (size_t i = 0; i < search->count; i++) {
        const struct sort_item *item = &search->items[i];
        zset_result_add(&result, item->text,
                        query->stores_distance ? item->score / query->unit : item->carried);
    }
    return zset_result_entry(&result, key, limits);
}

static void store(struct call *call, const struct query *query, struct entry *zset) {
    zset_result_put(call, call->argv[query->target], zset,
                    query->form.is_search ? "geosearchstore" : "georadiusstore");
}

/* --- In another thread --- */

struct searching {
    struct work work;
    struct query query;
    struct search search;
    struct frozen frozen;
    struct listpack_limits limits;
    struct made_reply made; /* unless it stores: */
    struct entry *result;   /* NULL: it is empty */
};

/* Returns whether a place with such a score may be found. */
static bool is_in_cells(double first, double last, const void *arg) {
    const struct geo_cover *cover = arg;
    for (unsigned i = 0; i < cover->count; i++) {
        uint64_t from, end;
        geo_cell_range(cover->cells[i], &from, &end);
        if (last >= (double)from && first < (double)end) return true;
    }
    return false;
}

static void make_reply(struct made_reply *made, const struct search *search) {
    reply_array(&made->reply, search->count);
    for (size_t i = 0; i < search->count && !work_is_cancelled(search->work); i++) {
        reply_item(&made->reply, search->query, &search->items[i]);
        made_reply_grow(made);
    }
    made_reply_end(made);
}

static void run_searching(struct work *work) {
    struct searching *searching = (struct searching *)work;
    struct search *search = &searching->search;
    zset_frozen_select(&searching->frozen, is_in_cells, &search->cover);
    search_run(search);
    if (searching->query.target)
        searching->result = make_zset(search, work->claim->key.name, &searching->limits);
    else
        make_reply(&searching->made, search);
    search_end(search);
}

static void answer_searching(struct call *call, struct work *work) {
    struct searching *searching = (struct searching *)work;
    if (searching->query.target) {
        store(call, &searching->query, searching->result);
        searching->result = NULL;
    } else {
        made_reply_pass(&searching->made, call->reply);
    }
}

static void free_searching(struct work *work) {
    struct searching *searching = (struct searching *)work;
    work_unfreeze(work, &searching->frozen);
    if (searching->result) work_free_value(work, searching->result);
    made_reply_free(&searching->made);
    free_polygon(&searching->query);
}

/* Takes ownership of what the query owns. */
static void work_on(struct query *query, const struct search *search) {
    static const struct work_kind kind = {run_searching, answer_searching, free_searching};
    struct call *call = query->call;
    struct searching *searching = work_new(&kind, sizeof(*searching));
    work_freeze(call, query->entry, &searching->frozen);
    searching->query = *query;
    searching->query.call = NULL;
    searching->query.entry = NULL;
    query->vertices = NULL;
    query->shape.edges = NULL;
    searching->search = *search;
    searching->search.query = &searching->query;
    searching->search.work = &searching->work;
    searching->search.frozen = &searching->frozen;
    searching->limits = call->limits->zset;
    made_reply_begin(&searching->made, call->reply->protocol);
    if (query->target)
        work_begin_storing(call, &searching->work, call->argv[query->target]);
    else
        work_begin(call, &searching->work);
}

/* --- How long it takes --- */

/* The steps, as work_pays counts them, of longitude and latitude in a reply, where anything else is
 * one step. */
enum { STEPS_OF_POINT = 3 };

/* Of so many places one is looked at where the bounds become narrower. */
enum { NARROWED_TO = 4 };

/* Returns the steps of each place that is found. */
static uint64_t steps_of_result(const struct query *query) {
    if (query->target) return ZSET_STEPS_TO_STORE;
    return 1 + (uint64_t)(query->order != UNSORTED) + (uint64_t)query->with_distance +
           STEPS_OF_POINT * (uint64_t)query->with_point;
}

/* Returns the steps of a search that has so many places to look at. */
static uint64_t steps_for(const struct search *search, uint64_t places) {
    const struct query *query = search->query;
    uint64_t found = places;
    if (query->count > 0 && (uint64_t)query->count < found) found = (uint64_t)query->count;
    if (query->any)
        places = found;
    else if (search->selects)
        places = query->order == DESCENDING ? 2 * places : places / NARROWED_TO;
    return places + found * steps_of_result(query);
}

/* Returns about how many places are within the cells and the bounds. O(log n). */
static uint64_t count_places(const struct search *search) {
    const struct entry *entry = search->query->entry;
    uint64_t places = 0;
    for (unsigned i = 0; i < search->cover.count; i++) {
        struct geohash_window window;
        if (!geo_bounds_window(&search->bounds, search->cover.cells[i], &window)) continue;
        places += zset_count_below(entry, (double)window.last, true) -
                  zset_count_below(entry, (double)window.first, false);
    }
    return places;
}

static bool pays(const struct search *search, uint64_t places) {
    const struct call *call = search->query->call;
    uint64_t steps = steps_for(search, places);
    return search->query->target ? work_pays_writing(call, steps) : work_pays(call, steps);
}

/* Most sorted sets are too small, whatever the shape. */
static bool should_work(const struct search *search) {
    return pays(search, zset_length(search->query->entry)) && pays(search, count_places(search));
}

/* --- Commands --- */

static void run_here(const struct query *query, struct search *search) {
    struct call *call = query->call;
    if (query->entry) search_run(search);
    if (query->target)
        store(call, query, make_zset(search, call->argv[query->target], &call->limits->zset));
    else
        reply_found(call->reply, search);
    search_end(search);
}

static void run(struct query *query) {
    struct search search = {.query = query};
    if (query->entry) search_begin(&search);
    if (query->entry && should_work(&search))
        work_on(query, &search);
    else
        run_here(query, &search);
}

static void search_places(struct call *call, const struct form *form) {
    struct query query = {.call = call, .form = *form, .unit = 1};
    if (parse_query(&query)) run(&query);
    free_polygon(&query);
}

COMMAND_FORM(geosearch_command, search_places, &(struct form){.is_search = true})
COMMAND_FORM(geosearchstore_command, search_places,
             &(struct form){.is_search = true, .stores = true})
COMMAND_FORM(georadius_command, search_places, &(struct form){.may_store = true})
COMMAND_FORM(georadius_ro_command, search_places, &(struct form){0})
COMMAND_FORM(georadiusbymember_command, search_places,
             &(struct form){.by_member = true, .may_store = true})
COMMAND_FORM(georadiusbymember_ro_command, search_places, &(struct form){.by_member = true})
