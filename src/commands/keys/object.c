/* OBJECT and MEMORY USAGE: facts about a value. Reading them does not count as a use of the key. */
#include "commands/commands.h"
#include "engine/call.h"
#include "types/string.h"
#include "types/value.h"

/* Finds the key argv[2]; replies null when it does not exist. */
static const struct entry *find_or_null(struct call *call) {
    const struct entry *entry = call_find(call, call->argv[2], FIND_COUNT, NULL);
    if (entry == NULL) reply_null(call->reply);
    return entry;
}

void object_encoding_command(struct call *call) {
    const struct entry *entry = find_or_null(call);
    if (entry) reply_bulk_cstr(call->reply, value_encoding_name(entry));
}

/* Values are not shared here. Small integers, which Redis shares, have the count that Redis shows
 * for shared values. */
void object_refcount_command(struct call *call) {
    enum { SHARED_INTEGERS = 10000 };
    const struct entry *entry = find_or_null(call);
    int64_t integer;
    if (entry == NULL) return;
    bool shared = entry_type(entry) == VALUE_STRING && string_integer(entry, &integer) &&
                  integer >= 0 && integer < SHARED_INTEGERS;
    reply_integer(call->reply, shared ? INT32_MAX : 1);
}

void object_idletime_command(struct call *call) {
    const struct entry *entry = find_or_null(call);
    if (entry == NULL) return;
    int64_t idle = call_idle_seconds(call, entry);
    if (idle >= 0)
        reply_integer(call->reply, idle);
    else
        reply_error(call->reply,
                    "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note "
                    "that when switching between policies at runtime LRU and LFU data will take "
                    "some time to adjust.");
}

void object_freq_command(struct call *call) {
    const struct entry *entry = find_or_null(call);
    if (entry == NULL) return;
    int64_t frequency = call_frequency(call, entry);
    if (frequency >= 0)
        reply_integer(call->reply, frequency);
    else
        reply_error(
            call->reply,
            "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please "
            "note that when switching between policies at runtime LRU and LFU data will take "
            "some time to adjust.");
}

void object_help_command(struct call *call) {
    static const char *const lines[] = {
        "ENCODING <key>",
        "    Return the name of the representation that holds the value of <key>.",
        "FREQ <key>",
        "    Return how often <key> is used, as the logarithmic counter of the LFU policies.",
        "IDLETIME <key>",
        "    Return for how many seconds <key> has not been used.",
        "REFCOUNT <key>",
        "    Return the number of references to the value of <key>.",
        NULL,
    };
    call_help(call, lines);
}

/* MEMORY USAGE key [SAMPLES count]. The number is exact, so nothing is sampled. */
void memory_usage_command(struct call *call) {
    for (size_t i = 3; i < call->argc; i += 2) {
        int64_t samples;
        if (!slice_is(call->argv[i], "samples") || i + 1 == call->argc) {
            call_syntax_error(call);
            return;
        }
        if (!call_integer(call, i + 1, &samples)) return;
        if (samples < 0) {
            call_syntax_error(call);
            return;
        }
    }
    const struct entry *entry = find_or_null(call);
    if (entry) reply_integer(call->reply, (int64_t)value_allocated(entry));
}
