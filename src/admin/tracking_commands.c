/* CLIENT TRACKING, CACHING, GETREDIR, TRACKINGINFO: session/invalidate.h. */
#include "admin/admin_commands.h"

#include "base/memory/alloc.h"
#include "engine/call.h"
#include "engine/engine.h"
#include "resp/reply.h"
#include "session/clients.h"
#include "session/invalidate.h"
#include "session/session.h"
#include "tracking/tracking.h"

/* --- CLIENT TRACKING --- */

struct options {
    uint32_t flags; /* enum tracker_flag */
    int64_t redirect;
    struct slice *prefixes; /* with room for as many as there are arguments */
    size_t prefix_count;
};

/* The argument of REDIRECT must be the number of a client. */
static bool parse_redirection(struct call *call, size_t index, struct options *options) {
    const struct session_list *sessions = &call->engine->clients->sessions;
    if (options->redirect != 0)
        return reply_error(call->reply, "ERR A client can only redirect to a single other client");
    if (!call_integer(call, index, &options->redirect)) return false;
    if (options->redirect > 0 && session_list_find(sessions, (uint64_t)options->redirect))
        return true;
    return reply_error(call->reply, "ERR The client ID you want redirect to does not exist");
}

static uint32_t flag_named(struct slice name) {
    if (slice_is(name, "bcast")) return TRACKER_BCAST;
    if (slice_is(name, "optin")) return TRACKER_OPTIN;
    if (slice_is(name, "optout")) return TRACKER_OPTOUT;
    return slice_is(name, "noloop") ? TRACKER_NOLOOP : 0;
}

static bool parse_options(struct call *call, struct options *options) {
    for (size_t i = 3; i < call->argc; i++) {
        struct slice option = call->argv[i];
        bool has_value = i + 1 < call->argc;
        uint32_t flag = flag_named(option);
        options->flags |= flag;
        if (flag) continue;
        if (slice_is(option, "redirect") && has_value) {
            if (!parse_redirection(call, ++i, options)) return false;
        } else if (slice_is(option, "prefix") && has_value) {
            options->prefixes[options->prefix_count++] = call->argv[++i];
        } else {
            return call_syntax_error(call);
        }
    }
    return true;
}

/* Returns what does not fit together, or does not fit the tracking that is on (NULL: none is). */
static const char *conflict_of(const struct tracker *tracker, const struct options *options) {
    uint32_t flags = options->flags, opt = TRACKER_OPTIN | TRACKER_OPTOUT;
    if (!(flags & TRACKER_BCAST) && options->prefix_count > 0)
        return "ERR PREFIX option requires BCAST mode to be enabled";
    if (tracker && (tracker->flags ^ flags) & TRACKER_BCAST)
        return "ERR You can't switch BCAST mode on/off before disabling tracking for this client, "
               "and then re-enabling it with a different mode.";
    if (flags & TRACKER_BCAST && flags & opt)
        return "ERR OPTIN and OPTOUT are not compatible with BCAST";
    if ((flags & opt) == opt) return "ERR You can't specify both OPTIN mode and OPTOUT mode";
    if (tracker && ((tracker->flags | flags) & opt) == opt)
        if (flags & opt)
            return "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this "
                   "client, and then re-enabling it with a different mode.";
    return NULL;
}

static bool check_prefixes(struct call *call, const struct tracker *tracker,
                           const struct options *options) {
    size_t index;
    struct slice with, prefix;
    bool is_own;
    if (!tracker_find_overlap(tracker, options->prefixes, options->prefix_count, &index, &with,
                              &is_own))
        return true;
    prefix = options->prefixes[index];
    return reply_error_format(
        call->reply,
        "ERR Prefix '%.*s' overlaps with %s prefix '%.*s'. Prefixes for a single client must not "
        "overlap.",
        slice_precision(prefix), prefix.ptr, is_own ? "an existing" : "another provided",
        slice_precision(with), with.ptr);
}

