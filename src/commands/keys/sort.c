/* SORT SORT_RO: key [BY pattern] [LIMIT offset count] [GET pattern …] [ASC | DESC] [ALPHA] [STORE
 * destination]
 *
 * The elements are copied first, because iterators do not keep them valid and the result may
 * replace the list or set. Items point to the copies, or to values of other keys, which do not
 * change until the command ends. Commands that take long and do not look at other keys are works
 * (engine/work.h). One that stores, and needs numbers, may fail: it goes to the command log when it
 * has not, and nobody may change its list or set until then. */
#include "base/memory/alloc.h"
#include "base/prefetch.h"
#include "base/text/number.h"
#include "commands/commands.h"
#include "commands/hashes/hash_common.h"
#include "commands/kept_texts.h"
#include "commands/lists/list_common.h"
#include "commands/sort_order.h"
#include "engine/claim.h"
#include "engine/work.h"
#include "store/key_slot.h"
#include "types/set.h"
#include "types/string.h"
#include "types/value.h"
#include "types/zset.h"

/* --- Options --- */

/* A pattern of BY or GET: the key is its text with the first '*' replaced by the element.
 * "…*…->field" names a field of the hash under that key. */
struct pattern {
    struct slice before;
    struct slice after;
    bool is_element; /* '#': the element itself */
    struct slice field;
    bool is_field;
    bool is_fixed; /* without '*' */
};

struct sort {
    struct call *call;
    bool descending;
    bool alpha;
    bool unsorted; /* BY a pattern without '*' */
    bool has_by;
    struct pattern by;
    int64_t offset;
    int64_t limit;
    struct pattern *gets;
    size_t get_count;
    size_t destination; /* argv index of the key to store to; 0: none */
    struct kept_texts texts;
    struct sort_item *items;
    size_t count; /* number of items */
};

static struct pattern parse_pattern(struct slice text) {
    struct pattern pattern = {.is_element = slice_equal(text, SLICE("#"))};
    const char *star = text.len ? memchr(text.ptr, '*', text.len) : NULL;
    pattern.is_fixed = star == NULL;
    if (star == NULL) return pattern;
    pattern.before = slice_make(text.ptr, (size_t)(star - text.ptr));
    pattern.after = slice_make(star + 1, (size_t)(slice_end(text) - star - 1));
    for (size_t i = 0; i + 2 < pattern.after.len; i++) {
        if (memcmp(pattern.after.ptr + i, "->", 2) != 0) continue;
        pattern.is_field = true;
        pattern.field = slice_make(pattern.after.ptr + i + 2, pattern.after.len - i - 2);
        pattern.after.len = i;
        break;
    }
    return pattern;
}

/* Returns whether the keys that the pattern makes of elements may be in other slots of a cluster
 * than the sorted key: what is hashed of them must be the same for all. */
static bool may_leave_slot(const struct call *call, struct slice text,
                           const struct pattern *pattern) {
    if (!call_is_in_cluster(call) || pattern->is_element) return false;
    struct slice part = key_slot_part(text);
    bool varies = !pattern->is_fixed && pattern->before.ptr + pattern->before.len < slice_end(part);
    return varies || key_slot(text) != key_slot(call->argv[1]);
}

/* Parses the pattern of the option `name`, whose keys the client must be allowed to look up. */
static bool parse_keys(struct call *call, const char *name, struct slice text, bool looks_up,
                       struct pattern *pattern) {
    *pattern = parse_pattern(text);
    if (!looks_up && pattern->is_fixed) return true;
    if (may_leave_slot(call, text, pattern))
        return reply_error_format(
            call->reply,
            "ERR %s option of SORT denied in Cluster mode when keys formed by "
            "the pattern may be in different slots.",
            name);
    return call_may_read_all_keys(call) ||
           reply_error_format(call->reply,
                              "ERR %s option of SORT denied due to insufficient ACL permissions.",
                              name);
}

