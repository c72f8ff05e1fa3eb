/* Sorted sets: chooses the encoding. The work on members is done here for one in its entry, whose
 * body types/packed.h draws, and in ds/sorted_sets/skiplist for any other. A score in a body is the
 * text that number_format_double writes, so that most are integers. Each function that changes the
 * length reports it to the keyspace. */
#include "types/zset.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/prefetch.h"
#include "base/text/number.h"
#include "ds/lists/listpack.h"
#include "types/type_operations.h"
#include "types/value.h"

#include <math.h>

/* The encoding nibble of a sorted set's entry. */
enum zset_encoding { ZSET_EMBEDDED, ZSET_SKIPLIST = ENTRY_OUT_OF_LINE };

/* Bytes of a pair in a body beside the member's text. */
enum { PAIR_OVERHEAD_MAX = 64 };

static bool zset_is_embedded(const struct entry *entry) {
    CHECKED_ASSERT(entry_type(entry) == VALUE_ZSET);
    return entry_encoding(entry) == ZSET_EMBEDDED;
}

static struct skiplist *skiplist_of(const struct entry *entry) {
    return entry_pointer(entry);
}

/* --- A body of pairs --- */

/* A pair made ready to be written. A view of the member; must not be copied. */
struct pair {
    struct listpack_element member;
    struct listpack_element score;
    char score_text[DOUBLE_TEXT_MAX];
    size_t size; /* of both */
};

static void pair_prepare(struct pair *pair, struct slice member, double score) {
    CHECKED_ASSERT(!isnan(score));
    listpack_prepare(&pair->member, member);
    size_t len = number_format_double(pair->score_text, zset_score(score));
    listpack_prepare(&pair->score, slice_make(pair->score_text, len));
    pair->size = pair->member.size + pair->score.size;
}

/* Returns the end. */
static uint8_t *pair_write(uint8_t *at, const struct pair *pair) {
    listpack_write(at, &pair->member);
    listpack_write(at + pair->member.size, &pair->score);
    return at + pair->size;
}

bool zset_parse_score(const uint8_t *element, double *score) {
    struct listpack_value value;
    listpack_get(element, &value);
    if (value.ptr) return number_parse_double(slice_make(value.ptr, value.len), score);
    *score = (double)value.integer;
    return true;
}

static double score_at(const uint8_t *element) {
    double score = 0;
    zset_parse_score(element, &score);
    return score;
}

/* Reads the member of the pair at `at`, which is moved past the pair (before it, when not
 * `forward`). Returns the element of the score. */
static const uint8_t *read_text(const uint8_t **at, bool forward, struct zset_member *member) {
    const uint8_t *one = listpack_step(at, forward), *two = listpack_step(at, forward);
    struct listpack_value value;
    listpack_get(forward ? one : two, &value);
    member->text = listpack_value_text(&value, member->digits);
    return forward ? two : one;
}

/* The same with the score. */
static void read_pair(const uint8_t **at, bool forward, struct zset_member *member) {
    member->score = score_at(read_text(at, forward, member));
}

/* Fills `place`. O(n). */
static void find_embedded(const struct entry *entry, struct slice member,
                          struct zset_place *place) {
    struct packed body = packed_view(entry);
    const uint8_t *first = body.first, *end = body.end;
    struct listpack_element needle;
    place->found = false;
    if (member.len > LISTPACK_TEXT_MAX) return;
    listpack_prepare(&needle, member);
    size_t elements = 0, skipped;
    for (const uint8_t *at = first; at < end; at += listpack_size(at), elements++) {
        at = listpack_find(at, end, &needle, SIZE_MAX, &skipped);
        if (!at) return;
        elements += skipped;
        if (elements % 2 == 1) continue; /* a score that looks like the member */
        place->found = true;
        place->index = elements / 2;
        place->score = score_at(at + listpack_size(at));
        return;
    }
}

