/* SINTER SUNION SDIFF, the same with STORE and with CARD: sets made of several sets. Those that
 * take long are works (engine/work.h). */
#include "base/memory/alloc.h"
#include "commands/commands.h"
#include "commands/common.h"
#include "commands/sets/selection.h"
#include "commands/sets/set_operations.h"
#include "engine/call.h"
#include "engine/claim.h"
#include "engine/work.h"
#include "types/set.h"
#include "types/value.h"

/* Finds the sets under `keys`; replies WRONGTYPE and returns false where a key holds something
 * else. One that was named before changes no result, and is left out. The caller frees
 * operands->sets in both cases. */
static bool find_operands(struct call *call, enum set_operation operation, const struct slice *keys,
                          size_t count, struct set_operands *operands) {
    *operands =
        (struct set_operands){.sets = mem_alloc(count * sizeof(*operands->sets)), .count = count};
    for (size_t i = 0; i < count; i++) {
        struct keyref ref;
        if (!call_find_typed_read(call, keys[i], VALUE_SET, &ref)) return false;
        operands->sets[i] = ref.entry;
    }
    if (count > 1)
        operands->count = repeats_drop(operands->sets, sizeof(*operands->sets), 0, count,
                                       &operands->repeats_first);
    if (operation != SET_DIFFERENCE) set_operands_sort(operands);
    return true;
}

/* --- Storing --- */

/* Returns the result as a new set under the key. */
static struct entry *make_set(enum set_operation operation, const struct set_operands *operands,
                              struct slice key, const struct set_limits *limits) {
    if (operation == SET_UNION)
        return set_unite(operands->sets, operands->count, key, limits, UINT64_MAX);
    struct set_result result = {.limits = limits, .entry = set_load_new(key, 0, limits)};
    set_operate(operation, operands, &result);
    return result.entry;
}

/* The set takes the place of whatever stands under argv[1]; an empty one deletes it. */
static void store(struct call *call, struct entry *set, const char *event) {
    call_put_result(call, call->argv[1], set,
                    &(struct change){.class = EVENT_SET, .event = event, .count = 1});
}

/* --- In another thread --- */

struct algebra {
    struct work work;
    enum set_operation operation;
    enum { SELECTS, COUNTS, STORES } aim;
    const char *event; /* when it has been stored */
    uint64_t limit;
    struct set_limits limits;
    struct set_operands operands; /* frozen: they lie in the selection */
    struct set_selection selection;
    struct entry *made; /* the result as a set, or NULL */
    uint64_t count;
};

static void run_algebra(struct work *work) {
    struct algebra *algebra = (struct algebra *)work;
    if (algebra->aim == STORES) {
        algebra->made = make_set(algebra->operation, &algebra->operands, work->claim->key.name,
                                 &algebra->limits);
        return;
    }
    struct set_result result = {.limits = &algebra->limits,
                                .selection = algebra->aim == SELECTS ? &algebra->selection : NULL,
                                .limit = algebra->limit,
                                .work = work};
    if (algebra->operation == SET_UNION)
        algebra->made = set_count_united(&algebra->operands, &result);
    else
        set_operate(algebra->operation, &algebra->operands, &result);
    algebra->count = result.count;
}

static void answer_algebra(struct call *call, struct work *work) {
    struct algebra *algebra = (struct algebra *)work;
    switch (algebra->aim) {
    case COUNTS: reply_integer(call->reply, (int64_t)algebra->count); break;
    case STORES:
        store(call, algebra->made, algebra->event);
        algebra->made = NULL;
        break;
    case SELECTS:
        if (algebra->made) selection_take_set(call, work, &algebra->selection, &algebra->made);
        selection_reply(call, work, &algebra->selection);
    }
}

static void free_algebra(struct work *work) {
    struct algebra *algebra = (struct algebra *)work;
    if (algebra->made) work_free_value(work, algebra->made);
    selection_free(work, &algebra->selection);
    mem_free(algebra->operands.sets);
}

/* Takes ownership of operands->sets. */
static struct algebra *new_algebra(struct call *call, enum set_operation operation,
                                   struct set_operands *operands) {
    static const struct work_kind kind = {run_algebra, answer_algebra, free_algebra};
    struct algebra *algebra = work_new(&kind, sizeof(*algebra));
    algebra->operation = operation;
    algebra->limits = call->limits->set;
    algebra->operands = *operands;
    selection_freeze(call, operands, &algebra->selection);
    operands->sets = NULL;
    return algebra;
}

/* --- Commands --- */

static void reply_united(struct call *call, const struct set_operands *operands) {
    struct entry *set =
        set_unite(operands->sets, operands->count, SLICE(""), &call->limits->set, UINT64_MAX);
    struct set_iter iter;
    struct text_batch batch;
    reply_set(call->reply, set_length(set));
    set_iter_start(&iter, set);
    while (set_iter_next_batch(&iter, &batch)) reply_bulks(call->reply, batch.texts, batch.count);
    value_free(set);
}

