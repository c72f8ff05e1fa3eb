#include "types/records_random.h"

#include "base/checked.h"
#include "base/memory/alloc.h"

/* An index is worth its time where less than about one record in PATIENCE + 1 has not expired. */
enum { PATIENCE_FIRST = 64, PATIENCE = 8 };

void records_draws_begin(struct records_draws *draws, const struct entry *entry, int64_t now_ms) {
    *draws = (struct records_draws){.entry = entry, .now_ms = now_ms, .patience = PATIENCE_FIRST};
    if (records_is_table(entry)) return;
    size_t expired;
    draws->first = records_expired_packed(entry, now_ms, SIZE_MAX, &expired, NULL, NULL);
    draws->count = packed_view(entry).count - expired;
}

void records_draws_end(struct records_draws *draws) {
    packed_index_free(&draws->index);
    if (draws->positions) mem_free(draws->positions);
}

/* --- From a packed value --- */

static inline const uint8_t *skip(const uint8_t *at, unsigned layout) {
    struct record record;
    return recordlist_read(at, layout, &record);
}

static bool draw_packed(struct records_draws *draws, struct random *random, struct record *record) {
    unsigned layout = records_layout(draws->entry);
    if (draws->count == 0) return false;
    size_t rank = random_below(random, draws->count);
    recordlist_read(
        packed_index_seek(&draws->index, draws->first, draws->count, rank, skip, layout), layout,
        record);
    return true;
}

/* --- From a table --- */

static void collect_living(struct records_draws *draws) {
    struct records_iter iter;
    struct record record;
    size_t capacity = 0;
    MEM_RESERVE(draws->positions, capacity, 1);
    records_iter_start(&iter, draws->entry);
    while (records_iter_next(&iter, &record)) {
        if (record_has_expired(&record, draws->now_ms)) continue;
        MEM_RESERVE(draws->positions, capacity, draws->living + 1);
        draws->positions[draws->living++] = recordtable_iter_position(&iter.table);
    }
}

static bool draw_from_table(struct records_draws *draws, struct random *random,
                            struct record *record) {
    struct recordtable *table = records_table(draws->entry);
    while (!draws->positions) {
        recordtable_random(table, random, record);
        if (!record_has_expired(record, draws->now_ms)) {
            draws->patience += PATIENCE;
            return true;
        }
        if (draws->patience-- == 0) collect_living(draws);
    }
    if (draws->living == 0) return false;
    recordtable_read_at(table, draws->positions[random_below(random, draws->living)], record);
    return true;
}

bool records_draws_next(struct records_draws *draws, struct random *random, struct record *record) {
    return draws->first ? draw_packed(draws, random, record)
                        : draw_from_table(draws, random, record);
}

/* --- Different ones --- */

/* Draws until enough different ones were drawn. */
static void sample_few(const struct entry *entry, struct random *random, uint64_t count,
                       int64_t now_ms, bool (*visit)(const struct record *record, void *arg),
                       void *arg) {
    struct recordtable *drawn = recordtable_new(false);
    struct records_draws draws;
    bool goes_on = true;
    records_draws_begin(&draws, entry, now_ms);
    while (goes_on && recordtable_count(drawn) < count) {
        struct record record;
        records_draws_next(&draws, random, &record);
        struct record name = {.field = record.field, .expiry_ms = RECORD_NEVER};
        if (recordtable_set(drawn, &name, recordtable_hash(name.field)))
            goes_on = visit(&record, arg);
    }
    records_draws_end(&draws);
    recordtable_free(drawn);
}

/* Selection sampling (Knuth, The Art of Computer Programming, volume 2, 3.4.2, algorithm S): each
 * record is chosen with the probability with which those still needed are among those left. */
void records_sample(const struct entry *entry, struct random *random, uint64_t count,
                    uint64_t living, int64_t now_ms,
                    bool (*visit)(const struct record *record, void *arg), void *arg) {
    CHECKED_ASSERT(living <= records_length(entry));
    if (count > living) count = living;
    if (records_is_table(entry) && count <= living / 3) {
        sample_few(entry, random, count, now_ms, visit, arg);
        return;
    }
    struct records_iter iter;
    struct record record;
    records_iter_start(&iter, entry);
    while (count && records_iter_next(&iter, &record)) {
        if (record_has_expired(&record, now_ms)) continue;
        if (random_below(random, living--) >= count) continue;
        if (!visit(&record, arg)) return;
        count--;
    }
}

void records_take_sample(struct entry **entry, struct random *random, uint64_t count,
                         void (*visit)(const struct record *record, void *arg), void *arg) {
    unsigned layout = records_layout(*entry);
    struct packed body = packed_view(*entry);
    size_t left = body.count, needed = count;
    CHECKED_ASSERT(!(layout & RECORDLIST_EXPIRIES) && count < left);
    uint8_t *to = body.first; /* after the records that stay */
    for (const uint8_t *at = body.first, *next; at < body.end; at = next) {
        struct record record;
        next = recordlist_read(at, layout, &record);
        if (needed && random_below(random, left--) < needed) {
            visit(&record, arg);
            needed--;
        } else {
            memmove(to, at, (size_t)(next - at));
            to += next - at;
        }
    }
    packed_splice(entry, (size_t)(to - body.first), (size_t)(body.end - to), 0, body.count - count);
}