static bool is_before(const struct zset_member *a, double score, struct slice member) {
    return a->score < score || (a->score == score && slice_compare(a->text, member) < 0);
}

/* Puts the pair where it belongs; it is not in the sorted set. O(n). */
static void insert_embedded(struct keyref *ref, const struct pair *pair, struct slice member,
                            double score) {
    struct packed body = packed_view(ref->entry);
    const uint8_t *at = body.first;
    while (at < body.end) {
        const uint8_t *next = at;
        struct zset_member other;
        read_pair(&next, true, &other);
        if (!is_before(&other, score, member)) break;
        at = next;
    }
    pair_write(packed_splice_key(ref, (size_t)(at - body.first), 0, pair->size, body.count + 1),
               pair);
}

/* The pair of this rank (== count: the end). O(n). */
static const uint8_t *seek(struct packed body, uint64_t rank) {
    CHECKED_ASSERT(rank <= body.count);
    return listpack_seek_in(body.first, body.end, 2 * body.count, 2 * (size_t)rank);
}

/* Removes `count` members from rank `from` on. O(n). */
static void remove_embedded(struct keyref *ref, uint64_t from, uint64_t count) {
    struct packed body = packed_view(ref->entry);
    const uint8_t *begin = seek(body, from), *end = seek(body, from + count);
    packed_splice_key(ref, (size_t)(begin - body.first), (size_t)(end - begin), 0,
                      body.count - (size_t)count);
}

/* --- Conversion --- */

static void add_to_skiplist(struct skiplist *list, struct slice member, double score) {
    struct skiplist_place place = skiplist_find(list, member);
    skiplist_insert(list, &place, member, score);
}

static void become_skiplist(struct keyref *ref) {
    struct entry *entry = ref->entry;
    struct skiplist *list = skiplist_new();
    struct packed body = packed_view(entry);
    const uint8_t *at = body.first;
    while (at < body.end) {
        struct zset_member member;
        read_pair(&at, true, &member);
        add_to_skiplist(list, member.text, member.score);
    }
    packed_move_out(&entry, ZSET_SKIPLIST, list);
    keyref_moved(ref, entry);
}

static bool fits_listpack(uint64_t count, size_t longest, size_t size,
                          const struct listpack_limits *limits) {
    return count <= limits->listpack_entries && count <= UINT32_MAX &&
           longest <= limits->listpack_value && size < PACKED_SIZE_MAX;
}

struct entry *zset_from_skiplist(struct slice key, struct skiplist *list, size_t longest,
                                 const struct listpack_limits *limits) {
    uint64_t count = skiplist_count(list);
    CHECKED_ASSERT(count > 0);
    size_t size = 0;
    struct pair pair;
    struct skiplist_cursor cursor;
    if (!fits_listpack(count, longest, 0, limits) ||
        (longest + PAIR_OVERHEAD_MAX) * count > PACKED_SIZE_MAX)
        return entry_new_pointer(key, VALUE_ZSET, ZSET_SKIPLIST, list);
    skiplist_seek(list, 0, &cursor);
    do {
        pair_prepare(&pair, skiplist_cursor_member(&cursor), skiplist_cursor_score(&cursor));
        size += pair.size;
    } while (skiplist_next(&cursor));
    uint8_t *at;
    struct entry *entry = packed_new(key, VALUE_ZSET, ZSET_EMBEDDED, size, (size_t)count, &at);
    skiplist_seek(list, 0, &cursor);
    do {
        pair_prepare(&pair, skiplist_cursor_member(&cursor), skiplist_cursor_score(&cursor));
        at = pair_write(at, &pair);
    } while (skiplist_next(&cursor));
    skiplist_free(list);
    return entry;
}