/* Parses the option at *index and moves *index to its last argument. */
static bool parse_option(struct sort *sort, size_t *index, bool may_store) {
    struct call *call = sort->call;
    struct slice option = call->argv[*index];
    size_t left = call->argc - *index - 1;
    if (slice_is(option, "asc") || slice_is(option, "desc")) {
        sort->descending = slice_is(option, "desc");
    } else if (slice_is(option, "alpha")) {
        sort->alpha = true;
    } else if (slice_is(option, "limit") && left >= 2) {
        *index += 2;
        return call_integer(call, *index - 1, &sort->offset) &&
               call_integer(call, *index, &sort->limit);
    } else if (slice_is(option, "store") && left >= 1 && may_store) {
        sort->destination = ++*index;
    } else if (slice_is(option, "by") && left >= 1) {
        if (!parse_keys(call, "BY", call->argv[++*index], false, &sort->by)) return false;
        sort->has_by = true;
        sort->unsorted |= sort->by.is_fixed;
    } else if (slice_is(option, "get") && left >= 1) {
        return parse_keys(call, "GET", call->argv[++*index], true, &sort->gets[sort->get_count++]);
    } else {
        return call_syntax_error(call);
    }
    return true;
}

/* --- Keys that a pattern names --- */

/* Returns the key that the pattern makes of the element; the caller frees it. */
static sds key_of(const struct pattern *pattern, struct slice element) {
    sds key = sds_new(pattern->before);
    return sds_append(sds_append(key, element), pattern->after);
}

/* Returns the value of the field, or a slice without `ptr`. An empty value has a `ptr`, too. A hash
 * whose fields expire may change while its values are needed, so that these are copied. */
static struct slice field_of(struct sort *sort, struct keyref *hash, struct slice key,
                             struct slice field) {
    const struct slice none = {0};
    struct record record;
    if (entry_type(hash->entry) != VALUE_HASH) return none;
    bool may_change = entry_fields_expire(hash->entry);
    if (may_change) call_expire_named(sort->call, hash, key, &field, 1, 1);
    if (!hash->entry || !hash_find(hash->entry, field, hash_now(sort->call), &record)) return none;
    if (record.value.len == 0) return SLICE("");
    return may_change ? kept_text(&sort->texts, record.value) : record.value;
}

/* Returns the text of a string, valid until the command ends. */
static struct slice text_of(struct sort *sort, const struct entry *entry) {
    char buffer[INT64_TEXT_MAX];
    int64_t integer;
    struct slice text = string_text(entry, buffer);
    return string_integer(entry, &integer) ? kept_text(&sort->texts, text) : text;
}

/* Returns the string that the pattern finds for the element, valid until the command ends. Its
 * `ptr` is NULL when there is none. */
static struct slice look_up(struct sort *sort, const struct pattern *pattern,
                            struct slice element) {
    const struct slice none = {0};
    if (pattern->is_element) return element;
    if (pattern->is_fixed) return none;
    sds key = key_of(pattern, element);
    struct keyref ref;
    call_find_read(sort->call, sds_slice(key), &ref);
    struct slice value = none;
    if (ref.entry && pattern->is_field)
        value = field_of(sort, &ref, sds_slice(key), pattern->field);
    else if (ref.entry && entry_type(ref.entry) == VALUE_STRING)
        value = text_of(sort, ref.entry);
    sds_free(key);
    return value;
}

/* --- Scores --- */

/* Converts a text to a number as the C library does: leading blanks are allowed, a zero byte ends
 * it, and an empty text is 0. */
static bool parse_score(struct slice text, double *score) {
    int64_t integer;
    *score = 0;
    if (number_parse_int64(text, &integer)) {
        *score = (double)integer;
        return true;
    }
    const char *end = text.len ? memchr(text.ptr, 0, text.len) : NULL;
    if (end) text.len = (size_t)(end - text.ptr);
    if (text.len == 0) return true;
    while (text.len && (*text.ptr == ' ' || (*text.ptr >= '\t' && *text.ptr <= '\r'))) {
        text.ptr++;
        text.len--;
    }
    return number_parse_double(text, score);
}

/* Finds the weight by which the item is compared. Returns false when it must be a number but is
 * none. */
static bool weigh(struct sort *sort, struct sort_item *item) {
    struct slice weight = sort->has_by ? look_up(sort, &sort->by, item->text) : item->text;
    item->weight = weight;
    item->score = 0;
    return sort->alpha || weight.ptr == NULL || parse_score(weight, &item->score);
}

