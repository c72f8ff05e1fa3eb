/* LPOS key element [RANK rank] [COUNT count] [MAXLEN length]. The search of a long list is a work
 * (engine/work.h), unless it ends soon. */
#include "base/memory/alloc.h"
#include "commands/commands.h"
#include "commands/lists/list_common.h"
#include "resp/made_reply.h"

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

/* --- Searching --- */

struct search {
    struct slice text;
    enum list_direction direction;
    bool wants_one;   /* not in an array */
    uint64_t length;  /* of the list */
    uint64_t to_skip; /* matches before the first to reply */
    uint64_t wanted;  /* to reply */
    uint64_t limit;   /* elements to look at */
    uint64_t looked_at;
    uint64_t replied;
};

static struct search search_for(struct slice text, const struct lpos *lpos, uint64_t length) {
    uint64_t limit =
        lpos->maxlen && (uint64_t)lpos->maxlen < length ? (uint64_t)lpos->maxlen : length;
    bool wants_one = lpos->count == -1;
    return (struct search){.text = text,
                           .direction = lpos->rank > 0 ? LIST_FORWARD : LIST_BACKWARD,
                           .wants_one = wants_one,
                           .length = length,
                           .to_skip = (uint64_t)(lpos->rank > 0 ? lpos->rank : -lpos->rank) - 1,
                           .wanted = wants_one     ? 1
                                     : lpos->count ? (uint64_t)lpos->count
                                                   : UINT64_MAX,
                           .limit = limit};
}

static bool is_at_end(const struct search *search) {
    return search->looked_at == search->limit || search->replied == search->wanted;
}

/* Replies the positions of matches, as integers, until so many elements were looked at. `iter` is
 * at the next one. */
static void search_until(struct reply *reply, struct search *search, struct quicklist_iter *iter,
                         uint64_t until) {
    struct listpack_element needle;
    bool forward = search->direction == LIST_FORWARD;
    uint64_t index;
    listpack_prepare(&needle, search->text);
    while (search->replied < search->wanted) {
        uint64_t left = until - search->looked_at;
        if (left == 0 || !quicklist_iter_find(iter, &needle, left, &index)) {
            search->looked_at = until;
            break;
        }
        search->looked_at = (forward ? index : search->length - 1 - index) + 1;
        if (search->to_skip) {
            search->to_skip--;
        } else {
            reply_integer(reply, (int64_t)index);
            search->replied++;
        }
    }
}

/* The position of the next element. */
static uint64_t next_position(const struct search *search) {
    return search->direction == LIST_FORWARD ? search->looked_at
                                             : search->length - 1 - search->looked_at;
}

static void search_here(struct reply *reply, struct search *search, const struct entry *entry,
                        uint64_t until) {
    struct quicklist_iter iter;
    list_iter_start(&iter, entry, next_position(search), search->direction);
    search_until(reply, search, &iter, until);
    quicklist_iter_end(&iter);
}

/* What was written since `mark` are the positions that were found. */
static void end_reply(struct reply *reply, size_t mark, const struct search *search) {
    if (!search->wants_one)
        reply_array_end(reply, mark, search->replied);
    else if (search->replied == 0)
        reply_null(reply);
}

/* --- In another thread --- */

struct search_work {
    struct work work;
    struct capture *capture;
    struct search search;
    sds text; /* that is sought */
    struct made_reply made;
};

static void run_search(struct work *work) {
    enum { AT_ONCE = 8192 };
    struct search_work *searching = (struct search_work *)work;
    struct search *search = &searching->search;
    struct quicklist_iter iter;
    list_iter_start_capture(&iter, searching->capture, next_position(search), search->direction);
    while (!is_at_end(search) && !work_is_cancelled(work)) {
        uint64_t left = search->limit - search->looked_at;
        search_until(&searching->made.reply, search, &iter,
                     search->looked_at + (left < AT_ONCE ? left : AT_ONCE));
    }
    quicklist_iter_end(&iter);
    end_reply(&searching->made.reply, 0, search);
    made_reply_end(&searching->made);
}

static void answer_search(struct call *call, struct work *work) {
    struct search_work *searching = (struct search_work *)work;
    made_reply_pass(&searching->made, call->reply);
}

static void free_search(struct work *work) {
    struct search_work *searching = (struct search_work *)work;
    work_end_capture(work, searching->capture);
    made_reply_free(&searching->made);
    sds_free(searching->text);
}

/* Goes on later. What was found already stands in the reply, after `mark`. Returns false, and does
 * nothing, if the list cannot be captured. */
static bool search_later(struct call *call, const struct search *search, struct entry *entry,
                         size_t mark) {
    static const struct work_kind kind = {run_search, answer_search, free_search};
    struct capture *capture = work_capture(call, entry);
    if (!capture) return false;
    struct search_work *searching = work_new(&kind, sizeof(*searching));
    searching->capture = capture;
    searching->search = *search;
    searching->text = sds_new(search->text);
    searching->search.text = sds_slice(searching->text);
    made_reply_begin(&searching->made, call->reply->protocol);
    if (mark < call->reply->len) {
        reply_raw(&searching->made.reply,
                  slice_make(call->reply->data + mark, call->reply->len - mark));
        reply_truncate(call->reply, mark);
    }
    work_begin(call, &searching->work);
    return true;
}

static uint64_t search_steps(const struct entry *entry, const struct search *search) {
    enum { MATCHES_PER_STEP = 2 };
    uint64_t matches = search->wanted < search->limit ? search->wanted : search->limit;
    return list_search_steps(entry, search->limit) + matches / MATCHES_PER_STEP;
}

/* Searches only the first elements if all would be too many for the loop. Returns whether the
 * search goes on later. */
static bool search_long(struct call *call, struct search *search, struct entry *entry,
                        size_t mark) {
    uint64_t steps = search_steps(entry, search);
    if (!work_pays(call, steps)) return false;
    search_here(call->reply, search, entry, search->limit * (WORK_MIN / 8) / steps);
    return !is_at_end(search) && search_later(call, search, entry, mark);
}

void lpos_command(struct call *call) {
    struct lpos lpos = {.rank = 1, .count = -1};
    struct search search;
    struct keyref ref;
    if (!parse_lpos(call, &lpos) || !call_find_typed_read(call, call->argv[1], VALUE_LIST, &ref))
        return;
    search = search_for(call->argv[2], &lpos, ref.entry ? list_length(ref.entry) : 0);
    size_t mark = search.wants_one ? call->reply->len : reply_begin(call->reply);
    if (ref.entry) {
        if (list_may_be_long(ref.entry) && search_long(call, &search, ref.entry, mark)) return;
        if (!is_at_end(&search)) search_here(call->reply, &search, ref.entry, search.limit);
    }
    end_reply(call->reply, mark, &search);
}