void zset_create(struct keyref *ref, struct slice key, struct slice member, double score,
                 uint64_t count, size_t longest, const struct listpack_limits *limits) {
    CHECKED_ASSERT(!isnan(score) && count > 0 && longest >= member.len);
    if (fits_listpack(count, longest, longest + PAIR_OVERHEAD_MAX, limits)) {
        struct pair pair;
        pair_prepare(&pair, member, score);
        uint8_t *first;
        struct entry *entry = packed_new(key, VALUE_ZSET, ZSET_EMBEDDED, pair.size, 1, &first);
        pair_write(first, &pair);
        keyspace_add(ref, entry);
    } else {
        struct skiplist *list = skiplist_new();
        add_to_skiplist(list, member, score);
        keyspace_add(ref, entry_new_pointer(key, VALUE_ZSET, ZSET_SKIPLIST, list));
    }
}

/* --- Members --- */

uint64_t zset_length(const struct entry *entry) {
    return zset_is_embedded(entry) ? packed_view(entry).count : skiplist_count(skiplist_of(entry));
}

struct zset_place zset_find(const struct entry *entry, struct slice member) {
    struct zset_place place = {.found = false};
    if (zset_is_embedded(entry)) {
        find_embedded(entry, member, &place);
        return place;
    }
    place.in_list = skiplist_find(skiplist_of(entry), member);
    place.found = place.in_list.node;
    if (place.found) place.score = skiplist_score(&place.in_list);
    return place;
}

void zset_prefetch_members(const struct entry *entry, const struct slice *members, size_t count) {
    uint64_t hashes[ZSET_PREFETCHED_MAX];
    const void *at[ZSET_PREFETCHED_MAX];
    if (!entry || zset_length(entry) <= VALUE_CACHED_MEMBERS || zset_is_embedded(entry)) return;
    const struct skiplist *list = skiplist_of(entry);
    if (count > ZSET_PREFETCHED_MAX) count = ZSET_PREFETCHED_MAX;
    uint32_t left = ((uint32_t)1 << count) - 1; /* bit i: there is a next step for member i */
    for (size_t i = 0; i < count; i++) hashes[i] = skiplist_hash(members[i]);
    for (unsigned step = 0; left != 0; step++)
        for (size_t i = 0; i < count; i++)
            if (left >> i & 1 && !skiplist_prefetch_member(list, hashes[i], &at[i], step))
                left &= ~((uint32_t)1 << i);
}

uint64_t zset_rank(const struct entry *entry, const struct zset_place *place) {
    CHECKED_ASSERT(place->found);
    if (zset_is_embedded(entry)) return place->index;
    return skiplist_rank(skiplist_of(entry), &place->in_list);
}

static void put_in_skiplist(struct skiplist *list, const struct skiplist_place *place,
                            struct slice member, double score) {
    if (place->node)
        skiplist_update(list, place, member, score);
    else
        skiplist_insert(list, place, member, score);
}

/* Only a member that is added can exceed the limits. */
void zset_put(struct keyref *ref, const struct zset_place *place, struct slice member, double score,
              const struct listpack_limits *limits) {
    CHECKED_ASSERT(!isnan(score) && !value_entry_overlaps(ref->entry, member));
    uint64_t length = zset_length(ref->entry);
    if (!zset_is_embedded(ref->entry)) {
        put_in_skiplist(skiplist_of(ref->entry), &place->in_list, member, score);
    } else if (!place->found &&
               !fits_listpack(length + 1, member.len,
                              packed_size(packed_view(ref->entry)) + member.len + PAIR_OVERHEAD_MAX,
                              limits)) {
        become_skiplist(ref);
        add_to_skiplist(skiplist_of(ref->entry), member, score);
    } else {
        struct pair pair;
        pair_prepare(&pair, member, score);
        if (place->found) remove_embedded(ref, place->index, 1);
        insert_embedded(ref, &pair, member, score);
    }
    if (!place->found) keyspace_resized(ref, length, length + 1);
}

void zset_expect(struct keyref *ref, uint64_t count, const struct listpack_limits *limits) {
    if (zset_is_embedded(ref->entry) && count > limits->listpack_entries) become_skiplist(ref);
}