static bool weigh_all(struct sort *sort) {
    for (size_t i = 0; i < sort->count; i++)
        if (!weigh(sort, &sort->items[i])) return false;
    return true;
}

/* --- The elements --- */

/* Returns whether the value's type has elements to sort. */
static bool is_sortable(const struct entry *entry) {
    enum value_type type = entry_type(entry);
    return type == VALUE_LIST || type == VALUE_SET || type == VALUE_ZSET;
}

static void keep_item(struct sort *sort, struct slice text) {
    sort->items[sort->count++].text = kept_text(&sort->texts, text);
}

static void read_list(struct sort *sort, const struct entry *entry, uint64_t from, size_t count,
                      bool forward) {
    struct quicklist_iter iter;
    list_iter_start(&iter, entry, from, forward ? LIST_FORWARD : LIST_BACKWARD);
    while (count--) {
        char digits[INT64_TEXT_MAX];
        struct listpack_value value;
        listpack_get(quicklist_iter_next(&iter), &value);
        keep_item(sort, listpack_value_text(&value, digits));
    }
    quicklist_iter_end(&iter);
}

/* Sets have no positions: the first `skip` members that the iterator returns are left out. */
static void read_set(struct sort *sort, const struct entry *entry, uint64_t skip, size_t count) {
    struct set_iter iter;
    struct slice member;
    set_iter_start(&iter, entry);
    while (skip > 0 && set_iter_next(&iter, &member)) skip--;
    while (count > 0 && set_iter_next(&iter, &member)) {
        keep_item(sort, member);
        count--;
    }
}

static void read_zset(struct sort *sort, const struct entry *entry, uint64_t from, size_t count,
                      bool forward) {
    struct zset_iter iter;
    struct text_batch batch;
    zset_iter_start(&iter, entry, from, forward);
    for (; zset_iter_next_batch(&iter, &batch, count); count -= batch.count)
        for (size_t i = 0; i < batch.count; i++) keep_item(sort, batch.texts[i]);
}

/* Copies `count` elements, without the first `skip`. `backward` counts from the end, but not in a
 * set. */
static void read_items(struct sort *sort, const struct entry *entry, uint64_t skip, size_t count,
                       bool backward) {
    sort->items = mem_alloc(count * sizeof(*sort->items));
    if (count == 0) return;
    uint64_t from = backward ? value_length(entry) - 1 - skip : skip;
    if (entry_type(entry) == VALUE_LIST)
        read_list(sort, entry, from, count, !backward);
    else if (entry_type(entry) == VALUE_ZSET)
        read_zset(sort, entry, from, count, !backward);
    else
        read_set(sort, entry, skip, count);
}

/* Converts LIMIT to the positions [*from, *from + *count) of the result. */
static void clamp_limit(const struct sort *sort, size_t length, size_t *from, size_t *count) {
    *from = 0;
    if (sort->offset > 0) *from = (uint64_t)sort->offset < length ? (size_t)sort->offset : length;
    *count = length - *from;
    if (sort->limit >= 0 && (uint64_t)sort->limit < *count) *count = (size_t)sort->limit;
}

/* Only the members of a set have no order of their own that equal weights could keep: the order in
 * which a set iterates over them is each server's own. */
static enum sort_order order_of(const struct sort *sort, const struct entry *entry) {
    if (!sort->alpha) return SORT_BY_SCORE_AND_TEXT;
    return entry && entry_type(entry) == VALUE_SET ? SORT_BY_WEIGHT_AND_TEXT : SORT_BY_WEIGHT;
}

/* Reads the elements and sorts them. The result is the items [*from, *from + *count). Returns false
 * when an element that must be a number is none. In any thread, unless there are patterns. */
static bool make_result(struct sort *sort, const struct entry *entry, size_t *from, size_t *count) {
    size_t length = entry ? (size_t)value_length(entry) : 0;
    clamp_limit(sort, length, from, count);
    if (sort->unsorted) {
        read_items(sort, entry, *from, *count, sort->descending);
        *from = 0;
        return true;
    }
    read_items(sort, entry, 0, length, false);
    if (!weigh_all(sort)) return false;
    sort_items(sort->items, length, *from + *count, order_of(sort, entry), sort->descending);
    return true;
}

/* --- The result --- */

static void fail(struct call *call) {
    reply_error(call->reply, "ERR One or more scores can't be converted into double");
}