static void reply_here(struct call *call, enum set_operation operation,
                       const struct set_operands *operands) {
    if (operation == SET_UNION) {
        reply_united(call, operands);
        return;
    }
    struct set_result result = {.limits = &call->limits->set, .reply = call->reply};
    size_t mark = reply_begin(call->reply);
    set_operate(operation, operands, &result);
    reply_set_end(call->reply, mark, result.count);
}

static void reply_operation(struct call *call, enum set_operation operation) {
    struct set_operands operands;
    bool found = find_operands(call, operation, call->argv + 1, call->argc - 1, &operands);
    if (found && work_pays(call, set_operation_steps(operation, &operands)))
        work_begin(call, &new_algebra(call, operation, &operands)->work);
    else if (found)
        reply_here(call, operation, &operands);
    mem_free(operands.sets);
}

static void store_elsewhere(struct call *call, enum set_operation operation,
                            struct set_operands *operands, const char *event) {
    struct algebra *algebra = new_algebra(call, operation, operands);
    algebra->aim = STORES;
    algebra->event = event;
    work_begin_storing(call, &algebra->work, call->argv[1]);
}

static void store_operation(struct call *call, enum set_operation operation, const char *event) {
    struct set_operands operands;
    bool found = find_operands(call, operation, call->argv + 2, call->argc - 2, &operands);
    if (found && work_pays_writing(call, set_operation_steps(operation, &operands)))
        store_elsewhere(call, operation, &operands, event);
    else if (found)
        store(call, make_set(operation, &operands, call->argv[1], &call->limits->set), event);
    mem_free(operands.sets);
}

COMMAND_FORM(sinter_command, reply_operation, SET_INTERSECTION)
COMMAND_FORM(sunion_command, reply_operation, SET_UNION)
COMMAND_FORM(sdiff_command, reply_operation, SET_DIFFERENCE)
COMMAND_FORM(sinterstore_command, store_operation, SET_INTERSECTION, "sinterstore")
COMMAND_FORM(sunionstore_command, store_operation, SET_UNION, "sunionstore")
COMMAND_FORM(sdiffstore_command, store_operation, SET_DIFFERENCE, "sdiffstore")

/* --- SINTERCARD, SUNIONCARD, SDIFFCARD numkeys key … [APPROX] [LIMIT limit] --- */

/* Parses what stands behind the keys. Otherwise replies the error. */
static bool parse_card(struct call *call, enum set_operation operation, size_t *key_count,
                       uint64_t *limit) {
    int64_t count, most = 0;
    if (!call_integer_in(call, 1, 1, INT64_MAX, &count, "ERR numkeys should be greater than 0"))
        return false;
    if ((uint64_t)count > call->argc - 2)
        return call_fail(call, CALL_ERROR_OTHER,
                         "ERR Number of keys can't be greater than number of args");
    for (size_t i = 2 + (size_t)count; i < call->argc; i++) {
        if (operation == SET_UNION && slice_is(call->argv[i], "approx")) continue;
        if (!slice_is(call->argv[i], "limit") || ++i == call->argc) return call_syntax_error(call);
        if (!call_integer_in(call, i, 0, INT64_MAX, &most, "ERR LIMIT can't be negative"))
            return false;
    }
    *key_count = (size_t)count;
    *limit = (uint64_t)most;
    return true;
}

static uint64_t count_here(struct call *call, enum set_operation operation,
                           const struct set_operands *operands, uint64_t limit) {
    struct set_result result = {.limits = &call->limits->set, .limit = limit};
    if (operation == SET_UNION) {
        struct entry *united = set_count_united(operands, &result);
        if (united) value_free(united);
    } else {
        set_operate(operation, operands, &result);
    }
    return result.count;
}

static void count_elsewhere(struct call *call, enum set_operation operation,
                            struct set_operands *operands, uint64_t limit) {
    struct algebra *algebra = new_algebra(call, operation, operands);
    algebra->aim = COUNTS;
    algebra->limit = limit;
    work_begin(call, &algebra->work);
}

/* With APPROX, too, SUNIONCARD counts exactly. */
static void reply_card(struct call *call, enum set_operation operation) {
    size_t key_count = 0;
    uint64_t limit = 0;
    struct set_operands operands;
    if (!parse_card(call, operation, &key_count, &limit)) return;
    bool found = find_operands(call, operation, call->argv + 2, key_count, &operands);
    if (found && work_pays(call, set_operation_steps(operation, &operands)))
        count_elsewhere(call, operation, &operands, limit);
    else if (found)
        reply_integer(call->reply, (int64_t)count_here(call, operation, &operands, limit));
    mem_free(operands.sets);
}

COMMAND_FORM(sintercard_command, reply_card, SET_INTERSECTION)
COMMAND_FORM(sunioncard_command, reply_card, SET_UNION)
COMMAND_FORM(sdiffcard_command, reply_card, SET_DIFFERENCE)
