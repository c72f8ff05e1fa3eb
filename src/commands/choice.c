#include "commands/choice.h"

#include "engine/work.h"
#include "resp/made_reply.h"
#include "types/value.h"

bool choice_count_parse(struct call *call, const char *option, int64_t *count) {
    if (!call_integer_in(call, 2, -INT64_MAX, INT64_MAX, count, NULL)) return false;
    if (call->argc == 3) return true;
    if (call->argc > 4 || !slice_is(call->argv[3], option)) return call_syntax_error(call);
    return (*count >= -INT64_MAX / 2 && *count <= INT64_MAX / 2) ||
           reply_error(call->reply, "ERR value is out of range");
}

/* --- Writing --- */

bool choice_goes_on(struct choice *choice) {
    const struct reply *reply = choice->reply;
    if (choice->is_too_long || choice->is_unsendable) return false;
    if (reply->len < choice->end) return false; /* before_growth has dropped the reply */
    size_t size = reply->len - choice->mark + (choice->made ? choice->made->size : 0);
    choice->is_too_long = size > choice->size_max;
    choice->is_unsendable = size >= choice->sent_max;
    if (choice->is_too_long || choice->is_unsendable) return false;
    if (choice->made) {
        if (work_is_cancelled(choice->work)) return false;
        made_reply_grow(choice->made);
    }
    choice->end = reply->len;
    return true;
}

static void write_members(struct choice *choice) {
    if (choice->repeats)
        choice->type->reply_repeated(choice);
    else
        choice->type->reply_different(choice);
    if (!choice->is_too_long) return;
    if (choice->made) made_reply_restart(choice->made);
    reply_truncate(choice->reply, choice->mark);
    reply_error(choice->reply, "ERR reply exceeds maximum allowed size (proto-max-bulk-len)");
}

/* --- In another thread --- */

struct choosing {
    struct work work;
    struct choice choice;
    struct random random;
    struct made_reply made;
};

static void run_choosing(struct work *work) {
    struct choosing *choosing = (struct choosing *)work;
    write_members(&choosing->choice);
    made_reply_end(&choosing->made);
}

/* A part of a reply closes the client, unless its limit has become higher. */
static void answer_choosing(struct call *call, struct work *work) {
    struct choosing *choosing = (struct choosing *)work;
    if (choosing->choice.is_unsendable && choosing->made.size < call_output_max(call))
        reply_error(call->reply, "ERR reply exceeds the output limit that the client had");
    else
        made_reply_pass(&choosing->made, call->reply);
}

static void free_choosing(struct work *work) {
    struct choosing *choosing = (struct choosing *)work;
    work_unfreeze(work, &choosing->choice.value);
    made_reply_free(&choosing->made);
}

static void choose_later(struct call *call, const struct choice *choice) {
    static const struct work_kind kind = {run_choosing, answer_choosing, free_choosing};
    struct choosing *choosing = work_new(&kind, sizeof(*choosing));
    choosing->choice = *choice;
    work_freeze(call, choice->value.entry, &choosing->choice.value);
    random_seed(&choosing->random, random_next(call_random(call)));
    made_reply_begin(&choosing->made, call->reply->protocol);
    choosing->choice.random = &choosing->random;
    choosing->choice.reply = &choosing->made.reply;
    choosing->choice.made = &choosing->made;
    choosing->choice.work = &choosing->work;
    choosing->choice.sent_max = call_output_max(call);
    work_begin(call, &choosing->work);
}

/* Different members are drawn, or all are looked at. The texts may be long. */
static uint64_t steps_of(const struct choice *choice) {
    enum { DRAW = 8, REPLY = 2, LOOKED_AT_PER_STEP = 2, BYTES_PER_STEP = 512 };
    const struct entry *entry = choice->value.entry;
    uint64_t count = choice->count, pass = choice->length / LOOKED_AT_PER_STEP + REPLY * count;
    uint64_t draws = count * (entry_is_out_of_line(entry) ? DRAW : 1);
    double share = (double)count / (double)choice->length;
    double bytes = share * (double)value_allocated(entry) / BYTES_PER_STEP;
    return (choice->repeats || draws < pass ? draws : pass) + (uint64_t)bytes;
}

static bool is_long(const struct call *call, const struct choice *choice) {
    enum { FEW = 8 };
    return choice->count > FEW && work_pays(call, steps_of(choice));
}

/* --- A command --- */

void choice_reply(struct call *call, struct choice *choice, int64_t count) {
    choice->repeats = count < 0;
    choice->count = count < 0 ? 0 - (uint64_t)count : (uint64_t)count;
    if (!choice->repeats && choice->count > choice->length) choice->count = choice->length;
    if (choice->repeats && choice->count > CHOICE_REPEATED_MAX) {
        reply_error(call->reply, "ERR value is out of range");
        return;
    }
    choice->size_max = choice->repeats ? call_string_max(call) : SIZE_MAX;
    choice->sent_max = SIZE_MAX; /* at once, before_growth drops the reply */
    if (is_long(call, choice)) {
        choose_later(call, choice);
        return;
    }
    choice->random = call_random(call);
    choice->reply = call->reply;
    choice->mark = call->reply->len;
    write_members(choice);
}