static void answer(struct sort *sort, const struct sort_item *items, size_t count) {
    struct reply *reply = sort->call->reply;
    reply_array(reply, count * (sort->get_count ? sort->get_count : 1));
    for (size_t i = 0; i < count; i++) {
        if (sort->get_count == 0) reply_bulk(reply, items[i].text);
        for (size_t get = 0; get < sort->get_count; get++) {
            struct slice value = look_up(sort, &sort->gets[get], items[i].text);
            if (value.ptr)
                reply_bulk(reply, value);
            else
                reply_null(reply);
        }
    }
}

/* Returns the texts to store; the caller frees the array. They may point into values of other
 * keys. */
static struct slice *collect(struct sort *sort, const struct sort_item *items, size_t count) {
    size_t columns = sort->get_count ? sort->get_count : 1;
    struct slice *texts = mem_alloc(count * columns * sizeof(*texts)), *at = texts;
    for (size_t i = 0; i < count; i++) {
        if (sort->get_count == 0) *at++ = items[i].text;
        for (size_t get = 0; get < sort->get_count; get++)
            *at++ = look_up(sort, &sort->gets[get], items[i].text);
    }
    return texts;
}

/* Returns the items as a list under this key; NULL: there are none. */
static struct entry *make_list(struct sort *sort, const struct sort_item *items, size_t count,
                               struct slice key, const struct quicklist_limits *limits) {
    struct slice *texts = collect(sort, items, count);
    if (sort->get_count) count *= sort->get_count;
    struct entry *list = count ? list_new(key, LIST_TAIL, texts, count, limits) : NULL;
    mem_free(texts);
    return list;
}

static void put_list(struct call *call, struct slice key, struct entry *list) {
    call_put_result(call, key, list,
                    &(struct change){.class = EVENT_LIST,
                                     .event = "sortstore",
                                     .count = list ? list_length(list) : 0});
}

static void store(struct sort *sort, const struct sort_item *items, size_t count) {
    struct call *call = sort->call;
    struct slice key = call->argv[sort->destination];
    put_list(call, key, make_list(sort, items, count, key, &call->limits->list));
}

/* --- In another thread --- */

struct sorting {
    struct work work;
    struct sort sort; /* without call and patterns */
    struct frozen frozen;
    struct quicklist_limits limits;
    struct entry *result; /* a list; NULL: it is empty, or there is none */
    size_t count;
    bool has_failed;
};

/* Returns the items as a list without a key, to be replied; NULL: there are none. Sorted, their
 * texts are anywhere in memory. */
static struct entry *reply_list_of(const struct sort_item *items, size_t count,
                                   const struct quicklist_limits *limits) {
    enum { AHEAD = 8 };
    if (count == 0) return NULL;
    struct quicklist *list = quicklist_new(*limits);
    for (size_t i = 0; i < count; i++) {
        struct listpack_element element;
        if (i + AHEAD < count) prefetch(items[i + AHEAD].text.ptr);
        listpack_prepare(&element, items[i].text);
        quicklist_push(list, LIST_TAIL, &element);
    }
    return list_from_quicklist(SLICE(""), list, limits);
}

static void run_sorting(struct work *work) {
    struct sorting *sorting = (struct sorting *)work;
    struct sort *sort = &sorting->sort;
    struct entry *entry = sorting->frozen.entry;
    bool is_zset = entry_type(entry) == VALUE_ZSET;
    size_t from;
    if (is_zset) entry = zset_thaw(&sorting->frozen, false);
    sorting->has_failed = !make_result(sort, entry, &from, &sorting->count);
    if (is_zset) zset_thaw_end(&sorting->frozen, entry);
    if (sorting->has_failed)
        sorting->result = NULL;
    else if (sort->destination)
        sorting->result = make_list(sort, sort->items + from, sorting->count, work->claim->key.name,
                                    &sorting->limits);
    else if (!work_is_cancelled(work))
        sorting->result = reply_list_of(sort->items + from, sorting->count, &sorting->limits);
    kept_texts_free(&sort->texts);
    mem_free(sort->items);
}

