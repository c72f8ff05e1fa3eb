/* Members come in batches, so that lookups of a batch in one table overlap their cache misses. */
#include "commands/sets/set_operations.h"

#include "commands/sets/selection.h"
#include "engine/work.h"
#include "resp/reply.h"
#include "types/value.h"

#include <stdlib.h>
#include <string.h>

static uint64_t length_of(const struct entry *set) {
    return set ? set_length(set) : 0;
}

/* Shorter sets come first. */
static int by_length(const void *a, const void *b) {
    uint64_t left = length_of(*(const struct entry *const *)a);
    uint64_t right = length_of(*(const struct entry *const *)b);
    return (left > right) - (left < right);
}

void set_operands_sort(struct set_operands *operands) {
    qsort(operands->sets, operands->count, sizeof(*operands->sets), by_length);
}

uint64_t set_operation_steps(enum set_operation operation, const struct set_operands *operands) {
    uint64_t others = 0, first = length_of(operands->sets[0]);
    for (size_t i = 1; i < operands->count; i++) others += length_of(operands->sets[i]);
    uint64_t each = first * (operands->count - 1), united = first + others;
    if (operation == SET_INTERSECTION) return each;
    return operation == SET_UNION || united < each ? united : each;
}

/* --- Batches --- */

struct batch {
    struct set_probe probes[TEXT_BATCH];
    size_t count;
    struct text_batch texts;
};

/* Reads the next members; false when there are no more. */
static bool batch_read(struct batch *batch, struct set_iter *iter) {
    if (!set_iter_next_batch(iter, &batch->texts)) return false;
    batch->count = batch->texts.count;
    for (size_t i = 0; i < batch->count; i++) {
        struct slice member = batch->texts.texts[i];
        batch->probes[i] = (struct set_probe){member, set_hash(member)};
    }
    return true;
}

/* --- The result --- */

/* Returns whether both are views of the same member of a set. An empty member may begin where the
 * next one does. */
static bool is_same_view(struct slice a, struct slice b) {
    return a.ptr == b.ptr && a.len == b.len;
}

/* Says of each member of the batch whether it is one of its `count` probes, which are in the same
 * order. */
static void select_probes(struct selected *selected, const struct batch *batch) {
    size_t next = 0;
    for (size_t i = 0; i < batch->texts.count; i++) {
        bool is_in =
            next < batch->count && is_same_view(batch->texts.texts[i], batch->probes[next].member);
        selection_add(selected, is_in);
        next += is_in;
    }
}

/* Adds the batch's probes. `set` is the index of the operand from which they are. */
static void result_add(struct set_result *result, size_t set, const struct batch *batch) {
    result->count += batch->count;
    if (result->selection) {
        select_probes(&result->selection->sets[set], batch);
    } else if (result->reply) {
        struct slice texts[TEXT_BATCH];
        for (size_t i = 0; i < batch->count; i++) texts[i] = batch->probes[i].member;
        reply_bulks(result->reply, texts, batch->count);
    } else if (result->entry) {
        for (size_t i = 0; i < batch->count; i++)
            set_load_add(&result->entry, batch->probes[i].member, result->limits);
    }
}

/* Returns whether the rest is not needed. The count is then at most the limit. */
static bool result_is_full(struct set_result *result) {
    if (result->work && work_is_cancelled(result->work)) return true;
    if (!result->limit || result->count < result->limit) return false;
    result->count = result->limit;
    return true;
}

/* --- Intersection --- */

/* Members of the smallest set are looked for in the others, in smaller ones first. O(smallest *
 * sets). */
static void intersect(const struct set_operands *operands, struct set_result *result) {
    struct set_iter iter;
    struct batch batch;
    if (!operands->sets[0]) return;
    if (result->selection) selection_begin(&result->selection->sets[0]);
    set_iter_start(&iter, operands->sets[0]);
    while (batch_read(&batch, &iter)) {
        for (size_t i = 1; i < operands->count && batch.count; i++)
            batch.count = set_keep_members(operands->sets[i], batch.probes, batch.count);
        result_add(result, 0, &batch);
        if (result_is_full(result)) return;
    }
}

/* --- Union --- */

/* How much longer it takes to add a member to a set than to find it there. */
enum { ADDING_PER_LOOKUP = 3 };

/* Adds members until the set has `enough`. */
static void add_all(struct entry **set, const struct entry *other, const struct set_limits *limits,
                    uint64_t enough) {
    struct set_iter iter;
    struct slice member;
    set_iter_start(&iter, other);
    while (set_length(*set) < enough && set_iter_next(&iter, &member))
        set_load_add(set, member, limits);
}