void zset_remove(struct keyref *ref, const struct zset_place *place) {
    CHECKED_ASSERT(place->found);
    uint64_t length = zset_length(ref->entry);
    if (zset_is_embedded(ref->entry))
        remove_embedded(ref, place->index, 1);
    else
        skiplist_delete(skiplist_of(ref->entry), &place->in_list);
    keyspace_resized(ref, length, length - 1);
}

void zset_remove_range(struct keyref *ref, uint64_t from, uint64_t count) {
    uint64_t length = zset_length(ref->entry);
    CHECKED_ASSERT(from + count <= length);
    if (zset_is_embedded(ref->entry))
        remove_embedded(ref, from, count);
    else
        skiplist_delete_range(skiplist_of(ref->entry), from, count);
    keyspace_resized(ref, length, length - count);
}

/* --- Bounds --- */

uint64_t zset_count_below(const struct entry *entry, double score, bool inclusive) {
    CHECKED_ASSERT(!isnan(score));
    if (!zset_is_embedded(entry)) return skiplist_count_below(skiplist_of(entry), score, inclusive);
    struct zset_iter iter;
    struct zset_member member;
    uint64_t below = 0;
    zset_iter_start(&iter, entry, 0, true);
    while (zset_iter_next(&iter, &member) &&
           (member.score < score || (inclusive && member.score == score)))
        below++;
    return below;
}

/* The score of the member at this rank, which there is. */
static double score_at_rank(const struct entry *entry, uint64_t rank) {
    struct zset_iter iter;
    struct zset_member member;
    zset_iter_start(&iter, entry, rank, true);
    zset_iter_next(&iter, &member);
    return member.score;
}

static bool has_one_score(const struct entry *entry) {
    uint64_t length = zset_length(entry);
    return length < 2 || score_at_rank(entry, 0) == score_at_rank(entry, length - 1);
}

