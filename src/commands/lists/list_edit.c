/* LSET LINSERT LREM LTRIM: changes inside a list. In a long list a search that does not end soon is
 * a work (engine/work.h), and so is cutting off very many elements. */
#include "commands/commands.h"
#include "commands/lists/list_common.h"
#include "engine/claim.h"

void lset_command(struct call *call) {
    struct slice key = call->argv[1];
    struct keyref ref;
    int64_t index;
    uint64_t position;
    if (!call_find_typed_write(call, key, VALUE_LIST, &ref)) return;
    if (ref.entry == NULL) {
        reply_error(call->reply, "ERR no such key");
        return;
    }
    if (!call_integer(call, 2, &index)) return;
    if (!list_position(index, list_length(ref.entry), &position)) {
        reply_error(call->reply, "ERR index out of range");
        return;
    }
    list_set(&ref, position, call->argv[3], &call->limits->list);
    reply_ok(call->reply);
    CALL_CHANGED(call, &ref, key, EVENT_LIST, "lset", 1);
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

struct edit {
    const struct edit_kind *kind;
    enum list_direction direction; /* of the search for argv[3]: LINSERT, LREM */
    uint64_t max;                  /* elements to be found */
    bool after;                    /* LINSERT */
    uint64_t from;                 /* what is kept: LTRIM */
    uint64_t count;
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

static void trim(struct keyref *ref, const struct slice *argv, struct edit *edit) {
    (void)argv;
    edit->changed = list_length(ref->entry) - edit->count;
    list_trim(ref, edit->from, edit->count, &edit->limits);
}

static void report_trim(struct call *call, struct keyref *ref, const struct edit *edit) {
    reply_ok(call->reply);
    CALL_CHANGED(call, ref, call->argv[1], EVENT_LIST, "ltrim", edit->changed);
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

/* Returns whether few steps are enough to find all that is sought. */
static bool is_near(const struct call *call, const struct entry *entry, const struct edit *edit,
                    uint64_t steps) {
    uint64_t index, limit = list_length(entry) * (WORK_MIN / 8) / steps;
    return edit->max == 1 && find_first(entry, call->argv[3], edit->direction, limit, &index);
}

static void edit_later(struct call *call, const struct edit *edit) {
    static const struct work_kind kind = {run_edit, answer_edit, NULL};
    struct edit_work *editing = work_new(&kind, sizeof(*editing));
    editing->edit = *edit;
    work_begin_changing(call, &editing->work, call->argv[1]);
}

static void edit_now(struct call *call, struct keyref *ref, struct edit *edit) {
    edit->kind->apply(ref, call->argv, edit);
    edit->kind->report(call, ref, edit);
}

/* Returns whether the search takes long. */
static bool is_far(const struct call *call, const struct entry *entry, const struct edit *edit) {
    if (!list_may_be_long(entry)) return false;
    uint64_t steps = list_search_steps(entry, list_length(entry));
    return work_pays_changing(call, entry, steps) && !is_near(call, entry, edit, steps);
}

static void search_and_edit(struct call *call, struct keyref *ref, struct edit *edit) {
    edit->limits = call->limits->list;
    if (is_far(call, ref->entry, edit))
        edit_later(call, edit);
    else
        edit_now(call, ref, edit);
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
        search_and_edit(call, &ref, &edit);
}

void lrem_command(struct call *call) {
    static const struct edit_kind kind = {remove_elements, report_removal};
    struct edit edit = {.kind = &kind};
    struct keyref ref;
    int64_t count = 0;
    /* INT64_MIN has no positive counterpart. */
    if (!call_integer_in(call, 2, -INT64_MAX, INT64_MAX, &count, NULL)) return;
    if (!call_find_typed_write(call, call->argv[1], VALUE_LIST, &ref)) return;
    edit.direction = count < 0 ? LIST_BACKWARD : LIST_FORWARD;
    edit.max = count == 0 ? UINT64_MAX : (uint64_t)(count < 0 ? -count : count);
    if (!ref.entry)
        reply_integer(call->reply, 0);
    else
        search_and_edit(call, &ref, &edit);
}

/* Whole nodes are cut off. */
static bool is_much_to_trim(const struct call *call, const struct entry *entry, uint64_t removed) {
    enum { STEPS = 4 }; /* for each node */
    const struct quicklist *list = list_quicklist(entry);
    size_t nodes = list ? quicklist_node_count(list) : 0;
    if (nodes < WORK_MIN / STEPS) return false;
    double part = (double)removed / (double)quicklist_count(list);
    return work_pays_changing(call, entry, (uint64_t)(part * (double)nodes * STEPS));
}

static void trim_later(struct call *call, uint64_t from, uint64_t count) {
    static const struct edit_kind kind = {trim, report_trim};
    edit_later(
        call,
        &(struct edit){.kind = &kind, .limits = call->limits->list, .from = from, .count = count});
}

void ltrim_command(struct call *call) {
    struct keyref ref;
    int64_t start, stop;
    uint64_t from, count;
    if (!call_integer(call, 2, &start) || !call_integer(call, 3, &stop)) return;
    if (!call_find_typed_write(call, call->argv[1], VALUE_LIST, &ref)) return;
    if (ref.entry) {
        uint64_t length = list_length(ref.entry);
        range_clamp(start, stop, length, &from, &count);
        if (is_much_to_trim(call, ref.entry, length - count)) {
            trim_later(call, from, count);
            return;
        }
        list_trim(&ref, from, count, &call->limits->list);
        CALL_CHANGED(call, &ref, call->argv[1], EVENT_LIST, "ltrim", length - count);
    }
    reply_ok(call->reply);
}
