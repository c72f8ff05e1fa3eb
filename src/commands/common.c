#include "commands/common.h"

#include "base/memory/alloc.h"
#include "base/text/glob.h"
#include "base/text/number.h"
#include "types/value.h"

#include <stdlib.h>
#include <string.h>

struct capture *capture_to_defer(const struct call *call, struct entry *entry, size_t expected) {
    if (!reply_may_defer(call->reply, expected)) return NULL;
    return value_capture(entry, &call->reply->sources->capture_bytes);
}

/* --- Positions --- */

void range_clamp(int64_t start, int64_t stop, uint64_t length, uint64_t *from, uint64_t *count) {
    int64_t signed_length = (int64_t)length;
    if (start < 0) start += signed_length;
    if (stop < 0) stop += signed_length;
    if (start < 0) start = 0;
    if (stop >= signed_length) stop = signed_length - 1;
    *from = start <= stop ? (uint64_t)start : 0;
    *count = start <= stop ? (uint64_t)(stop - start) + 1 : 0;
}

/* --- Values that are named more than once --- */

struct named {
    const void *value;
    size_t index;
};

static int compare_named(const void *a, const void *b) {
    const struct named *one = a, *two = b;
    uintptr_t x = (uintptr_t)one->value, y = (uintptr_t)two->value;
    if (x == y) x = one->index, y = two->index;
    return (x > y) - (x < y);
}

/* O(count · count): faster than sorting for a few. */
static void find_few(size_t *firsts, const struct named *named, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (firsts[i] = 0; named[firsts[i]].value != named[i].value;) firsts[i]++;
}

static void find_by_sorting(size_t *firsts, struct named *named, size_t count) {
    qsort(named, count, sizeof(*named), compare_named);
    for (size_t i = 0; i < count; i++) {
        bool repeats = i > 0 && named[i].value == named[i - 1].value;
        firsts[named[i].index] = repeats ? firsts[named[i - 1].index] : named[i].index;
    }
}

static void name_all(struct named *named, const char *values, size_t stride, size_t count) {
    for (size_t i = 0; i < count; i++, values += stride) {
        memcpy(&named[i].value, values, sizeof(named[i].value));
        named[i].index = i;
    }
}

void firsts_find(struct firsts *firsts, const void *values, size_t stride, size_t count) {
    if (count <= FIRSTS_FEW) {
        struct named named[FIRSTS_FEW];
        name_all(named, values, stride, count);
        firsts->at = firsts->few;
        find_few(firsts->at, named, count);
    } else {
        struct named *named = mem_alloc(count * sizeof(*named));
        name_all(named, values, stride, count);
        firsts->at = mem_alloc(count * sizeof(*firsts->at));
        find_by_sorting(firsts->at, named, count);
        mem_free(named);
    }
}

void firsts_end(struct firsts *firsts) {
    if (firsts->at != firsts->few) mem_free(firsts->at);
}

size_t repeats_drop(void *values, size_t size, size_t offset, size_t count, bool *of_first) {
    struct firsts firsts;
    char *all = values;
    size_t kept = 0;
    *of_first = false;
    firsts_find(&firsts, all + offset, size, count);
    for (size_t i = 0; i < count; i++) {
        if (firsts.at[i] == i)
            memmove(all + size * kept++, all + size * i, size);
        else if (firsts.at[i] == 0)
            *of_first = true;
    }
    firsts_end(&firsts);
    return kept;
}

/* --- Pops --- */

bool pop_count_parse(struct call *call, int64_t *count) {
    if (call->argc > 3) return call_syntax_error(call);
    return call->argc < 3 || call_integer_in(call, 2, 0, INT64_MAX, count,
                                             "ERR value is out of range, must be positive");
}

/* --- Pops from the first of several keys --- */

/* numkeys key … end [COUNT count]: what a command is asked, or a client waits, to do. */
struct pop {
    const struct pop_type *type;
    const struct slice *keys;
    size_t key_count;
    bool from_last;
    uint64_t count;
};

/* [COUNT count] at argv[at]. */
static bool parse_pop_count(struct call *call, size_t at, struct pop *pop) {
    int64_t count;
    pop->count = 1;
    if (at == call->argc) return true;
    if (!slice_is(call->argv[at], "count") || at + 1 == call->argc) return call_syntax_error(call);
    if (!call_integer_in(call, at + 1, 1, INT64_MAX, &count, "ERR count should be greater than 0"))
        return false;
    pop->count = (uint64_t)count;
    return at + 2 == call->argc || call_syntax_error(call);
}

