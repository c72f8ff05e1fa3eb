/* LLEN LINDEX LRANGE LPOS: commands that only read a list. */
#include "commands/commands.h"
#include "commands/lists/list_common.h"

COMMAND_FORM(llen_command, reply_length, VALUE_LIST, list_length)

static void reply_element(struct reply *reply, const struct entry *entry, uint64_t position) {
    struct quicklist_iter iter;
    list_iter_start(&iter, entry, position, LIST_FORWARD);
    reply_listpack_element(reply, quicklist_iter_next(&iter));
    quicklist_iter_end(&iter);
}

void lindex_command(struct call *call) {
    struct keyref ref;
    int64_t index;
    uint64_t position;
    if (!call_find_typed_read(call, call->argv[1], VALUE_LIST, &ref)) return;
    if (ref.entry == NULL) {
        reply_null(call->reply);
        return;
    }
    if (!call_integer(call, 2, &index)) return;
    if (list_position(index, list_length(ref.entry), &position))
        reply_element(call->reply, ref.entry, position);
    else
        reply_null(call->reply);
}

/* --- Many elements --- */

/* Replies up to `most` elements of a run. Returns how many. */
static inline size_t reply_run(struct reply *reply, const struct quicklist_run *run, uint64_t most,
                               enum list_direction direction) {
    size_t n = run->count < most ? run->count : (size_t)most;
    if (direction == LIST_FORWARD)
        reply_listpack_run(reply, run->first, n, run->end, run->readable_end);
    else
        reply_listpack_run_back(reply, run->end, n, run->first, run->readable_end);
    return n;
}

/* Elements that are written while the reply is sent. */
struct element_source {
    struct reply_source source;
    struct quicklist_iter iter;
    struct slice text; /* of a large element */
};

static bool is_large(const struct quicklist_run *run) {
    return run->count == 1 && run->end - run->first >= REPLY_TEXT_PIECE;
}

static void next_elements(struct reply_source *source, struct reply *reply) {
    struct element_source *elements = (struct element_source *)source;
    struct quicklist_run run;
    quicklist_iter_run(&elements->iter, &run);
    if (is_large(&run)) {
        struct listpack_value value;
        listpack_get(run.first, &value);
        elements->text = slice_make(value.ptr, value.len);
        source->texts = &elements->text;
        source->text_count = 1;
    } else {
        source->left -= reply_run(reply, &run, source->left, elements->iter.direction);
    }
}

static void end_elements(struct reply_source *source) {
    quicklist_iter_end(&((struct element_source *)source)->iter);
}

static const struct reply_source_functions element_functions = {next_elements, end_elements};

/* Replies the elements later, if they are so many that this is better. Returns whether it does. */
static __attribute__((noinline)) bool defer_elements(struct call *call, struct entry *entry,
                                                     uint64_t from, uint64_t count,
                                                     enum list_direction direction) {
    enum { HEADER = 7 }; /* bytes before and after a text, about */
    const struct quicklist *list = list_quicklist(entry);
    if (quicklist_serialized_size(list) < REPLY_DEFER_AT / HEADER) return false;
    size_t mean = quicklist_serialized_size(list) / quicklist_count(list);
    size_t expected = count * (mean + HEADER);
    struct capture *capture = capture_to_defer(call, entry, expected);
    if (!capture) return false;
    struct element_source *elements = reply_source_new(call->reply, &element_functions,
                                                       sizeof(*elements), capture, count, expected);
    list_iter_start_capture(&elements->iter, capture, from, direction);
    reply_defer(call->reply, &elements->source);
    return true;
}

void list_reply_elements(struct call *call, struct entry *entry, uint64_t from, uint64_t count,
                         enum list_direction direction) {
    struct quicklist_iter iter;
    struct quicklist_run run;
    if (entry_is_out_of_line(entry) && defer_elements(call, entry, from, count, direction)) return;
    list_iter_start(&iter, entry, from, direction);
    while (count && quicklist_iter_run(&iter, &run))
        count -= reply_run(call->reply, &run, count, direction);
    quicklist_iter_end(&iter);
}

