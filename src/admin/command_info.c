/* command_info: COMMAND, COMMAND INFO, COUNT, LIST, GETKEYS and GETKEYSANDFLAGS: facts about
 * commands for programs.
 *
 * A command is described by ten fields, as since Redis 7: name, arity, flags, first key, last key,
 * step, access categories, tips, key specifications, subcommands. As in Redis, fields with members
 * are sets in RESP3, except that subcommands are an array if there are any. */
#include "admin/admin_commands.h"
#include "base/memory/alloc.h"
#include "base/text/glob.h"
#include "engine/call.h"
#include "table/command.h"
#include "table/command_keys.h"

#include <stdio.h>

static size_t listed_count(void) {
    size_t total, count = 0;
    const struct command *all = command_all(&total);
    for (size_t i = 0; i < total; i++) count += command_is_listed(&all[i]);
    return count;
}

/* --- Flags --- */

static const struct named_bit command_flags[] = {
    {COMMAND_WRITE, "write"},
    {COMMAND_READONLY, "readonly"},
    {COMMAND_DENYOOM, "denyoom"},
    {COMMAND_ADMIN, "admin"},
    {COMMAND_PUBSUB, "pubsub"},
    {COMMAND_NOSCRIPT, "noscript"},
    {COMMAND_BLOCKING, "blocking"},
    {COMMAND_LOADING, "loading"},
    {COMMAND_STALE, "stale"},
    {COMMAND_FAST, "fast"},
    {COMMAND_NO_AUTH, "no_auth"},
    {COMMAND_NO_ASYNC_LOADING, "no_async_loading"},
    {COMMAND_NO_MULTI, "no_multi"},
    {COMMAND_SKIP_MONITOR, "skip_monitor"},
    {COMMAND_NO_MANDATORY_KEYS, "no_mandatory_keys"},
    {COMMAND_MOVABLE_KEYS, "movablekeys"},
    {COMMAND_ALLOW_BUSY, "allow_busy"},
    {COMMAND_SKIP_SLOWLOG, "skip_slowlog"},
    {0, NULL},
};

static const struct named_bit command_tips[] = {
    {TIP_NONDETERMINISTIC, "nondeterministic_output"},
    {TIP_NONDETERMINISTIC_ORDER, "nondeterministic_output_order"},
    {TIP_ALL_NODES, "request_policy:all_nodes"},
    {TIP_ALL_SHARDS, "request_policy:all_shards"},
    {TIP_MULTI_SHARD, "request_policy:multi_shard"},
    {TIP_SPECIAL_REQUEST, "request_policy:special"},
    {TIP_ALL_SUCCEEDED, "response_policy:all_succeeded"},
    {TIP_ONE_SUCCEEDED, "response_policy:one_succeeded"},
    {TIP_SUM, "response_policy:agg_sum"},
    {TIP_MIN, "response_policy:agg_min"},
    {TIP_LOGICAL_AND, "response_policy:agg_logical_and"},
    {TIP_SPECIAL_RESPONSE, "response_policy:special"},
    {0, NULL},
};

static const struct named_bit key_uses[] = {
    {KEY_RO, "RO"},
    {KEY_RW, "RW"},
    {KEY_OW, "OW"},
    {KEY_RM, "RM"},
    {KEY_ACCESS, "access"},
    {KEY_UPDATE, "update"},
    {KEY_INSERT, "insert"},
    {KEY_DELETE, "delete"},
    {KEY_NOT_KEY, "not_key"},
    {KEY_INCOMPLETE, "incomplete"},
    {KEY_VARIABLE, "variable_flags"},
    {0, NULL},
};

static void reply_name(struct reply *reply, const char *name) {
    reply_status(reply, slice_of_cstr(name));
}

/* Categories are shown as "@list". */
static void reply_category(struct reply *reply, const char *name) {
    char shown[COMMAND_CATEGORY_NAME_MAX + 2];
    int len = snprintf(shown, sizeof(shown), "@%s", name);
    reply_status(reply, slice_make(shown, (size_t)len));
}

