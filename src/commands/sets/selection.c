#include "commands/sets/selection.h"

#include "base/memory/alloc.h"
#include "commands/sets/set_operations.h"
#include "engine/call.h"
#include "engine/work.h"
#include "resp/reply_source.h"
#include "types/set.h"

#include <string.h>

void selection_freeze(const struct call *call, struct set_operands *operands,
                      struct set_selection *selection) {
    selection->count = operands->count;
    selection->sets = mem_alloc_zeroed(operands->count * sizeof(*selection->sets));
    for (size_t i = 0; i < operands->count; i++) {
        struct frozen *frozen = &selection->sets[i].set;
        if (operands->sets[i]) work_freeze(call, operands->sets[i], frozen);
        operands->sets[i] = frozen->entry;
    }
}

void selection_take_set(const struct call *call, const struct work *work,
                        struct set_selection *selection, struct entry **set) {
    selection_free(work, selection);
    selection->count = 1;
    selection->sets = mem_alloc_zeroed(sizeof(*selection->sets));
    work_freeze(call, *set, &selection->sets[0].set);
    value_free(*set); /* it goes over to its capture */
    *set = NULL;
    selection_take_all(&selection->sets[0]);
}

void selection_begin(struct selected *selected) {
    size_t words = set_length(selected->set.entry) / 64 + 1;
    selected->bits = mem_alloc_zeroed(words * sizeof(*selected->bits));
    selected->looked = selected->members = 0;
}

void selection_take_all(struct selected *selected) {
    selection_begin(selected);
    selected->looked = selected->members = set_length(selected->set.entry);
    memset(selected->bits, 0xff, (selected->looked / 64 + 1) * sizeof(*selected->bits));
}

static void free_selected(const struct work *work, struct selected *selected) {
    work_unfreeze(work, &selected->set);
    mem_free(selected->bits);
}

/* Drops sets without members in the result. */
static void drop_unselected(const struct work *work, struct set_selection *selection) {
    size_t kept = 0;
    for (size_t i = 0; i < selection->count; i++) {
        if (selection->sets[i].members > 0)
            selection->sets[kept++] = selection->sets[i];
        else
            free_selected(work, &selection->sets[i]);
    }
    selection->count = kept;
}

void selection_free(const struct work *work, struct set_selection *selection) {
    for (size_t i = 0; i < selection->count; i++) free_selected(work, &selection->sets[i]);
    mem_free(selection->sets);
    *selection = (struct set_selection){0};
}

/* --- The reply --- */

struct selection_source {
    struct reply_source source;
    struct set_selection selection;
    size_t at; /* the set that is being read */
    uint64_t position;
    struct set_iter iter;
    struct text_batch batch;
};

static void begin_set(struct selection_source *reading) {
    reading->position = 0;
    set_iter_start(&reading->iter, reading->selection.sets[reading->at].set.entry);
}

/* Leaves those of the batch that are in the result. */
static void keep_selected(struct selection_source *reading) {
    const uint64_t *bits = reading->selection.sets[reading->at].bits;
    struct text_batch *batch = &reading->batch;
    size_t kept = 0;
    for (size_t i = 0; i < batch->count; i++, reading->position++)
        if (bits[reading->position / 64] >> reading->position % 64 & 1)
            batch->texts[kept++] = batch->texts[i];
    batch->count = kept;
}

static void next_selected(struct reply_source *source, struct reply *reply) {
    enum { BATCHES_MAX = 16 }; /* about 100 us */
    struct selection_source *reading = (struct selection_source *)source;
    struct text_batch *batch = &reading->batch;
    (void)reply;
    batch->count = 0;
    for (int i = 0; i < BATCHES_MAX && batch->count == 0; i++) {
        if (set_iter_next_batch(&reading->iter, batch)) {
            keep_selected(reading);
        } else {
            reading->at++;
            begin_set(reading);
        }
    }
    source->texts = batch->texts;
    source->text_count = batch->count;
}

static void end_selection(struct reply_source *source) {
    struct set_selection *selection = &((struct selection_source *)source)->selection;
    for (size_t i = 0; i < selection->count; i++) {
        struct capture *capture = value_unfreeze(&selection->sets[i].set);
        if (capture) source->common->end_capture(source->common, capture);
        mem_free(selection->sets[i].bits);
    }
    mem_free(selection->sets);
}

static const struct reply_source_functions functions = {next_selected, end_selection};

/* What it owns counts for the client from now on. */
static void count_for_client(const struct set_selection *selection, struct reply_source *source) {
    for (size_t i = 0; i < selection->count; i++) {
        struct capture *capture = selection->sets[i].set.capture;
        source->allocated += selection->sets[i].looked / 8;
        if (capture) reply_source_count(source, capture);
    }
}

/* Returns about how many bytes the members are that were selected. */
static size_t expected_bytes(const struct set_selection *selection) {
    double bytes = 0;
    for (size_t i = 0; i < selection->count; i++) {
        const struct selected *selected = &selection->sets[i];
        if (selected->looked > 0)
            bytes += (double)value_allocated(selected->set.entry) * (double)selected->members /
                     (double)selected->looked;
    }
    return (size_t)bytes;
}

void selection_reply(struct call *call, struct work *work, struct set_selection *selection) {
    struct reply *reply = call->reply;
    uint64_t members = 0;
    drop_unselected(work, selection);
    for (size_t i = 0; i < selection->count; i++) members += selection->sets[i].members;
    reply_set(reply, members);
    if (members == 0) return;
    struct selection_source *reading = reply_source_new(reply, &functions, sizeof(*reading), NULL,
                                                        members, expected_bytes(selection));
    count_for_client(selection, &reading->source);
    reading->selection = *selection;
    *selection = (struct set_selection){0};
    reading->at = 0;
    begin_set(reading);
    reply_defer(reply, &reading->source);
}
