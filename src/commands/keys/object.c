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

/* `problem`: why the policy in force does not count that, which is then negative. */
static void reply_usage(struct call *call, int64_t usage, const char *problem) {
    if (usage >= 0)
        reply_integer(call->reply, usage);
    else
        reply_error_format(call->reply,
                           "ERR An LFU maxmemory policy is %s not tracked. Please note that when "
                           "switching between policies at runtime LRU and LFU data will take some "
                           "time to adjust.",
                           problem);
}

void object_idletime_command(struct call *call) {
    const struct entry *entry = find_or_null(call);
    if (entry) reply_usage(call, call_idle_seconds(call, entry), "selected, idle time");
}

void object_freq_command(struct call *call) {
    const struct entry *entry = find_or_null(call);
    if (entry) reply_usage(call, call_frequency(call, entry), "not selected, access frequency");
}

COMMAND_FORM(object_help_command, call_help,
             "ENCODING <key>\n"
             "    Return the name of the representation that holds the value of <key>.\n"
             "FREQ <key>\n"
             "    Return how often <key> is used, as the logarithmic counter of the LFU policies.\n"
             "IDLETIME <key>\n"
             "    Return for how many seconds <key> has not been used.\n"
             "REFCOUNT <key>\n"
             "    Return the number of references to the value of <key>.\n")

/* --- MEMORY USAGE key [SAMPLES count] --- */

static bool parse_samples(struct call *call) {
    for (size_t i = 3; i < call->argc; i += 2) {
        int64_t samples;
        if (!slice_is(call->argv[i], "samples") || i + 1 == call->argc)
            return call_syntax_error(call);
        if (!call_integer(call, i + 1, &samples)) return false;
        if (samples < 0) return call_syntax_error(call);
    }
    return true;
}

/* The number is exact, so nothing is sampled. */
void memory_usage_command(struct call *call) {
    if (!parse_samples(call)) return;
    const struct entry *entry = find_or_null(call);
    if (entry) reply_integer(call->reply, (int64_t)value_allocated(entry));
}
