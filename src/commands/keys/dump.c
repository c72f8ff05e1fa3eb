/* DUMP RESTORE: values as payloads. */
#include "persist/dump.h"

#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "commands/commands.h"
#include "engine/call.h"
#include "engine/work.h"
#include "types/value.h"

/* --- DUMP key. It is a work (engine/work.h) if the value is large. --- */

struct dumping {
    struct work work;
    struct dump_captured value;
    bool compresses;
    sds payload;
};

static bool is_wanted(void *work) {
    return !work_is_cancelled(work);
}

static void run_dump(struct work *work) {
    struct dumping *dumping = (struct dumping *)work;
    dumping->payload = dump_new_captured(&dumping->value, dumping->compresses, is_wanted, work);
}

static void answer_dump(struct call *call, struct work *work) {
    struct dumping *dumping = (struct dumping *)work;
    reply_bulk_owned(call->reply, dumping->payload);
    dumping->payload = NULL;
}

static void free_dump(struct work *work) {
    struct dumping *dumping = (struct dumping *)work;
    work_end_capture(work, dumping->value.capture);
    sds_free(dumping->payload);
}

/* Returns false, and does nothing, if the value cannot be captured. */
static bool dump_later(struct call *call, struct entry *entry) {
    static const struct work_kind kind = {run_dump, answer_dump, free_dump};
    struct capture *capture = work_capture(call, entry);
    if (!capture) return false;
    struct dumping *dumping = work_new(&kind, sizeof(*dumping));
    dumping->value = (struct dump_captured){.capture = capture,
                                            .format = type_format_of_entry(entry),
                                            .written = type_format_written(entry)};
    dumping->compresses = call_compresses_values(call);
    work_begin(call, &dumping->work);
    return true;
}

void dump_command(struct call *call) {
    struct entry *entry = call_find_read(call, call->argv[1], NULL);
    if (!entry) {
        reply_null(call->reply);
        return;
    }
    bool is_large = entry_is_out_of_line(entry) && work_pays(call, type_format_effort(entry));
    if (is_large && dump_later(call, entry)) return;
    sds payload = dump_new(entry, call_compresses_values(call));
    reply_bulk(call->reply, sds_slice(payload));
    sds_free(payload);
}

/* --- RESTORE key ttl payload [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency] --- */

struct restore {
    struct slice key;
    struct slice payload;
    int64_t expiry_ms; /* -1: none */
    bool replace;
    bool absolute;     /* the TTL is a point in time */
    int64_t idle_s;    /* -1: not given */
    int64_t frequency; /* -1: not given */
};

static bool parse_options(struct call *call, struct restore *restore) {
    static const char bad_idle[] = "ERR Invalid IDLETIME value, must be >= 0";
    static const char bad_frequency[] = "ERR Invalid FREQ value, must be >= 0 and <= 255";
    for (size_t i = 4; i < call->argc; i++) {
        struct slice option = call->argv[i];
        bool has_value = i + 1 < call->argc;
        if (slice_is(option, "replace")) {
            restore->replace = true;
        } else if (slice_is(option, "absttl")) {
            restore->absolute = true;
        } else if (slice_is(option, "idletime") && has_value && restore->frequency < 0) {
            if (!call_integer_within(call, ++i, 0, INT64_MAX, &restore->idle_s, bad_idle))
                return false;
        } else if (slice_is(option, "freq") && has_value && restore->idle_s < 0) {
            if (!call_integer_within(call, ++i, 0, UINT8_MAX, &restore->frequency, bad_frequency))
                return false;
        } else {
            return call_syntax_error(call);
        }
    }
    return true;
}

/* Reads the TTL; 0 is none. A time beyond what a clock can show becomes the latest that it can. */
static bool parse_ttl(struct call *call, struct restore *restore) {
    int64_t ttl;
    if (!call_integer_within(call, 2, 0, INT64_MAX, &ttl, "ERR Invalid TTL value, must be >= 0"))
        return false;
    if (ttl == 0)
        restore->expiry_ms = -1;
    else if (restore->absolute)
        restore->expiry_ms = ttl;
    else
        restore->expiry_ms = ttl <= INT64_MAX - call->now_ms ? call->now_ms + ttl : INT64_MAX;
    return true;
}

