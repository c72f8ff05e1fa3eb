/* acl_commands: ACL: users, what they may do, and what they were refused. */
#include "admin/admin_commands.h"
#include "base/hash/random.h"
#include "base/hash/sha256.h"
#include "base/memory/alloc.h"
#include "base/text/secret.h"
#include "engine/engine.h"
#include "resp/reply.h"
#include "server/settings/user_files.h"
#include "session/invalidate.h"
#include "session/outbox.h"
#include "session/session.h"
#include "session/session_user.h"
#include "table/command.h"
#include "users/access.h"
#include "users/acl_log.h"
#include "users/users.h"

/* --- Looking --- */

void acl_whoami_command(struct call *call) {
    reply_bulk(call->reply, session_user_name(call_session(call)));
}

/* Replies the names of the users, or lines as in an ACL file. */
static void reply_users(struct call *call, bool in_lines) {
    const struct users *users = call->engine->users;
    struct user **sorted = users_sorted(users);
    reply_array(call->reply, users_count(users));
    for (size_t i = 0; i < users_count(users); i++) {
        sds line = in_lines ? user_append(sds_new(SLICE("")), sorted[i], RULES_SHOWN) : NULL;
        reply_bulk(call->reply, sds_slice(line ? line : sorted[i]->name));
        sds_free(line);
    }
    mem_free(sorted);
}

COMMAND_FORM(acl_users_command, reply_users, false)
COMMAND_FORM(acl_list_command, reply_users, true)

static void reply_part(struct reply *reply, const char *name, const struct selector *selector,
                       sds (*append)(sds out, const struct selector *selector)) {
    sds text = append(sds_new(SLICE("")), selector);
    reply_bulk_cstr(reply, name);
    reply_bulk(reply, sds_slice(text));
    sds_free(text);
}

/* The parts of a selector that GETUSER shows, databases only where they are restricted. */
static size_t selector_parts(const struct selector *selector) {
    return selector->all_databases ? 3 : 4;
}

static void reply_selector(struct reply *reply, const struct selector *selector) {
    reply_part(reply, "commands", selector, selector_append_commands);
    reply_part(reply, "keys", selector, selector_append_keys);
    reply_part(reply, "channels", selector, selector_append_channels);
    if (!selector->all_databases)
        reply_part(reply, "databases", selector, selector_append_databases);
}

static void reply_passwords(struct reply *reply, const struct rights *rights) {
    reply_bulk_cstr(reply, "passwords");
    reply_array(reply, rights->password_count);
    for (size_t i = 0; i < rights->password_count; i++) {
        sds hex = sha256_append_hex(sds_new(SLICE("")), rights->passwords[i].digest);
        reply_bulk(reply, sds_slice(hex));
        sds_free(hex);
    }
}

void acl_getuser_command(struct call *call) {
    struct reply *reply = call->reply;
    const struct user *user = users_find(call->engine->users, call->argv[2]);
    if (!user) {
        reply_null(reply);
        return;
    }
    const struct rights *rights = user->rights;
    reply_map(reply, 3 + selector_parts(&rights->selectors[0]));
    reply_bulk_cstr(reply, "flags");
    reply_set(reply, rights->no_password ? 2 : 1);
    reply_bulk_cstr(reply, rights->enabled ? "on" : "off");
    if (rights->no_password) reply_bulk_cstr(reply, "nopass");
    reply_passwords(reply, rights);
    reply_selector(reply, &rights->selectors[0]);
    reply_bulk_cstr(reply, "selectors");
    reply_array(reply, rights->selector_count - 1);
    for (size_t i = 1; i < rights->selector_count; i++) {
        reply_map(reply, selector_parts(&rights->selectors[i]));
        reply_selector(reply, &rights->selectors[i]);
    }
}

/* --- Changing --- */

/* Replies "ERR " and the text, which it frees. */
static void reply_reason(struct call *call, sds text) {
    sds error = sds_append(sds_new(SLICE("ERR ")), sds_slice(text));
    reply_error_text(call->reply, sds_slice(error));
    sds_free(error);
    sds_free(text);
}