/* Replies the set of the names, each with `write`. */
static void reply_bits(struct reply *reply, const struct named_bit *names, uint32_t bits,
                       void (*write)(struct reply *reply, const char *name)) {
    size_t count = 0;
    for (const struct named_bit *at = names; at->name; at++) count += (bits & at->bit) != 0;
    reply_set(reply, count);
    for (const struct named_bit *at = names; at->name; at++)
        if (bits & at->bit) write(reply, at->name);
}

/* --- Key specifications --- */

/* Replies "name", then begins a map of its type and of `fields` fields under "spec", which
 * follow. */
static void begin_step(struct reply *reply, const char *name, const char *type, size_t fields) {
    reply_bulk_cstr(reply, name);
    reply_map(reply, 2);
    reply_named_text(reply, "type", slice_of_cstr(type));
    reply_bulk_cstr(reply, "spec");
    reply_map(reply, fields);
}

/* Replies the first fields of a specification. Two more must follow: the steps that find the keys.
 * `notes`: NULL for none. */
static void begin_key_specification(struct reply *reply, uint32_t flags, const char *notes) {
    reply_map(reply, notes ? 4 : 3);
    if (notes) {
        reply_named_text(reply, "notes", slice_of_cstr(notes));
    }
    reply_bulk_cstr(reply, "flags");
    reply_bits(reply, key_uses, flags, reply_name);
}

static void reply_search_index(struct reply *reply, int index) {
    begin_step(reply, "begin_search", "index", 1);
    reply_named_integer(reply, "index", index);
}

/* `limit` is the part of the arguments from there on that are keys: 2 is a half, 0 all. */
static void reply_find_range(struct reply *reply, int last, int step, int limit) {
    begin_step(reply, "find_keys", "range", 3);
    reply_named_integer(reply, "lastkey", last);
    reply_named_integer(reply, "keystep", step);
    reply_named_integer(reply, "limit", limit);
}

static void reply_range(struct reply *reply, uint32_t flags, int first, int last, int step) {
    begin_key_specification(reply, flags, NULL);
    reply_search_index(reply, first);
    reply_find_range(reply, last, step, 0);
}

/* Replies that only the command itself can find its keys. */
static void reply_unknown_keys(struct reply *reply, uint32_t flags, const char *notes) {
    begin_key_specification(reply, flags, notes);
    begin_step(reply, "begin_search", "unknown", 0);
    begin_step(reply, "find_keys", "unknown", 0);
}

/* Replies the keys after a word, which is searched from argument `from` on, or backwards: to the
 * last one (`last` is -1), or one (0). */
static void reply_listed_keys(struct reply *reply, uint32_t flags, const char *keyword, int from,
                              int last, int limit) {
    begin_key_specification(reply, flags, NULL);
    begin_step(reply, "begin_search", "keyword", 2);
    reply_named_text(reply, "keyword", slice_of_cstr(keyword));
    reply_named_integer(reply, "startfrom", from);
    reply_find_range(reply, last, 1, limit);
}

/* SORT and SORT_RO: the first key, the keys that patterns name, the key to store to. */
static void reply_sort_keys(struct reply *reply, const struct key_positions *keys) {
    reply_set(reply, keys->other_use ? 3 : 2);
    reply_range(reply, keys->use, keys->first, 0, 1);
    reply_unknown_keys(reply, keys->use, "Keys that BY and GET make of the elements.");
    if (keys->other_use)
        reply_unknown_keys(reply, keys->other_use, "The key behind STORE, wherever that stands.");
}

/* GEORADIUS and GEORADIUSBYMEMBER: the first key, the key to store to. */
static void reply_places_keys(struct reply *reply, const struct key_positions *keys) {
    reply_set(reply, 3);
    reply_range(reply, keys->use, keys->first, 0, 1);
    reply_listed_keys(reply, keys->other_use, "STORE", keys->numkeys, 0, 0);
    reply_listed_keys(reply, keys->other_use, "STOREDIST", keys->numkeys, 0, 0);
}

/* MIGRATE: the key, or those after KEYS. */
static void reply_migrated_keys(struct reply *reply, const struct key_positions *keys) {
    reply_set(reply, 2);
    reply_range(reply, keys->use, keys->first, 0, 1);
    reply_listed_keys(reply, keys->use | KEY_INCOMPLETE, "KEYS", -2, -1, 0);
}