/* Returns whether a set of this length would be a table whatever its members. */
static bool is_surely_table(uint64_t length, const struct set_limits *limits) {
    return length > limits->intset_entries && length > limits->listpack_entries;
}

/* The largest of the sets, if it is a table, and their union is one, too; otherwise NULL. A large
 * set is not a table if the limits were higher when it was made. */
static const struct entry *largest_table(struct entry *const *sets, size_t count,
                                         const struct set_limits *limits) {
    const struct entry *largest = NULL;
    for (size_t i = 0; i < count; i++)
        if (length_of(sets[i]) > length_of(largest)) largest = sets[i];
    if (!is_surely_table(length_of(largest), limits)) return NULL;
    return set_table(largest) ? largest : NULL;
}

struct entry *set_unite(struct entry *const *sets, size_t count, struct slice key,
                        const struct set_limits *limits, uint64_t enough) {
    const struct entry *largest = largest_table(sets, count, limits);
    struct entry *set = largest ? value_copy(largest, key) : set_load_new(key, 0, limits);
    if (largest) set = entry_set_expiry(set, -1, value_size(set));
    for (size_t i = 0; i < count; i++)
        if (sets[i] && sets[i] != largest) add_all(&set, sets[i], limits, enough);
    return set;
}

/* --- Difference --- */

/* Looks each member of operand number `first` up in `others`. */
static void subtract_each(const struct set_operands *operands, size_t first,
                          struct entry *const *others, size_t count, struct set_result *result) {
    struct set_iter iter;
    struct batch batch;
    if (result->selection) selection_begin(&result->selection->sets[first]);
    set_iter_start(&iter, operands->sets[first]);
    while (batch_read(&batch, &iter)) {
        struct set_probe found[TEXT_BATCH];
        bool is_in_other[TEXT_BATCH] = {false};
        for (size_t i = 0; i < count; i++) {
            if (!others[i]) continue;
            memcpy(found, batch.probes, batch.count * sizeof(*found));
            size_t members = set_keep_members(others[i], found, batch.count);
            /* Both arrays are in the same order. */
            for (size_t probe = 0, member = 0; member < members; probe++) {
                if (!is_same_view(batch.probes[probe].member, found[member].member)) continue;
                is_in_other[probe] = true;
                member++;
            }
        }
        size_t left = 0;
        for (size_t i = 0; i < batch.count; i++)
            if (!is_in_other[i]) batch.probes[left++] = batch.probes[i];
        batch.count = left;
        result_add(result, first, &batch);
        if (result_is_full(result)) return;
    }
}

/* Many small sets are united first: then each member of the first set is looked up once. */
static void subtract(const struct set_operands *operands, struct set_result *result) {
    const struct entry *first = operands->sets[0];
    struct entry *const *others = operands->sets + 1;
    size_t count = operands->count - 1;
    uint64_t members = 0;
    if (!first || operands->repeats_first) return;
    for (size_t i = 0; i < count; i++) members += length_of(others[i]);
    bool unites = count > 1 && members * ADDING_PER_LOOKUP / (count - 1) < set_length(first);
    struct entry *united =
        unites ? set_unite(others, count, SLICE(""), result->limits, UINT64_MAX) : NULL;
    subtract_each(operands, 0, unites ? &united : others, unites ? 1 : count, result);
    if (unites) value_free(united);
}

void set_operate(enum set_operation operation, const struct set_operands *operands,
                 struct set_result *result) {
    if (operation == SET_INTERSECTION)
        intersect(operands, result);
    else
        subtract(operands, result);
}

/* --- Counting and selecting a union --- */

struct entry *set_count_united(const struct set_operands *operands, struct set_result *result) {
    struct entry *const *sets = operands->sets;
    size_t largest = operands->count - 1;
    uint64_t members = 0, lookups = 0;
    result->count = length_of(sets[largest]);
    if (result_is_full(result)) return NULL;
    for (size_t i = 0; i < largest; i++) {
        members += length_of(sets[i]);
        lookups += length_of(sets[i]) * (largest - i);
    }
    if (lookups / ADDING_PER_LOOKUP > members) {
        uint64_t enough = result->limit ? result->limit : UINT64_MAX;
        struct entry *set = set_unite(sets, operands->count, SLICE(""), result->limits, enough);
        result->count = set_length(set);
        return set;
    }
    if (result->selection && sets[largest]) selection_take_all(&result->selection->sets[largest]);
    for (size_t i = largest; i-- > 0 && !result_is_full(result);)
        if (sets[i]) subtract_each(operands, i, sets + i + 1, largest - i, result);
    return NULL;
}
