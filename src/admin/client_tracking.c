/* client_tracking: CLIENT TRACKING and related commands: the server does not report changed keys to
 * clients, so tracking is always off. */
#include "admin/admin_commands.h"
#include "engine/engine.h"
#include "resp/reply.h"
#include "session/clients.h"

void client_trackinginfo_command(struct call *call) {
    struct reply *reply = call->reply;
    reply_map(reply, 3);
    reply_bulk_cstr(reply, "flags");
    reply_set(reply, 1);
    reply_bulk_cstr(reply, "off");
    reply_bulk_cstr(reply, "redirect");
    reply_integer(reply, -1);
    reply_bulk_cstr(reply, "prefixes");
    reply_array(reply, 0);
}

void client_getredir_command(struct call *call) {
    reply_integer(call->reply, -1);
}

/* The argument of REDIRECT must be the number of a client. */
static bool check_redirection(struct call *call, size_t index) {
    int64_t id;
    if (!call_integer(call, index, &id)) return false;
    if (id > 0 && session_list_find(&call->engine->clients->sessions, (uint64_t)id)) return true;
    return reply_error(call->reply, "ERR The client ID you want redirect to does not exist");
}

static bool check_tracking_options(struct call *call) {
    for (size_t i = 3; i < call->argc; i++) {
        struct slice option = call->argv[i];
        bool has_value = i + 1 < call->argc;
        if (slice_is(option, "redirect") && has_value) {
            if (!check_redirection(call, ++i)) return false;
        } else if (slice_is(option, "prefix") && has_value) {
            i++;
        } else if (!slice_is(option, "bcast") && !slice_is(option, "optin") &&
                   !slice_is(option, "optout") && !slice_is(option, "noloop")) {
            return call_syntax_error(call);
        }
    }
    return true;
}

void client_tracking_command(struct call *call) {
    if (!check_tracking_options(call)) return;
    if (slice_is(call->argv[2], "off"))
        reply_ok(call->reply);
    else if (slice_is(call->argv[2], "on"))
        reply_error(call->reply, "ERR Client-side caching is not supported: this server tracks no "
                                 "keys and sends no invalidation messages");
    else
        call_syntax_error(call);
}

void client_caching_command(struct call *call) {
    reply_error(call->reply, "ERR CLIENT CACHING can be called only when the client is in tracking "
                             "mode with OPTIN or OPTOUT mode enabled");
}
