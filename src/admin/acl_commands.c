/* acl_commands: ACL, as far as it concerns the only user: "default", who may do everything, and
 * whose password is the directive requirepass. */
#include "admin/admin_commands.h"
#include "base/sha256.h"
#include "engine/engine.h"
#include "resp/reply.h"
#include "table/command.h"

/* Returns the SHA-256 of the password in hex, which is shown instead of it; the caller frees the
 * text. NULL when there is no password. */
static sds password_digest(struct engine *engine) {
    struct slice password = sds_slice(engine->config.requirepass);
    uint8_t digest[SHA256_SIZE];
    if (password.len == 0) return NULL;
    sha256(digest, password);
    return sha256_append_hex(sds_new(SLICE("")), digest);
}

void acl_whoami_command(struct call *call) {
    reply_bulk_cstr(call->reply, "default");
}

void acl_users_command(struct call *call) {
    reply_array(call->reply, 1);
    reply_bulk_cstr(call->reply, "default");
}

void acl_list_command(struct call *call) {
    sds digest = password_digest(call->engine);
    sds line = sds_new(SLICE("user default on "));
    if (digest)
        line = sds_append_format(line, "sanitize-payload #%s", digest);
    else
        line = sds_append_cstr(line, "nopass sanitize-payload");
    line = sds_append_cstr(line, " ~* &* +@all");
    reply_array(call->reply, 1);
    reply_bulk(call->reply, sds_slice(line));
    sds_free(line);
    sds_free(digest);
}

static void reply_rule(struct reply *reply, const char *name, const char *rule) {
    reply_bulk_cstr(reply, name);
    reply_bulk_cstr(reply, rule);
}

void acl_getuser_command(struct call *call) {
    struct reply *reply = call->reply;
    if (!slice_equal(call->argv[2], SLICE("default"))) {
        reply_null(reply);
        return;
    }
    sds digest = password_digest(call->engine);
    reply_map(reply, 6);
    reply_bulk_cstr(reply, "flags");
    reply_set(reply, digest ? 2 : 3);
    reply_bulk_cstr(reply, "on");
    if (!digest) reply_bulk_cstr(reply, "nopass");
    reply_bulk_cstr(reply, "sanitize-payload");
    reply_bulk_cstr(reply, "passwords");
    reply_array(reply, digest != NULL);
    if (digest) reply_bulk(reply, sds_slice(digest));
    reply_rule(reply, "commands", "+@all");
    reply_rule(reply, "keys", "~*");
    reply_rule(reply, "channels", "&*");
    reply_bulk_cstr(reply, "selectors");
    reply_array(reply, 0);
    sds_free(digest);
}

static void reply_all_categories(struct reply *reply) {
    size_t mark = reply_begin(reply), count = 0;
    for (const struct named_bit *at = command_category_names; at->name; at++, count++)
        reply_bulk_cstr(reply, at->name);
    reply_array_end(reply, mark, count);
}

void acl_cat_command(struct call *call) {
    if (call->argc == 2) {
        reply_all_categories(call->reply);
        return;
    }
    if (call->argc > 3) {
        call_bad_subcommand(call);
        return;
    }
    uint32_t category = command_category_find(call->argv[2]);
    if (category == 0) {
        reply_error_format(call->reply, "ERR Unknown category '%.*s'",
                           slice_precision(call->argv[2]), call->argv[2].ptr);
        return;
    }
    size_t total, count = 0, mark = reply_begin(call->reply);
    const struct command *all = command_all(&total);
    for (size_t i = 0; i < total; i++) {
        if (!(command_categories(&all[i]) & category)) continue;
        reply_bulk_cstr(call->reply, all[i].name);
        count++;
    }
    reply_array_end(call->reply, mark, count);
}

void acl_help_command(struct call *call) {
    static const char *const lines[] = {
        "CAT [<category>]",
        "    All categories of commands, or the commands of one.",
        "GETUSER <username>",
        "    What the user may do. There is one user, default; CONFIG SET requirepass sets its",
        "    password.",
        "LIST",
        "    The users, as an ACL file describes them.",
        "USERS",
        "    The names of the users.",
        "WHOAMI",
        "    The name of this connection's user.",
        NULL,
    };
    call_help(call, lines);
}