void acl_setuser_command(struct call *call) {
    struct users *users = call->engine->users;
    struct rule_error error;
    uint64_t before = users->generation;
    invalidate_tell_changes(call->engine);
    if (!users_set(users, call->argv[2], call->argv + 3, call->argc - 3, &error)) {
        reply_reason(call, rule_error_text(&error));
        sds_free(error.rule);
        return;
    }
    sessions_follow_users(call->engine, before);
    reply_ok(call->reply);
}

void acl_deluser_command(struct call *call) {
    int64_t deleted = 0;
    for (size_t i = 2; i < call->argc; i++) {
        if (!slice_equal(call->argv[i], SLICE(DEFAULT_USER))) continue;
        reply_error(call->reply, "ERR The 'default' user cannot be removed");
        return;
    }
    invalidate_tell_changes(call->engine);
    for (size_t i = 2; i < call->argc; i++)
        deleted += users_delete(call->engine->users, call->argv[i]);
    if (deleted > 0) sessions_follow_users(call->engine, call->engine->users->generation);
    reply_integer(call->reply, deleted);
}

/* Returns whether there is an ACL file, or replies that there is none. */
static bool has_file(struct call *call) {
    if (call->engine->config_source.acl_path) return true;
    reply_error(call->reply,
                "ERR This Redis instance is not configured to use an ACL file. You may want to "
                "specify users via the ACL SETUSER command and then issue a CONFIG REWRITE "
                "(assuming you have a Redis configuration file set) in order to store users in the "
                "Redis configuration.");
    return false;
}

void acl_load_command(struct call *call) {
    sds error = NULL;
    uint64_t before = call->engine->users->generation;
    if (!has_file(call)) return;
    invalidate_tell_changes(call->engine);
    if (!user_files_load(call->engine, &error)) {
        reply_reason(call, error);
        return;
    }
    sessions_follow_users(call->engine, before);
    reply_ok(call->reply);
}

void acl_save_command(struct call *call) {
    if (!has_file(call)) return;
    if (user_files_save(call->engine))
        reply_ok(call->reply);
    else
        reply_error(call->reply, "ERR There was an error trying to save the ACLs. Please check the "
                                 "server logs for more information");
}

/* --- Trying --- */

/* What is denied, between the words before and behind it. A database is told as its argument; for
 * the client's own, that is the command's name, as in Valkey. */
static const struct {
    const char *before;
    const char *behind;
} denials[] = {
    [DENIED_COMMAND] = {"run the '", "' command"},
    [DENIED_KEY] = {"access the '", "' key"},
    [DENIED_CHANNEL] = {"access the '", "' channel"},
    [DENIED_DATABASE] = {"access database ", ""},
};

static void reply_denial(struct call *call, const struct user *user, const struct denial *denial,
                         const struct slice *argv) {
    struct slice object = denial->what == DENIED_DATABASE ? argv[denial->index] : denial->object;
    sds text = sds_append(sds_new(SLICE("User ")), sds_slice(user->name));
    text = sds_append_cstr(text, " has no permissions to ");
    text = sds_append(sds_append_cstr(text, denials[denial->what].before), object);
    text = sds_append_cstr(text, denials[denial->what].behind);
    reply_bulk(call->reply, sds_slice(text));
    sds_free(text);
}

void acl_dryrun_command(struct call *call) {
    const struct slice *argv = call->argv + 3;
    size_t argc = call->argc - 3;
    struct user *user = users_find(call->engine->users, call->argv[2]);
    if (!user) {
        reply_error_format(call->reply, "ERR User '%.*s' not found", slice_precision(call->argv[2]),
                           call->argv[2].ptr);
        return;
    }
    const struct command *command = command_find(argv[0]);
    if (command && command->flags & COMMAND_CONTAINER && argc > 1)
        command = command_find_subcommand(command, argv[1]);
    struct access access = {command, argv, argc, call->database};
    struct denial denial;
    if (!command)
        reply_error_format(call->reply, "ERR Command '%.*s' not found", slice_precision(argv[0]),
                           argv[0].ptr);
    else if (!command_accepts(command, argc))
        reply_error_format(call->reply, CALL_WRONG_ARITY, command->name);
    else if (user_may(user, access, &denial))
        reply_ok(call->reply);
    else
        reply_denial(call, user, &denial, argv);
}