void lrange_command(struct call *call) {
    struct keyref ref;
    int64_t start, stop;
    uint64_t from, count;
    if (!call_integer(call, 2, &start) || !call_integer(call, 3, &stop)) return;
    if (!call_find_typed_read(call, call->argv[1], VALUE_LIST, &ref)) return;
    range_clamp(start, stop, ref.entry ? list_length(ref.entry) : 0, &from, &count);
    reply_array(call->reply, count);
    if (count) list_reply_elements(call, ref.entry, from, count, LIST_FORWARD);
}

/* --- LPOS key element [RANK rank] [COUNT count] [MAXLEN length] --- */

struct lpos {
    int64_t rank;   /* the first match to reply, from 1 on; negative: counted from the tail */
    int64_t count;  /* matches to reply; 0 = all, -1 = one, not in an array */
    int64_t maxlen; /* elements to compare; 0 = all */
};

static bool parse_rank(struct call *call, size_t index, int64_t *rank) {
    /* INT64_MIN has no positive counterpart. */
    if (!call_integer_in(call, index, -INT64_MAX, INT64_MAX, rank, NULL)) return false;
    if (*rank != 0) return true;
    return reply_error(
        call->reply,
        "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second "
        "... or use negative to start from the end of the list");
}

static bool parse_lpos(struct call *call, struct lpos *lpos) {
    for (size_t i = 3; i < call->argc; i += 2) {
        struct slice option = call->argv[i];
        bool valid = false;
        if (i + 1 == call->argc)
            call_syntax_error(call);
        else if (slice_is(option, "rank"))
            valid = parse_rank(call, i + 1, &lpos->rank);
        else if (slice_is(option, "count"))
            valid = call_integer_in(call, i + 1, 0, INT64_MAX, &lpos->count,
                                    "ERR COUNT can't be negative");
        else if (slice_is(option, "maxlen"))
            valid = call_integer_in(call, i + 1, 0, INT64_MAX, &lpos->maxlen,
                                    "ERR MAXLEN can't be negative");
        else
            call_syntax_error(call);
        if (!valid) return false;
    }
    return true;
}

/* Replies the positions of up to `wanted` matches, as integers. Returns their number. */
static uint64_t reply_matches(struct reply *reply, const struct entry *entry, struct slice text,
                              const struct lpos *lpos, uint64_t wanted) {
    struct listpack_element needle;
    struct quicklist_iter iter;
    bool forward = lpos->rank > 0;
    uint64_t length = list_length(entry);
    uint64_t to_skip = (uint64_t)(forward ? lpos->rank : -lpos->rank) - 1;
    uint64_t limit =
        lpos->maxlen && (uint64_t)lpos->maxlen < length ? (uint64_t)lpos->maxlen : length;
    uint64_t start = forward ? 0 : length - 1, looked_at = 0, replied = 0, index;
    listpack_prepare(&needle, text);
    list_iter_start(&iter, entry, start, forward ? LIST_FORWARD : LIST_BACKWARD);
    while (replied < wanted && looked_at < limit &&
           quicklist_iter_find(&iter, &needle, limit - looked_at, &index)) {
        looked_at = (forward ? index : start - index) + 1;
        if (to_skip) {
            to_skip--;
        } else {
            reply_integer(reply, (int64_t)index);
            replied++;
        }
    }
    quicklist_iter_end(&iter);
    return replied;
}

void lpos_command(struct call *call) {
    struct lpos lpos = {.rank = 1, .count = -1};
    struct keyref ref;
    if (!parse_lpos(call, &lpos) || !call_find_typed_read(call, call->argv[1], VALUE_LIST, &ref))
        return;
    struct reply *reply = call->reply;
    bool wants_one = lpos.count == -1;
    uint64_t wanted = wants_one ? 1 : lpos.count ? (uint64_t)lpos.count : UINT64_MAX, found = 0;
    size_t mark = wants_one ? 0 : reply_begin(reply);
    if (ref.entry) found = reply_matches(reply, ref.entry, call->argv[2], &lpos, wanted);
    if (!wants_one)
        reply_array_end(reply, mark, found);
    else if (found == 0)
        reply_null(reply);
}
