/* debug_object: DEBUG OBJECT. Measuring a large value is a work (engine/work.h). */
#include "admin/debug.h"
#include "engine/engine.h"
#include "engine/work.h"
#include "persist/type_format.h"
#include "resp/reply.h"
#include "types/value.h"

#include <errno.h>

/* What is shown of the value besides its length in files, as it is when the command comes. */
struct shown {
    sds before;
    sds after;
};

static struct shown show(struct call *call, const struct entry *entry) {
    uint32_t clock = entry_clock(entry);
    int64_t idle_s = eviction_idle_seconds(&call->engine->eviction, clock);
    sds after = sds_format(" lru:%u lru_seconds_idle:%lld", clock & ACCESS_MASK, (long long)idle_s);
    return (struct shown){.before = sds_format("Value at:%p refcount:1 encoding:%s",
                                               (const void *)entry, value_encoding_name(entry)),
                          .after = debug_append_quicklist_fields(after, entry)};
}

static void answer(struct call *call, const struct shown *shown, size_t length) {
    sds out = sds_format("%s serializedlength:%zu%s", shown->before, length, shown->after);
    reply_status(call->reply, sds_slice(out));
    sds_free(out);
}

static void shown_free(struct shown *shown) {
    sds_free(shown->before);
    sds_free(shown->after);
}

/* --- In another thread --- */

struct measuring {
    struct work work;
    struct shown shown;
    const struct type_format *format;
    struct capture *capture;
    size_t length;
};

static bool is_wanted(void *work) {
    errno = ECANCELED;
    return !work_is_cancelled(work);
}

static void run_measuring(struct work *work) {
    struct measuring *measuring = (struct measuring *)work;
    measuring->length =
        type_format_length_captured(measuring->format, measuring->capture, is_wanted, work);
}

static void answer_measuring(struct call *call, struct work *work) {
    const struct measuring *measuring = (struct measuring *)work;
    answer(call, &measuring->shown, measuring->length);
}

static void free_measuring(struct work *work) {
    struct measuring *measuring = (struct measuring *)work;
    work_end_capture(work, measuring->capture);
    shown_free(&measuring->shown);
}

/* Returns false, and does nothing, if the value cannot be captured. */
static bool measure_later(struct call *call, struct entry *entry) {
    static const struct work_kind kind = {run_measuring, answer_measuring, free_measuring};
    struct capture *capture = work_capture(call, entry);
    if (!capture) return false;
    struct measuring *measuring = work_new(&kind, sizeof(*measuring));
    measuring->shown = show(call, entry);
    measuring->format = type_format_of_entry(entry);
    measuring->capture = capture;
    work_begin(call, &measuring->work);
    return true;
}

/* --- The command --- */

void debug_object(struct call *call) {
    struct entry *entry = keyspace_find(call->keyspace, call->argv[2]).entry;
    if (!entry) {
        reply_error(call->reply, "ERR no such key");
        return;
    }
    bool is_large = entry_is_out_of_line(entry) && work_pays(call, type_format_effort(entry));
    if (is_large && measure_later(call, entry)) return;
    struct shown shown = show(call, entry);
    answer(call, &shown, type_format_length(entry));
    shown_free(&shown);
}
