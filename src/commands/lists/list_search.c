/* LINSERT LREM: changes at elements of a list that must be searched. In a long list they are works
 * (engine/work.h), unless the element is found soon. */
#include "commands/commands.h"
#include "commands/lists/list_common.h"
#include "engine/claim.h"

uint64_t list_search_steps(const struct entry *entry, uint64_t elements) {
    enum { ELEMENTS_PER_STEP = 16, BYTES_PER_STEP = 512, COMPRESSED_BYTES_PER_STEP = 128 };
    const struct quicklist *list = list_quicklist(entry);
    bool is_compressed = quicklist_limits_of(list).compress_depth > 0;
    size_t bytes = quicklist_serialized_size(list) /
                   (is_compressed ? COMPRESSED_BYTES_PER_STEP : BYTES_PER_STEP);
    double part = (double)elements / (double)quicklist_count(list);
    return elements / ELEMENTS_PER_STEP + (uint64_t)(part * (double)bytes);
}

/* Finds the first element equal to `text` among the first `limit` ones from an end, and sets *index
 * to its position. */
static bool find_first(const struct entry *entry, struct slice text, enum list_direction direction,
                       uint64_t limit, uint64_t *index) {
    struct listpack_element needle;
    struct quicklist_iter iter;
    listpack_prepare(&needle, text);
    list_iter_start(&iter, entry, direction == LIST_FORWARD ? 0 : list_length(entry) - 1,
                    direction);
    bool found = quicklist_iter_find(&iter, &needle, limit, index);
    quicklist_iter_end(&iter);
    return found;
}

/* --- What is changed --- */

/* What both commands have: the element argv[3] is sought. */
struct edit {
    const struct edit_kind *kind;
    enum list_direction direction;
    uint64_t max; /* elements to be found */
    bool after;   /* LINSERT */
    struct quicklist_limits limits;
    uint64_t changed; /* elements that were inserted or removed */
};

struct edit_kind {
    /* In any thread. */
    void (*apply)(struct keyref *ref, const struct slice *argv, struct edit *edit);
    /* Replies what was done, and publishes it. */
    void (*report)(struct call *call, struct keyref *ref, const struct edit *edit);
};

static void insert(struct keyref *ref, const struct slice *argv, struct edit *edit) {
    uint64_t index;
    if (!find_first(ref->entry, argv[3], LIST_FORWARD, UINT64_MAX, &index)) return;
    list_insert(ref, index, edit->after, argv[4], &edit->limits);
    edit->changed = 1;
}

static void report_insert(struct call *call, struct keyref *ref, const struct edit *edit) {
    if (edit->changed == 0) {
        reply_integer(call->reply, -1);
        return;
    }
    reply_integer(call->reply, (int64_t)list_length(ref->entry));
    CALL_CHANGED(call, ref, call->argv[1], EVENT_LIST, "linsert", 1);
}

static void remove_elements(struct keyref *ref, const struct slice *argv, struct edit *edit) {
    edit->changed = list_remove(ref, argv[3], edit->max, edit->direction, &edit->limits);
}

static void report_removal(struct call *call, struct keyref *ref, const struct edit *edit) {
    reply_integer(call->reply, (int64_t)edit->changed);
    if (edit->changed) CALL_CHANGED(call, ref, call->argv[1], EVENT_LIST, "lrem", edit->changed);
}

/* --- In another thread --- */

struct edit_work {
    struct work work;
    struct edit edit;
};

static void run_edit(struct work *work) {
    struct edit *edit = &((struct edit_work *)work)->edit;
    struct keyref ref = claim_value(work->claim);
    edit->kind->apply(&ref, claim_argv(work->claim), edit);
}

static void answer_edit(struct call *call, struct work *work) {
    const struct edit *edit = &((struct edit_work *)work)->edit;
    struct keyref ref = claim_value(work->claim);
    edit->kind->report(call, &ref, edit);
}

static void free_edit(struct work *work) {
    (void)work;
}

/* Returns whether few steps are enough to find all that is sought. */
static bool is_near(const struct call *call, const struct entry *entry, const struct edit *edit,
                    uint64_t steps) {
    uint64_t index, limit = list_length(entry) * (WORK_MIN / 8) / steps;
    return edit->max == 1 && find_first(entry, call->argv[3], edit->direction, limit, &index);
}

/* Changes the list later. Returns false, and does nothing, if it should be done at once. */
static bool edit_later(struct call *call, const struct entry *entry, const struct edit *edit) {
    static const struct work_kind kind = {run_edit, answer_edit, free_edit};
    uint64_t steps = list_search_steps(entry, list_length(entry));
    if (!work_pays_changing(call, entry, steps) || is_near(call, entry, edit, steps)) return false;
    struct edit_work *editing = work_new(&kind, sizeof(*editing));
    editing->edit = *edit;
    work_begin_changing(call, &editing->work, call->argv[1]);
    return true;
}

static void edit_list(struct call *call, struct keyref *ref, struct edit *edit) {
    edit->limits = call->limits->list;
    if (list_may_be_long(ref->entry) && edit_later(call, ref->entry, edit)) return;
    edit->kind->apply(ref, call->argv, edit);
    edit->kind->report(call, ref, edit);
}

/* --- Commands --- */

void linsert_command(struct call *call) {
    static const struct edit_kind kind = {insert, report_insert};
    struct edit edit = {.kind = &kind, .max = 1, .direction = LIST_FORWARD};
    struct slice where = call->argv[2];
    struct keyref ref;
    edit.after = slice_is(where, "after");
    if (!edit.after && !slice_is(where, "before"))
        call_syntax_error(call);
    else if (!call_find_typed_write(call, call->argv[1], VALUE_LIST, &ref))
        return;
    else if (!ref.entry)
        reply_integer(call->reply, 0);
    else
        edit_list(call, &ref, &edit);
}

void lrem_command(struct call *call) {
    static const struct edit_kind kind = {remove_elements, report_removal};
    struct edit edit = {.kind = &kind};
    struct keyref ref;
    int64_t count;
    /* INT64_MIN has no positive counterpart. */
    if (!call_integer_in(call, 2, -INT64_MAX, INT64_MAX, &count, NULL)) return;
    if (!call_find_typed_write(call, call->argv[1], VALUE_LIST, &ref)) return;
    edit.direction = count < 0 ? LIST_BACKWARD : LIST_FORWARD;
    edit.max = count == 0 ? UINT64_MAX : (uint64_t)(count < 0 ? -count : count);
    if (!ref.entry)
        reply_integer(call->reply, 0);
    else
        edit_list(call, &ref, &edit);
}