static uint64_t search_below_member(const struct entry *entry, struct slice bound, bool inclusive) {
    uint64_t low = 0, high = zset_length(entry);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        struct zset_iter iter;
        struct zset_member member;
        zset_iter_start(&iter, entry, middle, true);
        zset_iter_next_text(&iter, &member);
        int order = slice_compare(member.text, bound);
        if (order < 0 || (order == 0 && inclusive))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t zset_count_below_member(const struct entry *entry, struct slice bound, bool inclusive) {
    if (zset_is_embedded(entry) || !has_one_score(entry))
        return search_below_member(entry, bound, inclusive);
    return skiplist_count_below_member(skiplist_of(entry), bound, inclusive);
}

/* --- Reading --- */

void zset_iter_start(struct zset_iter *iter, const struct entry *entry, uint64_t rank,
                     bool forward) {
    uint64_t length = zset_length(entry);
    *iter = (struct zset_iter){.forward = forward};
    if (rank >= length) return;
    iter->left = forward ? length - rank : rank + 1;
    if (zset_is_embedded(entry))
        iter->at = seek(packed_view(entry), forward ? rank : rank + 1);
    else
        skiplist_seek(skiplist_of(entry), rank, &iter->cursor);
}

static void iter_step(struct zset_iter *iter) {
    if (iter->left > 0)
        (void)(iter->forward ? skiplist_next(&iter->cursor) : skiplist_previous(&iter->cursor));
}

static inline __attribute__((always_inline)) bool iter_next(struct zset_iter *iter, bool with_score,
                                                            struct zset_member *member) {
    if (iter->left == 0) return false;
    iter->left--;
    if (iter->at) {
        const uint8_t *score = read_text(&iter->at, iter->forward, member);
        if (with_score) member->score = score_at(score);
        return true;
    }
    member->text = skiplist_cursor_member(&iter->cursor);
    if (with_score) member->score = skiplist_cursor_score(&iter->cursor);
    iter_step(iter);
    return true;
}

bool zset_iter_next(struct zset_iter *iter, struct zset_member *member) {
    return iter_next(iter, true, member);
}

bool zset_iter_next_text(struct zset_iter *iter, struct zset_member *member) {
    return iter_next(iter, false, member);
}

/* Texts of integers are copied, because each is read into the same member. */
static void read_listpack_batch(struct zset_iter *iter, struct text_batch *batch, size_t count) {
    struct zset_member member;
    while (batch->count < count) {
        read_text(&iter->at, iter->forward, &member);
        if (member.text.ptr == member.digits)
            text_batch_add_digits(batch, member.text);
        else
            batch->texts[batch->count++] = member.text;
    }
}

bool zset_iter_next_batch(struct zset_iter *iter, struct text_batch *batch, uint64_t max) {
    size_t count = max < TEXT_BATCH ? (size_t)max : TEXT_BATCH;
    if (count > iter->left) count = (size_t)iter->left;
    batch->count = 0;
    if (count == 0) return false;
    if (iter->at)
        read_listpack_batch(iter, batch, count);
    else
        batch->count = skiplist_cursor_read(&iter->cursor, iter->forward, batch->texts, count);
    iter->left -= batch->count;
    return true;
}

struct capture *zset_capture_range(struct entry *entry, uint64_t rank, uint64_t count, bool forward,
                                   size_t *left) {
    if (zset_is_embedded(entry)) return NULL;
    return skiplist_range_capture_begin(skiplist_of(entry), rank, count, forward, left);
}

size_t zset_captured_read(struct capture *capture, struct slice *texts, double *scores,
                          size_t most) {
    return skiplist_range_capture_read(capture, texts, scores, most);
}

/* --- Reading from a score on --- */

/* Reads the score of the pair at which the seeker is, or that of the first one from there on that
 * has at least this score. */
static bool settle_in_listpack(struct zset_seeker *seeker, double least) {
    struct packed body = packed_view(seeker->entry);
    while (seeker->at < body.end) {
        const uint8_t *score = seeker->at + listpack_size(seeker->at);
        seeker->score = score_at(score);
        if (seeker->score >= least) return true;
        seeker->at = score + listpack_size(score);
    }
    return false;
}

static bool settle_in_skiplist(struct zset_seeker *seeker, bool found) {
    if (found) seeker->score = skiplist_cursor_score(&seeker->cursor);
    return found;
}

bool zset_seek(struct zset_seeker *seeker, const struct entry *entry, double score) {
    *seeker = (struct zset_seeker){.entry = entry};
    if (zset_is_embedded(entry)) {
        seeker->at = packed_view(entry).first;
        return settle_in_listpack(seeker, score);
    }
    return settle_in_skiplist(seeker,
                              skiplist_seek_score(skiplist_of(entry), score, &seeker->cursor));
}

static bool seek_captured(struct zset_seeker *seeker, double score) {
    return skiplist_capture_seek_score(seeker->capture, score, &seeker->place, &seeker->cursor);
}

bool zset_seek_frozen(struct zset_seeker *seeker, const struct frozen *frozen, double score) {
    if (!frozen->capture) return zset_seek(seeker, frozen->entry, score);
    *seeker = (struct zset_seeker){.capture = frozen->capture};
    return settle_in_skiplist(seeker, seek_captured(seeker, score));
}

/* To a score that the node at which the seeker is does not have; to the next node. */
static bool leave_node_to(struct zset_seeker *seeker, double score) {
    if (!seeker->entry) return seek_captured(seeker, score);
    return skiplist_seek_score(skiplist_of(seeker->entry), score, &seeker->cursor);
}

static bool leave_node(struct zset_seeker *seeker) {
    if (seeker->entry) return skiplist_next_node(&seeker->cursor);
    return skiplist_capture_next_node(seeker->capture, &seeker->place, &seeker->cursor);
}

bool zset_seek_forward(struct zset_seeker *seeker, double score) {
    CHECKED_ASSERT(score > seeker->score);
    if (seeker->at) return settle_in_listpack(seeker, score);
    return settle_in_skiplist(seeker, skiplist_skip_in_node(score, &seeker->cursor) ||
                                          leave_node_to(seeker, score));
}

bool zset_seek_next(struct zset_seeker *seeker) {
    if (!seeker->at)
        return settle_in_skiplist(seeker,
                                  skiplist_next_in_node(&seeker->cursor) || leave_node(seeker));
    seeker->at += listpack_size(seeker->at);
    seeker->at += listpack_size(seeker->at);
    return settle_in_listpack(seeker, -INFINITY);
}

struct slice zset_seek_text(const struct zset_seeker *seeker, char digits[INT64_TEXT_MAX]) {
    if (!seeker->at) return skiplist_cursor_member(&seeker->cursor);
    struct listpack_value value;
    listpack_get(seeker->at, &value);
    return listpack_value_text(&value, digits);
}

void zset_draws_begin(struct zset_draws *draws, const struct entry *entry) {
    *draws = (struct zset_draws){.entry = entry, .length = zset_length(entry)};
}

void zset_draws_begin_frozen(struct zset_draws *draws, const struct frozen *frozen) {
    if (frozen->capture)
        *draws = (struct zset_draws){.capture = frozen->capture,
                                     .length = skiplist_capture_count(frozen->capture)};
    else
        zset_draws_begin(draws, frozen->entry);
}

static inline const uint8_t *skip_pair(const uint8_t *at, unsigned layout) {
    (void)layout;
    at += listpack_size(at);
    return at + listpack_size(at);
}

void zset_draws_at(struct zset_draws *draws, uint64_t number, struct zset_member *member) {
    CHECKED_ASSERT(number < draws->length);
    if (!draws->capture && zset_is_embedded(draws->entry)) {
        const uint8_t *at = packed_index_seek(&draws->index, packed_view(draws->entry).first,
                                              (size_t)draws->length, (size_t)number, skip_pair, 0);
        read_pair(&at, true, member);
        return;
    }
    struct skiplist_cursor cursor;
    if (draws->capture)
        skiplist_capture_seek(draws->capture, number, &cursor);
    else
        skiplist_seek(skiplist_of(draws->entry), number, &cursor);
    member->text = skiplist_cursor_member(&cursor);
    member->score = skiplist_cursor_score(&cursor);
}

void zset_draws_next(struct zset_draws *draws, struct random *random, struct zset_member *member) {
    zset_draws_at(draws, random_below(random, draws->length), member);
}

void zset_draws_end(struct zset_draws *draws) {
    packed_index_free(&draws->index);
}

uint64_t zset_scan(const struct entry *entry, uint64_t cursor,
                   void (*visit)(struct slice member, double score, void *arg), void *arg) {
    if (!zset_is_embedded(entry)) return skiplist_scan(skiplist_of(entry), cursor, visit, arg);
    struct zset_iter iter;
    struct zset_member member;
    zset_iter_start(&iter, entry, 0, true);
    while (zset_iter_next(&iter, &member)) visit(member.text, member.score, arg);
    return 0;
}

/* --- The row --- */

const struct skiplist *zset_skiplist(const struct entry *entry) {
    return zset_is_embedded(entry) ? NULL : skiplist_of(entry);
}

bool zset_listpack(const struct entry *entry, const uint8_t **first, const uint8_t **end) {
    if (!zset_is_embedded(entry)) return false;
    struct packed body = packed_view(entry);
    *first = body.first;
    *end = body.end;
    return true;
}

static const char *zset_encoding_name(const struct entry *entry) {
    return zset_is_embedded(entry) ? "listpack" : "skiplist";
}

#define zset_value_size packed_value_size

STRUCTURE_OPERATIONS(zset, skiplist)

static size_t zset_free_effort(const struct entry *entry) {
    const struct skiplist *list = skiplist_of(entry);
    return type_free_effort(skiplist_allocations(list), skiplist_allocated(list));
}

/* Returns whether the request is a ZADD of one member, whose score it names. One with a long text
 * is not worth parsing it twice. */
static bool is_adding(struct value_lookup *lookup) {
    return lookup->argc == 2 && lookup->gives_score && lookup->argv[0].len < DOUBLE_TEXT_MAX &&
           number_parse_double(lookup->argv[0], &lookup->score) && !isnan(lookup->score);
}

/* The member that the request names, then the place of its score. A request with two arguments
 * after the key is ZADD or ZINCRBY: the member is the second. */
static bool prefetch_member(struct value_lookup *lookup, const struct skiplist *list,
                            unsigned step) {
    if (step == 0) {
        lookup->hash = skiplist_hash(lookup->argv[lookup->argc == 2]);
        lookup->has_member = false;
    }
    if (!lookup->has_member) {
        if (skiplist_prefetch_member(list, lookup->hash, &lookup->at, step)) return true;
        if (!is_adding(lookup)) return false;
        lookup->has_member = true;
        lookup->at = NULL;
    }
    return skiplist_prefetch_path(list, lookup->score, &lookup->at, &lookup->level);
}

static bool zset_prefetch(struct value_lookup *lookup, unsigned step) {
    const struct skiplist *list = skiplist_of(lookup->entry);
    if (step == 0) {
        prefetch(list);
        return true;
    }
    if (skiplist_count(list) <= VALUE_CACHED_MEMBERS)
        return skiplist_prefetch_first(list, step - 1);
    return prefetch_member(lookup, list, step - 1);
}

static bool embedded_check(const struct entry *entry) {
    struct packed body = packed_view(entry);
    const uint8_t *at = body.first;
    struct zset_member member, last;
    if (!packed_check(entry) || !listpack_body_check(at, body.end, 2 * body.count)) return false;
    for (size_t i = 0; i < body.count; i++) {
        const uint8_t *pair = at;
        read_pair(&at, true, &member);
        if (isnan(member.score) || !zset_parse_score(pair + listpack_size(pair), &member.score))
            return false;
        if (i > 0) {
            const uint8_t *before = pair;
            read_pair(&before, false, &last);
            if (!is_before(&last, member.score, member.text)) return false;
        }
        struct zset_place place;
        find_embedded(entry, member.text, &place);
        if (!place.found || place.index != i) return false;
    }
    return true;
}

static bool zset_check(const struct entry *entry) {
    if (!entry_check(entry) || entry_type(entry) != VALUE_ZSET) return false;
    return zset_is_embedded(entry) ? embedded_check(entry) : skiplist_check(skiplist_of(entry));
}

/* --- Captures --- */

static struct capture *zset_capture(struct entry *entry, size_t *left) {
    struct skiplist *list = skiplist_of(entry);
    bool small = skiplist_allocated(list) < VALUE_CAPTURE_MIN || skiplist_count(list) == 0;
    return small ? NULL : skiplist_capture_begin(list, left);
}

static bool zset_is_captured(const struct entry *entry) {
    return skiplist_is_captured(skiplist_of(entry));
}

/* See zset_thaw. */
static void *zset_captured(const struct capture *capture) {
    return (void *)(uintptr_t)capture;
}

static void *zset_copy_captured(struct capture *capture) {
    return skiplist_capture_copy(capture, true);
}

struct entry *zset_thaw(const struct frozen *frozen, bool finds) {
    if (!frozen->capture) return frozen->entry;
    return entry_new_pointer(SLICE(""), VALUE_ZSET, ZSET_SKIPLIST,
                             skiplist_capture_copy(frozen->capture, finds));
}

void zset_thaw_end(const struct frozen *frozen, struct entry *entry) {
    if (entry != frozen->entry) value_free(entry);
}

void zset_frozen_select(const struct frozen *frozen,
                        bool (*wants)(double first, double last, const void *arg),
                        const void *arg) {
    if (frozen->capture) skiplist_capture_select(frozen->capture, wants, arg);
}

const struct type_operations zset_operations = TYPE_OPERATIONS(zset);
