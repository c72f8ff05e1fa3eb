/* SINTER SUNION SDIFF, the same with STORE and with CARD: sets made of several sets.
 *
 * Members come in batches, so that lookups of a batch in one table overlap their cache misses. A
 * key that does not exist is an empty set. */
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "commands/commands.h"
#include "commands/common.h"
#include "engine/call.h"
#include "types/set.h"
#include "types/value.h"

#include <stdlib.h>

/* The sets that a command names, each once, in the order of its arguments; NULL: there is none. */
struct operands {
    const struct entry **sets;
    size_t count;
    bool repeats_first; /* the first set was named more than once */
};

static uint64_t length_of(const struct entry *set) {
    return set ? set_length(set) : 0;
}

/* Finds the sets under `keys`; replies WRONGTYPE and returns false where a key holds something
 * else. One that was named before changes no result, and is left out. The caller frees
 * operands->sets in both cases. */
static bool find_operands(struct call *call, const struct slice *keys, size_t count,
                          struct operands *operands) {
    *operands =
        (struct operands){.sets = mem_alloc(count * sizeof(*operands->sets)), .count = count};
    for (size_t i = 0; i < count; i++) {
        struct keyref ref;
        if (!call_find_typed_read(call, keys[i], VALUE_SET, &ref)) return false;
        operands->sets[i] = ref.entry;
    }
    if (count > 1)
        operands->count = repeats_drop(operands->sets, sizeof(*operands->sets), 0, count,
                                       &operands->repeats_first);
    return true;
}

/* --- Where members of the result go --- */

struct result {
    struct reply *reply; /* a reply, … */
    struct entry *entry; /* … or a set outside of the keyspace, … */
    const struct set_limits *limits;
    uint64_t count; /* … or nowhere: they are only counted, … */
    uint64_t limit; /* … up to so many */
};