static void answer_sorting(struct call *call, struct work *work) {
    struct sorting *sorting = (struct sorting *)work;
    if (sorting->has_failed) {
        fail(call);
    } else if (sorting->sort.destination) {
        put_list(call, call->argv[sorting->sort.destination], sorting->result);
        sorting->result = NULL;
    } else {
        reply_array(call->reply, sorting->count);
        if (sorting->result)
            list_reply_elements(call, sorting->result, 0, sorting->count, LIST_FORWARD);
    }
}

static void free_sorting(struct work *work) {
    struct sorting *sorting = (struct sorting *)work;
    work_unfreeze(work, &sorting->frozen);
    if (sorting->result) work_free_value(work, sorting->result);
}

/* Returns how many elements are read. */
static uint64_t elements_read(const struct sort *sort, const struct entry *entry) {
    size_t length = (size_t)value_length(entry), from, count;
    if (!sort->unsorted) return length;
    clamp_limit(sort, length, &from, &count);
    return entry_type(entry) == VALUE_SET ? from + count : count;
}

/* Returns whether the elements are sorted in another thread. */
static bool should_work(const struct sort *sort, const struct entry *entry) {
    enum { STEPS_TO_REPLY = 2, STEPS_TO_STORE = 4 };
    bool is_alone = sort->get_count == 0 && (!sort->has_by || sort->unsorted);
    if (!entry || !is_alone) return false;
    uint64_t elements = elements_read(sort, entry);
    if (!sort->destination) return work_pays(sort->call, elements * STEPS_TO_REPLY);
    return work_pays_writing(sort->call, elements * STEPS_TO_STORE);
}

static void begin_sorting(struct call *call, struct sorting *sorting, bool may_fail) {
    size_t destination = sorting->sort.destination;
    if (!destination) {
        sorting->limits.compress_depth = 0; /* the list is read once */
        work_begin(call, &sorting->work);
    } else if (may_fail) {
        work_begin_replacing(call, &sorting->work, call->argv[1], call->argv[destination]);
    } else {
        work_begin_storing(call, &sorting->work, call->argv[destination]);
    }
}

static void work_on(struct sort *sort, struct entry *entry) {
    static const struct work_kind kind = {run_sorting, answer_sorting, free_sorting};
    struct call *call = sort->call;
    struct sorting *sorting = work_new(&kind, sizeof(*sorting));
    sorting->sort = *sort;
    sorting->sort.call = NULL;
    sorting->sort.has_by = false;
    sorting->sort.gets = NULL;
    sorting->limits = call->limits->list;
    work_freeze(call, entry, &sorting->frozen);
    begin_sorting(call, sorting, !sort->alpha && !sort->unsorted);
}

/* --- Commands --- */

/* What is stored, and what a script may store or decide by, must not depend on the order in which a
 * set has its members: that is each server's own. */
static bool must_sort(const struct sort *sort, const struct entry *entry) {
    return sort->unsorted && entry && entry_type(entry) == VALUE_SET &&
           (sort->destination || sort->call->origin == ORIGIN_SCRIPT);
}

static void run(struct sort *sort) {
    struct keyref ref;
    size_t from, count;
    call_find_read(sort->call, sort->call->argv[1], &ref);
    if (ref.entry && !is_sortable(ref.entry) && !call_check_type(sort->call, ref.entry, VALUE_LIST))
        return;
    if (must_sort(sort, ref.entry)) {
        sort->unsorted = sort->has_by = false;
        sort->alpha = true;
    }
    if (should_work(sort, ref.entry))
        work_on(sort, ref.entry);
    else if (!make_result(sort, ref.entry, &from, &count))
        fail(sort->call);
    else if (sort->destination)
        store(sort, sort->items + from, count);
    else
        answer(sort, sort->items + from, count);
}

static void sort_key(struct call *call, bool may_store) {
    struct sort sort = {.call = call, .limit = -1};
    bool valid = true;
    sort.gets = mem_alloc(call->argc / 2 * sizeof(*sort.gets));
    for (size_t i = 2; i < call->argc && valid; i++) valid = parse_option(&sort, &i, may_store);
    if (valid) run(&sort);
    kept_texts_free(&sort.texts);
    mem_free(sort.items);
    mem_free(sort.gets);
}

COMMAND_FORM(sort_command, sort_key, true)
COMMAND_FORM(sort_ro_command, sort_key, false)