/* Parses what begins with numkeys at argv[index]. Otherwise replies the error and returns false. */
static bool parse_pop(struct call *call, size_t index, struct pop *pop) {
    int64_t key_count;
    if (!call_integer_in(call, index, 1, INT64_MAX, &key_count,
                         "ERR numkeys should be greater than 0"))
        return false;
    size_t behind = call->argc - index - 1; /* arguments after numkeys */
    if ((uint64_t)key_count >= behind) return call_syntax_error(call);
    pop->keys = call->argv + index + 1;
    pop->key_count = (size_t)key_count;
    struct slice end = pop->keys[key_count];
    pop->from_last = slice_is(end, pop->type->ends[1]);
    if (!pop->from_last && !slice_is(end, pop->type->ends[0])) return call_syntax_error(call);
    return parse_pop_count(call, index + 2 + pop->key_count, pop);
}

/* Replies from the first of the keys that exists and returns true; WRONGTYPE, if that holds another
 * type. If no key exists, replies nothing and returns false. */
static bool try_pop(struct call *call, const struct pop *pop) {
    const struct pop_type *type = pop->type;
    for (size_t i = 0; i < pop->key_count; i++) {
        char buffer[INT64_TEXT_MAX];
        struct slice key = pop->keys[i];
        struct keyref ref;
        if (!call_find_typed_write(call, key, type->type, &ref)) return true;
        if (ref.entry == NULL) continue;
        if (type->pop_later && type->pop_later(call, ref.entry, key, pop->from_last, pop->count))
            return true;
        reply_array(call->reply, 2);
        reply_bulk(call->reply, key);
        uint64_t count = type->pop_many(call, &ref, key, pop->from_last, pop->count);
        CALL_PROPAGATE(call, type->commands[pop->from_last], key,
                       number_text(buffer, (int64_t)count));
        return true;
    }
    return false;
}

void pop_from_any(struct call *call, const struct pop_type *type) {
    struct pop pop = {.type = type};
    if (parse_pop(call, 1, &pop) && !try_pop(call, &pop)) reply_null_array(call->reply);
}

/* --- Pops that wait --- */

bool block_find_ready(struct call *call, struct slice key, enum value_type type,
                      struct keyref *ref) {
    call_find_write(call, key, ref);
    return ref->entry && entry_type(ref->entry) == type;
}

static void pop_one(struct call *call, const struct pop_type *type, struct keyref *ref,
                    struct slice key, bool from_last) {
    type->pop_one(call, ref, key, from_last);
    CALL_PROPAGATE(call, type->commands[from_last], key);
}

static bool serve_pop(struct call *call, struct slice key, void *state) {
    const struct pop *pop = state;
    struct keyref ref;
    if (!block_find_ready(call, key, pop->type->type, &ref)) return false;
    pop_one(call, pop->type, &ref, key, pop->from_last);
    return true;
}

static bool serve_mpop(struct call *call, struct slice key, void *state) {
    struct pop *pop = state;
    struct keyref ref;
    pop->keys = &key;
    pop->key_count = 1;
    return block_find_ready(call, key, pop->type->type, &ref) && try_pop(call, pop);
}

static void wait_to_pop(struct call *call, const struct waiter_kind *kind, const struct pop *pop,
                        int64_t deadline_ms) {
    call_block(call, &(struct block_request){.kind = kind,
                                             .state = pop,
                                             .state_size = sizeof(*pop),
                                             .keys = pop->keys,
                                             .key_count = pop->key_count,
                                             .deadline_ms = deadline_ms});
}

void block_pop(struct call *call, const struct pop_type *type, bool from_last) {
    static const struct waiter_kind kind = {.serve = serve_pop};
    int64_t deadline_ms;
    if (!call_timeout(call, call->argc - 1, &deadline_ms)) return;
    const struct slice *keys = call->argv + 1;
    size_t key_count = call->argc - 2;
    for (size_t i = 0; i < key_count; i++) {
        struct keyref ref;
        if (!call_find_typed_write(call, keys[i], type->type, &ref)) return;
        if (ref.entry == NULL) continue;
        pop_one(call, type, &ref, keys[i], from_last);
        return;
    }
    wait_to_pop(call, &kind, &(struct pop){type, keys, key_count, from_last, 1}, deadline_ms);
}

void block_mpop(struct call *call, const struct pop_type *type) {
    static const struct waiter_kind kind = {.serve = serve_mpop};
    int64_t deadline_ms;
    struct pop pop = {.type = type};
    if (parse_pop(call, 2, &pop) && call_timeout(call, 1, &deadline_ms) && !try_pop(call, &pop))
        wait_to_pop(call, &kind, &pop, deadline_ms);
}

/* --- Expiries --- */