static void turn_on(struct call *call, const struct options *options) {
    struct session *session = call_session(call);
    const char *conflict = conflict_of(session->tracker, options);
    if (conflict) {
        reply_error(call->reply, conflict);
        return;
    }
    if (!check_prefixes(call, session->tracker, options)) return;
    invalidate_start(session, options->flags, (uint64_t)options->redirect);
    struct tracking *tracking = call->engine->tracking;
    for (size_t i = 0; i < options->prefix_count; i++)
        tracker_add_prefix(tracking, session->tracker, options->prefixes[i]);
    if (options->flags & TRACKER_BCAST && options->prefix_count == 0)
        tracker_add_prefix(tracking, session->tracker, SLICE(""));
    reply_ok(call->reply);
}

void client_tracking_command(struct call *call) {
    struct options options = {.prefixes = mem_alloc(call->argc * sizeof(*options.prefixes))};
    if (!parse_options(call, &options)) {
        mem_free(options.prefixes);
        return;
    }
    if (slice_is(call->argv[2], "on")) {
        turn_on(call, &options);
    } else if (slice_is(call->argv[2], "off")) {
        invalidate_stop(call_session(call));
        reply_ok(call->reply);
    } else {
        call_syntax_error(call);
    }
    mem_free(options.prefixes);
}

/* --- CLIENT CACHING --- */

void client_caching_command(struct call *call) {
    struct tracker *tracker = call_session(call)->tracker;
    bool yes = slice_is(call->argv[2], "yes");
    if (!tracker) {
        reply_error(call->reply, "ERR CLIENT CACHING can be called only when the client is in "
                                 "tracking mode with OPTIN or OPTOUT mode enabled");
    } else if (!yes && !slice_is(call->argv[2], "no")) {
        call_syntax_error(call);
    } else if (!(tracker->flags & (yes ? TRACKER_OPTIN : TRACKER_OPTOUT))) {
        reply_error(call->reply, yes ? "ERR CLIENT CACHING YES is only valid when tracking is "
                                       "enabled in OPTIN mode."
                                     : "ERR CLIENT CACHING NO is only valid when tracking is "
                                       "enabled in OPTOUT mode.");
    } else {
        tracker->flags |= TRACKER_CACHING;
        reply_ok(call->reply);
    }
}

/* --- What is on --- */

static int64_t redirect_of(const struct call *call) {
    const struct tracker *tracker = call_session(call)->tracker;
    return tracker ? (int64_t)tracker->redirect : -1;
}

void client_getredir_command(struct call *call) {
    reply_integer(call->reply, redirect_of(call));
}

/* Writes the names of what is on. */
static void reply_flags(struct reply *reply, uint32_t flags) {
    static const struct {
        uint32_t flags; /* all of these */
        const char *name;
    } names[] = {
        {0, "on"},
        {TRACKER_BCAST, "bcast"},
        {TRACKER_OPTIN, "optin"},
        {TRACKER_OPTIN | TRACKER_CACHING, "caching-yes"},
        {TRACKER_OPTOUT, "optout"},
        {TRACKER_OPTOUT | TRACKER_CACHING, "caching-no"},
        {TRACKER_NOLOOP, "noloop"},
        {TRACKER_BROKEN, "broken_redirect"},
    };
    enum { NAMES = sizeof(names) / sizeof(names[0]) };
    size_t count = 0;
    for (size_t i = 0; i < NAMES; i++) count += (flags & names[i].flags) == names[i].flags;
    reply_set(reply, count);
    for (size_t i = 0; i < NAMES; i++)
        if ((flags & names[i].flags) == names[i].flags) reply_bulk_cstr(reply, names[i].name);
}

static void reply_prefix(void *item, void *reply) {
    reply_bulk(reply, tracker_prefix(item));
}

void client_trackinginfo_command(struct call *call) {
    struct reply *reply = call->reply;
    const struct tracker *tracker = call_session(call)->tracker;
    reply_map(reply, 3);
    reply_bulk_cstr(reply, "flags");
    if (tracker) {
        reply_flags(reply, tracker->flags);
    } else {
        reply_set(reply, 1);
        reply_bulk_cstr(reply, "off");
    }
    reply_named_integer(reply, "redirect", redirect_of(call));
    reply_bulk_cstr(reply, "prefixes");
    reply_array(reply, tracker ? tracker->prefixes.count : 0);
    if (tracker) prefix_tree_each(&tracker->prefixes, reply_prefix, reply);
}