void acl_genpass_command(struct call *call) {
    enum { BITS = 256, BITS_MAX = 4096 };
    const char *error = "ERR ACL GENPASS argument must be the number of bits for the output "
                        "password, a positive number up to 4096";
    int64_t bits = BITS;
    if (!call_has_at_most(call, 3)) return;
    if (call->argc == 3 && !call_integer(call, 2, &bits)) return;
    if (bits < 1 || bits > BITS_MAX) {
        reply_error(call->reply, error);
        return;
    }
    char digits[BITS_MAX / 4];
    size_t count = (size_t)(bits + 3) / 4;
    random_hex(digits, count);
    outbox_clear_replies(call_session(call));
    reply_bulk(call->reply, slice_make(digits, count));
    secret_clear(digits, sizeof(digits));
}

/* --- What was refused --- */

static void reply_entry(struct call *call, const struct acl_entry *entry) {
    static const char *const reasons[ACL_REASONS] = {"command",  "key",  "channel",
                                                     "database", "auth", "tls-cert"};
    static const char *const contexts[] = {"toplevel", "multi", "lua"};
    struct reply *reply = call->reply;
    reply_map(reply, 10);
    reply_named_integer(reply, "count", (int64_t)entry->count);
    reply_named_text(reply, "reason", slice_of_cstr(reasons[entry->reason]));
    reply_named_text(reply, "context", slice_of_cstr(contexts[entry->context]));
    reply_named_text(reply, "object", sds_slice(entry->object));
    reply_named_text(reply, "username", sds_slice(entry->user));
    reply_bulk_cstr(reply, "age-seconds");
    reply_double(reply, (double)(call->now_ms - entry->updated_ms) / 1000);
    reply_named_text(reply, "client-info", sds_slice(entry->client));
    reply_named_integer(reply, "entry-id", entry->id);
    reply_named_integer(reply, "timestamp-created", entry->created_ms);
    reply_named_integer(reply, "timestamp-last-updated", entry->updated_ms);
}

void acl_log_command(struct call *call) {
    struct acl_log *log = call->engine->acl_log;
    int64_t wanted = 10;
    if (!call_has_at_most(call, 3)) return;
    if (call->argc == 3 && slice_is(call->argv[2], "reset")) {
        acl_log_reset(log);
        reply_ok(call->reply);
        return;
    }
    if (call->argc == 3 && !call_integer(call, 2, &wanted)) return;
    size_t count = wanted < 0 ? 0 : (size_t)wanted < log->count ? (size_t)wanted : log->count;
    reply_array(call->reply, count);
    for (const struct acl_entry *entry = log->newest; count-- > 0; entry = entry->older)
        reply_entry(call, entry);
}

/* --- CAT, HELP --- */

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
    if (!call_has_at_most(call, 3)) return;
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

COMMAND_FORM(acl_help_command, call_help,
             "CAT [<category>]\n"
             "    All categories of commands, or the commands of one.\n"
             "DELUSER <username> [<username> ...]\n"
             "    Delete users, and close their connections.\n"
             "DRYRUN <username> <command> [<arg> ...]\n"
             "    Tell whether the user may run the command, without running it.\n"
             "GENPASS [<bits>]\n"
             "    Make a random password of so many bits (256), in hexadecimal digits.\n"
             "GETUSER <username>\n"
             "    What the user may do.\n"
             "LIST\n"
             "    The users, as an ACL file describes them.\n"
             "LOAD\n"
             "    Read the users from the ACL file.\n"
             "LOG [<count> | RESET]\n"
             "    What was refused to users, newest first; or forget that.\n"
             "SAVE\n"
             "    Write the users to the ACL file.\n"
             "SETUSER <username> [<rule> ...]\n"
             "    Make a user, or change what it may do.\n"
             "USERS\n"
             "    The names of the users.\n"
             "WHOAMI\n"
             "    The name of this connection's user.\n")