enum expiry_option expiry_option_of(struct slice option) {
    if (slice_is(option, "ex")) return EXPIRY_EX;
    if (slice_is(option, "px")) return EXPIRY_PX;
    if (slice_is(option, "exat")) return EXPIRY_EXAT;
    if (slice_is(option, "pxat")) return EXPIRY_PXAT;
    return EXPIRY_NONE;
}

/* --- Scans --- */

bool scan_begin(struct scan *scan, struct call *call, size_t index) {
    *scan = (struct scan){.call = call, .wanted = 10};
    if (number_parse_uint64(call->argv[index], &scan->cursor)) return true;
    return reply_error(call->reply, "ERR invalid cursor");
}

static bool parse_scan_count(struct scan *scan, size_t index) {
    int64_t count;
    if (!call_integer(scan->call, index, &count)) return false;
    scan->wanted = (uint64_t)count;
    return count >= 1 || call_syntax_error(scan->call);
}

bool scan_parse_option(struct scan *scan, size_t index) {
    struct call *call = scan->call;
    struct slice option = call->argv[index];
    if (slice_is(option, "novalues"))
        return reply_error(call->reply, "ERR NOVALUES option can only be used in HSCAN");
    if (slice_is(option, "noscores"))
        return reply_error(call->reply, "ERR NOSCORES option can only be used in ZSCAN");
    bool has_value = index + 1 < call->argc;
    if (has_value && slice_is(option, "count")) return parse_scan_count(scan, index + 1);
    if (has_value && slice_is(option, "match")) {
        scan->pattern = call->argv[index + 1];
        scan->has_pattern = !glob_is_match_all(scan->pattern);
        return true;
    }
    return call_syntax_error(call);
}

bool scan_matches(const struct scan *scan, struct slice text) {
    return !scan->has_pattern || glob_match(scan->pattern, text, false);
}

void scan_reply(struct scan *scan, struct slice text) {
    reply_bulk(&scan->items, text);
    scan->replied++;
}

static void reply_cursor(struct call *call, uint64_t cursor) {
    char digits[INT64_TEXT_MAX];
    reply_bulk(call->reply, slice_make(digits, number_format_uint64(digits, cursor)));
}

/* The most that one call of a scan visits and replies for a client, so that other clients wait for
 * about a millisecond: COUNT is only a hint. In scripts and transactions, which hold the others in
 * any case and may rely on COUNT, that alone decides. */
enum { SCAN_KEYS_MOST = 8192, SCAN_ELEMENTS_MOST = 1024, SCAN_BYTES_MOST = 512 * 1024 };

static uint64_t scan_most(const struct scan *scan) {
    if (scan->call->origin != ORIGIN_CLIENT) return UINT64_MAX;
    return scan->entry ? SCAN_ELEMENTS_MOST : SCAN_KEYS_MOST;
}

void scan_run(struct scan *scan, uint64_t (*step)(struct scan *scan)) {
    enum { STEPS_PER_ITEM_WANTED = 10 }; /* how long to search a sparse table for them */
    struct reply *reply = scan->call->reply;
    uint64_t most = scan_most(scan), wanted = scan->wanted < most ? scan->wanted : most;
    uint64_t steps =
        wanted < UINT64_MAX / STEPS_PER_ITEM_WANTED ? wanted * STEPS_PER_ITEM_WANTED : UINT64_MAX;
    size_t bytes = most == UINT64_MAX ? SIZE_MAX : SCAN_BYTES_MOST;
    reply_init(&scan->items, 256);
    do {
        scan->cursor = step(scan);
    } while (scan->cursor && --steps && scan->visited < wanted &&
             scan->visited + scan->more_work < most && scan->items.len < bytes);
    reply_array(reply, 2);
    if (scan->answer_cursor)
        scan->answer_cursor(scan);
    else
        reply_cursor(scan->call, scan->cursor);
    reply_array(reply, scan->replied);
    reply_append_bulks(reply, &scan->items, scan->replied);
    reply_free(&scan->items);
}

void scan_value(struct call *call, enum value_type type, const char *only_names,
                uint64_t (*step)(struct scan *scan)) {
    struct scan scan;
    struct keyref ref;
    if (!scan_begin(&scan, call, 2)) return;
    if (!call_find_typed_read(call, call->argv[1], type, &ref)) return;
    if (ref.entry && entry_fields_expire(ref.entry)) call_expire_fields(call, &ref, call->argv[1]);
    scan.entry = ref.entry;
    for (size_t i = 3; ref.entry && i < call->argc; i++) {
        if (only_names && slice_is(call->argv[i], only_names))
            scan.only_names = true;
        else if (!scan_parse_option(&scan, i++))
            return;
    }
    if (ref.entry) {
        scan_run(&scan, step);
    } else {
        reply_array(call->reply, 2);
        reply_cursor(call, 0);
        reply_array(call->reply, 0);
    }
}