/* The keys after a count. */
static void reply_counted_keys(struct reply *reply, uint32_t flags,
                               const struct key_positions *keys) {
    begin_key_specification(reply, flags, keys->notes);
    reply_search_index(reply, keys->numkeys);
    begin_step(reply, "find_keys", "keynum", 3);
    reply_named_integer(reply, "keynumidx", 0);
    reply_named_integer(reply, "firstkey", 1);
    reply_named_integer(reply, "keystep", keys->shape == KEYS_COUNTED_PAIRS ? 2 : 1);
}

/* Keys with different uses: one specification each. */
static void reply_two_specifications(struct reply *reply, const struct key_positions *keys) {
    reply_set(reply, 2);
    reply_range(reply, keys->use, keys->first, 0, 1);
    if (keys->shape == KEYS_COUNTED)
        reply_counted_keys(reply, keys->other_use, keys);
    else
        reply_range(reply, keys->other_use, keys->first + keys->step,
                    keys->last < 0 ? keys->last : 0, 1);
}

/* All keys are found and used in the same way. */
static void reply_one_specification(struct reply *reply, const struct key_positions *keys) {
    reply_set(reply, 1);
    if (keys->shape == KEYS_COUNTED || keys->shape == KEYS_COUNTED_PAIRS) {
        reply_counted_keys(reply, keys->use, keys);
    } else if (keys->shape == KEYS_OF_XREAD) {
        reply_listed_keys(reply, keys->use, "STREAMS", keys->numkeys, -1, 2);
    } else {
        begin_key_specification(reply, keys->use, keys->notes);
        reply_search_index(reply, keys->first);
        reply_find_range(reply, keys->last < 0 ? keys->last : keys->last - keys->first, keys->step,
                         0);
    }
}

/* Clients are shown shard channels as if they were keys, and other channels not at all. */
static bool is_shown(const struct key_positions *keys) {
    return keys->use && !(keys->use & KEY_CHANNEL && !(keys->use & KEY_NOT_KEY));
}

static void reply_key_specifications(struct reply *reply, const struct key_positions *keys) {
    if (!is_shown(keys))
        reply_set(reply, 0);
    else if (keys->shape == KEYS_OF_MIGRATE)
        reply_migrated_keys(reply, keys);
    else if (keys->shape == KEYS_OF_SORT)
        reply_sort_keys(reply, keys);
    else if (keys->shape == KEYS_OF_GEORADIUS)
        reply_places_keys(reply, keys);
    else if (keys->other_use)
        reply_two_specifications(reply, keys);
    else
        reply_one_specification(reply, keys);
}

/* --- COMMAND and COMMAND INFO --- */

/* Replies all fields except the subcommands. */
static void reply_fields(struct reply *reply, const struct command *command) {
    bool shows_keys = is_shown(&command->keys);
    reply_array(reply, 10);
    reply_bulk_cstr(reply, command->name);
    reply_integer(reply, command->arity);
    reply_bits(reply, command_flags, command->flags, reply_name);
    reply_integer(reply, shows_keys ? command->keys.first : 0);
    reply_integer(reply, shows_keys ? command->keys.last : 0);
    reply_integer(reply, shows_keys ? command->keys.step : 0);
    reply_bits(reply, command_category_names, command_categories(command), reply_category);
    reply_bits(reply, command_tips, command->tips, reply_bulk_cstr);
    reply_key_specifications(reply, &command->keys);
}

static void reply_command(struct reply *reply, const struct command *command) {
    size_t count = command_subcommand_count(command);
    reply_fields(reply, command);
    if (count > 0)
        reply_array(reply, count);
    else
        reply_set(reply, 0);
    for (size_t i = 1; i <= count; i++) {
        reply_fields(reply, command + i);
        reply_set(reply, 0);
    }
}

static void reply_all_commands(struct reply *reply) {
    size_t total;
    const struct command *all = command_all(&total);
    reply_array(reply, listed_count());
    for (size_t i = 0; i < total; i++)
        if (command_is_listed(&all[i])) reply_command(reply, &all[i]);
}

