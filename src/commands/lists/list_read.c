/* LLEN LINDEX LRANGE: commands that only read a list. */
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
    const struct quicklist *list = list_quicklist(entry);
    if (quicklist_serialized_size(list) < REPLY_DEFER_AT / REPLY_BULK_FRAME) return false;
    size_t mean = quicklist_serialized_size(list) / quicklist_count(list);
    size_t expected = count * (mean + REPLY_BULK_FRAME);
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