/* At most TEXT_BATCH members. */
static void result_add(struct result *result, const struct set_probe *members, size_t count) {
    struct slice texts[TEXT_BATCH];
    result->count += count;
    if (result->reply) {
        for (size_t i = 0; i < count; i++) texts[i] = members[i].member;
        reply_bulks(result->reply, texts, count);
    } else if (result->entry) {
        for (size_t i = 0; i < count; i++)
            set_load_add(&result->entry, members[i].member, result->limits);
    }
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

/* Returns whether the limit is reached. The count is then lowered to it. */
static bool result_is_full(struct result *result) {
    if (!result->limit || result->count < result->limit) return false;
    result->count = result->limit;
    return true;
}

/* --- Intersection --- */

/* Shorter sets come first. */
static int by_length(const void *a, const void *b) {
    uint64_t left = length_of(*(const struct entry *const *)a);
    uint64_t right = length_of(*(const struct entry *const *)b);
    return (left > right) - (left < right);
}

/* Members of the smallest set are looked for in the others, in smaller ones first. O(smallest *
 * sets). */
static void intersect(const struct operands *operands, struct result *result) {
    struct set_iter iter;
    struct batch batch;
    qsort(operands->sets, operands->count, sizeof(*operands->sets), by_length);
    if (!operands->sets[0]) return;
    set_iter_start(&iter, operands->sets[0]);
    while (batch_read(&batch, &iter)) {
        for (size_t i = 1; i < operands->count && batch.count; i++)
            batch.count = set_keep_members(operands->sets[i], batch.probes, batch.count);
        result_add(result, batch.probes, batch.count);
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
static const struct entry *largest_table(const struct entry *const *sets, size_t count,
                                         const struct set_limits *limits) {
    const struct entry *largest = NULL;
    for (size_t i = 0; i < count; i++)
        if (length_of(sets[i]) > length_of(largest)) largest = sets[i];
    if (!is_surely_table(length_of(largest), limits)) return NULL;
    return set_table(largest) ? largest : NULL;
}

/* A new entry under `key` with all members of the sets, or as many as are `enough`. A table is
 * copied, which is cheaper than adding its members. O(members). */
static struct entry *unite(const struct entry *const *sets, size_t count, struct slice key,
                           const struct set_limits *limits, uint64_t enough) {
    const struct entry *largest = largest_table(sets, count, limits);
    struct entry *set = largest ? value_copy(largest, key) : set_load_new(key, 0, limits);
    if (largest) set = entry_set_expiry(set, -1, value_size(set));
    for (size_t i = 0; i < count; i++)
        if (sets[i] && sets[i] != largest) add_all(&set, sets[i], limits, enough);
    return set;
}

/* --- Difference --- */

/* Returns whether both are views of the same member of a set. An empty member may begin where the
 * next one does. */
static bool is_same_view(struct slice a, struct slice b) {
    return a.ptr == b.ptr && a.len == b.len;
}

/* Looks each member of the first set up in `others`. */
static void subtract_each(const struct entry *first, const struct entry *const *others,
                          size_t count, struct result *result) {
    struct set_iter iter;
    struct batch batch;
    set_iter_start(&iter, first);
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
        result_add(result, batch.probes, left);
        if (result_is_full(result)) return;
    }
}

/* Many small sets are united first: then each member of the first set is looked up once. */
static void subtract(const struct operands *operands, const struct set_limits *limits,
                     struct result *result) {
    const struct entry *first = operands->sets[0];
    const struct entry *const *others = operands->sets + 1;
    size_t count = operands->count - 1;
    uint64_t members = 0;
    if (!first || operands->repeats_first) return;
    for (size_t i = 0; i < count; i++) members += length_of(others[i]);
    bool unites = count > 1 && members * ADDING_PER_LOOKUP / (count - 1) < set_length(first);
    struct entry *united = unites ? unite(others, count, SLICE(""), limits, UINT64_MAX) : NULL;
    const struct entry *other = united;
    subtract_each(first, unites ? &other : others, unites ? 1 : count, result);
    if (unites) value_free(united);
}

/* --- Commands --- */

enum operation { INTERSECTION, UNION, DIFFERENCE };

static void reply_united(struct call *call, const struct operands *operands) {
    struct entry *set =
        unite(operands->sets, operands->count, SLICE(""), &call->limits->set, UINT64_MAX);
    struct set_iter iter;
    struct text_batch batch;
    reply_set(call->reply, set_length(set));
    set_iter_start(&iter, set);
    while (set_iter_next_batch(&iter, &batch)) reply_bulks(call->reply, batch.texts, batch.count);
    value_free(set);
}

static void run(struct call *call, enum operation operation, const struct operands *operands,
                struct result *result) {
    if (operation == INTERSECTION)
        intersect(operands, result);
    else if (operation == DIFFERENCE)
        subtract(operands, &call->limits->set, result);
}

static void reply_operation(struct call *call, enum operation operation) {
    struct operands operands;
    struct result result = {.reply = call->reply};
    bool found = find_operands(call, call->argv + 1, call->argc - 1, &operands);
    if (found && operation == UNION) {
        reply_united(call, &operands);
    } else if (found) {
        size_t mark = reply_begin(call->reply);
        run(call, operation, &operands, &result);
        reply_set_end(call->reply, mark, result.count);
    }
    mem_free(operands.sets);
}

/* The set takes the place of whatever stands under argv[1]; an empty one deletes it. */
static void store(struct call *call, struct entry *set, const char *event) {
    struct slice key = call->argv[1];
    struct keyref ref;
    call_find_write(call, key, &ref);
    uint64_t length = set_length(set);
    reply_integer(call->reply, (int64_t)length);
    if (length == 0) {
        value_free(set);
        call_remove(call, &ref, key, REMOVAL_RESULT_EMPTY);
        return;
    }
    call_put(call, &ref, set);
    CALL_CHANGED(call, &ref, key, EVENT_SET, event, 1);
}

static void store_operation(struct call *call, enum operation operation, const char *event) {
    const struct set_limits *limits = &call->limits->set;
    struct slice key = call->argv[1];
    struct operands operands;
    if (find_operands(call, call->argv + 2, call->argc - 2, &operands)) {
        struct result result = {.limits = limits};
        if (operation == UNION)
            result.entry = unite(operands.sets, operands.count, key, limits, UINT64_MAX);
        else
            result.entry = set_load_new(key, 0, limits);
        run(call, operation, &operands, &result);
        store(call, result.entry, event);
    }
    mem_free(operands.sets);
}

COMMAND_FORM(sinter_command, reply_operation, INTERSECTION)
COMMAND_FORM(sunion_command, reply_operation, UNION)
COMMAND_FORM(sdiff_command, reply_operation, DIFFERENCE)
COMMAND_FORM(sinterstore_command, store_operation, INTERSECTION, "sinterstore")
COMMAND_FORM(sunionstore_command, store_operation, UNION, "sunionstore")
COMMAND_FORM(sdiffstore_command, store_operation, DIFFERENCE, "sdiffstore")

/* --- SINTERCARD, SUNIONCARD, SDIFFCARD numkeys key … [APPROX] [LIMIT limit] --- */

/* Parses what stands behind the keys. Otherwise replies the error. */
static bool parse_card(struct call *call, enum operation operation, size_t *key_count,
                       uint64_t *limit) {
    int64_t count, most = 0;
    if (!call_integer_in(call, 1, 1, INT64_MAX, &count, "ERR numkeys should be greater than 0"))
        return false;
    if ((uint64_t)count > call->argc - 2)
        return call_fail(call, CALL_ERROR_OTHER,
                         "ERR Number of keys can't be greater than number of args");
    for (size_t i = 2 + (size_t)count; i < call->argc; i++) {
        if (operation == UNION && slice_is(call->argv[i], "approx")) continue;
        if (!slice_is(call->argv[i], "limit") || ++i == call->argc) return call_syntax_error(call);
        if (!call_integer_in(call, i, 0, INT64_MAX, &most, "ERR LIMIT can't be negative"))
            return false;
    }
    *key_count = (size_t)count;
    *limit = (uint64_t)most;
    return true;
}

/* Counts the members of the union of sets that are sorted by length. The largest set counts as a
 * whole, of each other one the members that no larger one has: a large set is neither copied nor
 * walked over for the sake of a small one. Many sets are united, because then each member is looked
 * up once. */
static void count_united(struct call *call, const struct operands *operands,
                         struct result *result) {
    const struct entry **sets = operands->sets;
    size_t largest = operands->count - 1;
    uint64_t members = 0, lookups = 0;
    result->count = length_of(sets[largest]);
    if (result_is_full(result)) return;
    for (size_t i = 0; i < largest; i++) {
        members += length_of(sets[i]);
        lookups += length_of(sets[i]) * (largest - i);
    }
    if (lookups / ADDING_PER_LOOKUP > members) {
        uint64_t enough = result->limit ? result->limit : UINT64_MAX;
        struct entry *set = unite(sets, operands->count, SLICE(""), &call->limits->set, enough);
        result->count = set_length(set);
        value_free(set);
        return;
    }
    for (size_t i = largest; i-- > 0 && !result_is_full(result);)
        if (sets[i]) subtract_each(sets[i], sets + i + 1, largest - i, result);
}

/* With APPROX, too, SUNIONCARD counts exactly. */
static void reply_card(struct call *call, enum operation operation) {
    size_t key_count = 0;
    struct operands operands;
    struct result result = {0};
    if (!parse_card(call, operation, &key_count, &result.limit)) return;
    if (find_operands(call, call->argv + 2, key_count, &operands)) {
        if (operation == UNION) {
            qsort(operands.sets, operands.count, sizeof(*operands.sets), by_length);
            count_united(call, &operands, &result);
        } else {
            run(call, operation, &operands, &result);
        }
        result_is_full(&result);
        reply_integer(call->reply, (int64_t)result.count);
    }
    mem_free(operands.sets);
}

COMMAND_FORM(sintercard_command, reply_card, INTERSECTION)
COMMAND_FORM(sunioncard_command, reply_card, UNION)
COMMAND_FORM(sdiffcard_command, reply_card, DIFFERENCE)