void command_command(struct call *call) {
    reply_all_commands(call->reply);
}

void command_info_command(struct call *call) {
    if (call->argc == 2) {
        reply_all_commands(call->reply);
        return;
    }
    reply_array(call->reply, call->argc - 2);
    for (size_t i = 2; i < call->argc; i++) {
        const struct command *command = command_find_full(call->argv[i]);
        if (command)
            reply_command(call->reply, command);
        else
            reply_null_array(call->reply);
    }
}

void command_count_command(struct call *call) {
    reply_integer(call->reply, (int64_t)listed_count());
}

/* --- COMMAND LIST --- */

enum filter { FILTER_NONE, FILTER_MODULE, FILTER_CATEGORY, FILTER_PATTERN };

static bool passes(const struct command *command, enum filter filter, struct slice value) {
    switch (filter) {
    case FILTER_NONE: return true;
    case FILTER_MODULE: return false; /* no command comes from a module */
    case FILTER_CATEGORY: return (command_categories(command) & command_category_find(value)) != 0;
    case FILTER_PATTERN: return glob_match(value, slice_of_cstr(command->name), true);
    }
    return false;
}

static bool parse_filter(const struct call *call, enum filter *filter) {
    *filter = FILTER_NONE;
    if (call->argc == 2) return true;
    if (call->argc != 5 || !slice_is(call->argv[2], "filterby")) return false;
    if (slice_is(call->argv[3], "module")) *filter = FILTER_MODULE;
    if (slice_is(call->argv[3], "aclcat")) *filter = FILTER_CATEGORY;
    if (slice_is(call->argv[3], "pattern")) *filter = FILTER_PATTERN;
    return *filter != FILTER_NONE;
}

void command_list_command(struct call *call) {
    enum filter filter;
    if (!parse_filter(call, &filter)) {
        call_syntax_error(call);
        return;
    }
    struct slice value = filter == FILTER_NONE ? SLICE("") : call->argv[4];
    size_t total, count = 0;
    const struct command *all = command_all(&total);
    size_t mark = reply_begin(call->reply);
    for (size_t i = 0; i < total; i++) {
        if (!all[i].called || !passes(&all[i], filter, value)) continue;
        reply_bulk_cstr(call->reply, all[i].name);
        count++;
    }
    reply_array_end(call->reply, mark, count);
}

/* --- COMMAND GETKEYS --- */

/* Returns the command whose call is argv[2] and the arguments after it; NULL when unknown. */
static const struct command *find_inner(const struct call *call) {
    const struct command *command = command_find(call->argv[2]);
    if (!command || !(command->flags & COMMAND_CONTAINER) || call->argc < 4) return command;
    const struct command *sub = command_find_subcommand(command, call->argv[3]);
    return sub || command->run ? sub : NULL;
}

struct key_replies {
    struct call *call;
    bool with_use;
};

static void reply_key(void *arg, size_t index, uint32_t use) {
    const struct key_replies *replies = arg;
    struct call *call = replies->call;
    if (replies->with_use) reply_array(call->reply, 2);
    reply_bulk(call->reply, call->argv[2 + index]);
    if (replies->with_use) reply_bits(call->reply, key_uses, use, reply_name);
}

static void answer_keys(struct call *call, bool with_use) {
    const struct command *command = find_inner(call);
    const struct slice *argv = call->argv + 2;
    size_t argc = call->argc - 2;
    struct key_ranges keys;
    const char *error = NULL;
    if (!command)
        error = "ERR Invalid command specified";
    else if (!command_has_keys(command))
        error = "ERR The command has no key arguments";
    else if (!command_accepts(command, argc))
        error = "ERR Invalid number of arguments specified for command";
    else if (!command_keys(command, argv, argc, &keys))
        error = "ERR Invalid arguments specified for command";
    if (error) {
        reply_error(call->reply, error);
        return;
    }
    struct key_replies replies = {call, with_use};
    reply_array(call->reply, key_ranges_count(&keys));
    key_ranges_each(&keys, reply_key, &replies);
}

COMMAND_FORM(command_getkeys_command, answer_keys, false)
COMMAND_FORM(command_getkeysandflags_command, answer_keys, true)