/* Replies why there is no value, and names a type that this server does not have. */
static void refuse_value(struct call *call, struct slice payload) {
    const char *foreign = dump_foreign_type(payload);
    sds text = sds_new(SLICE("ERR Bad data format"));
    if (foreign) text = sds_append_format(text, ": values of type %s can't be loaded", foreign);
    call_fail(call, CALL_ERROR_PAYLOAD, text);
    sds_free(text);
}

/* Returns the new entry; NULL when the payload is bad, with the error replied. */
static struct entry *read_payload(struct call *call, const struct restore *restore) {
    const struct rdb_load_options options = {.limits = *call->limits,
                                             .skip_checksum = call_skips_checksums(call)};
    enum dump_error error = DUMP_OK;
    sds reason;
    struct entry *entry = dump_read(restore->payload, restore->key, &options, &error, &reason);
    if (reason) log_verbose("The payload of RESTORE is bad: %s", reason);
    sds_free(reason);
    if (error == DUMP_BAD_FOOTER)
        call_fail(call, CALL_ERROR_PAYLOAD, "ERR DUMP payload version or checksum are wrong");
    else if (!entry)
        refuse_value(call, restore->payload);
    return entry;
}

/* Replaces what `ref` names by the entry, or adds it. */
static void store(struct call *call, struct keyref *ref, struct entry *entry,
                  const struct restore *restore) {
    bool replaces = ref->entry != NULL;
    enum value_type old = replaces ? entry_type(ref->entry) : VALUE_STRING;
    call_remove(call, ref, restore->key, REMOVAL_OVERWRITTEN);
    keyspace_add(ref, entry);
    if (restore->expiry_ms >= 0) call_set_expiry(call, ref, restore->expiry_ms);
    CALL_CHANGED(call, ref, restore->key, EVENT_GENERIC, "restore", 1);
    if (replaces) call_notify_overwritten(call, restore->key, old, entry_type(ref->entry));
    call_set_usage(call, ref->entry, restore->idle_s, restore->frequency);
}

/* Propagates RESTORE, with the time at which the key expires instead of its TTL. */
static void propagate(struct call *call, const struct restore *restore) {
    char buffer[INT64_TEXT_MAX];
    bool is_relative = restore->expiry_ms >= 0 && !restore->absolute;
    struct slice *argv = mem_alloc((call->argc + 1) * sizeof(*argv));
    memcpy(argv, call->argv, call->argc * sizeof(*argv));
    argv[0] = SLICE("RESTORE");
    if (is_relative) argv[2] = number_text(buffer, restore->expiry_ms);
    argv[call->argc] = SLICE("ABSTTL");
    call_propagate_as(call, argv, call->argc + is_relative);
    mem_free(argv);
}

void restore_command(struct call *call) {
    struct restore restore = {.key = call->argv[1],
                              .payload = call->argv[3],
                              .expiry_ms = -1,
                              .idle_s = -1,
                              .frequency = -1};
    if (!parse_options(call, &restore)) return;
    struct keyref ref;
    call_find_write(call, restore.key, &ref);
    if (ref.entry && !restore.replace) {
        reply_error(call->reply, "BUSYKEY Target key name already exists.");
        return;
    }
    if (!parse_ttl(call, &restore)) return;
    struct entry *entry = read_payload(call, &restore);
    if (!entry) return;
    if (restore.expiry_ms >= 0 && call_is_past(call, restore.expiry_ms)) {
        value_free(entry);
        call_remove(call, &ref, restore.key, REMOVAL_REPLACED_PAST);
    } else {
        store(call, &ref, entry, &restore);
        if (call->propagates) propagate(call, &restore);
    }
    reply_ok(call->reply);
}
