/* XGROUP */
#include "commands/commands.h"
#include "commands/streams/stream_common.h"

#include <string.h>

/* --- XGROUP CREATE key group id [MKSTREAM] [ENTRIESREAD n], XGROUP SETID key group id
 * [ENTRIESREAD n] --- */

/* XGROUP CREATE key group id MKSTREAM ENTRIESREAD n */
enum { CREATE_ARGC_MAX = 8 };

struct position {
    bool makes_stream;
    int64_t entries_read;
    size_t entries_read_at; /* argv index of that; 0: none */
    struct stream_id id;
};

/* Finds the stream argv[2], and its group argv[3], if there is one; else replies the error. */
static bool find_stream(struct call *call, bool may_be_missing, struct group_ref *ref) {
    if (!group_find(call, 2, 3, true, ref)) return false;
    return ref->entry || may_be_missing ||
           reply_error(
               call->reply,
               "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may "
               "want to use the MKSTREAM option to create an empty stream automatically.");
}

static bool parse_options(struct call *call, bool may_make, struct position *position) {
    position->entries_read = CONSUMER_GROUP_UNKNOWN;
    size_t most = may_make ? CREATE_ARGC_MAX : CREATE_ARGC_MAX - 1;
    if (call->argc > most) return call_bad_subcommand(call);
    for (size_t at = 5; at < call->argc; at++) {
        if (may_make && slice_is(call->argv[at], "mkstream")) {
            position->makes_stream = true;
        } else if (slice_is(call->argv[at], "entriesread") && at + 1 < call->argc) {
            position->entries_read_at = ++at;
            if (!call_integer(call, at, &position->entries_read)) return false;
            if (position->entries_read < CONSUMER_GROUP_UNKNOWN && call_is_repeated(call))
                position->entries_read = INT64_MAX; /* it has overflowed at another server */
            if (position->entries_read < CONSUMER_GROUP_UNKNOWN)
                return reply_error(call->reply, "ERR value for ENTRIESREAD must be positive or -1");
        } else {
            return call_bad_subcommand(call);
        }
    }
    return true;
}

/* The id: $ is the last one of the stream. Only SETID takes the least and the greatest one by name,
 * as in Redis. */
static bool parse_position_id(struct call *call, bool may_name, const struct entry *entry,
                              struct position *position) {
    struct slice id = call->argv[4];
    if (slice_equal(id, SLICE("$")))
        position->id = entry ? stream_facts(entry).last_id : STREAM_ID_MIN;
    else if (may_name && slice_equal(id, SLICE("-")))
        position->id = STREAM_ID_MIN;
    else if (may_name && slice_equal(id, SLICE("+")))
        position->id = STREAM_ID_MAX;
    else
        return stream_parse_id(call, 4, 0, &position->id);
    return true;
}

/* Lowers a client's ENTRIESREAD to the number of entries ever added, and propagates the lower
 * number. In the append-only file and from the primary a larger number is right: reading counts on
 * from what ENTRIESREAD said, as in Redis, and may come beyond the entries added. */
static void lower_entries_read(struct call *call, struct position *position, int64_t added) {
    struct slice argv[CREATE_ARGC_MAX];
    char text[INT64_TEXT_MAX];
    if (call_is_repeated(call) || position->entries_read <= added) return;
    position->entries_read = added;
    memcpy(argv, call->argv, call->argc * sizeof(*argv));
    argv[0] = SLICE("XGROUP");
    argv[position->entries_read_at] = number_text(text, added);
    call_propagate_as(call, argv, call->argc);
}

static void set_position(struct call *call, const struct group_ref *ref,
                         struct position *position) {
    lower_entries_read(call, position, (int64_t)stream_facts(ref->entry).added);
    ref->group->last_id = position->id;
    ref->group->entries_read = position->entries_read;
}

void xgroup_create_command(struct call *call) {
    struct position position = {0};
    struct group_ref ref;
    if (!parse_options(call, true, &position)) return;
    if (!find_stream(call, position.makes_stream, &ref)) return;
    if (!parse_position_id(call, false, ref.entry, &position)) return;
    if (ref.group) {
        reply_error(call->reply, "BUSYGROUP Consumer Group name already exists");
        return;
    }
    struct keyref made = {0};
    if (!ref.entry) {
        call_find_write(call, ref.key, &made);
        stream_create(&made, ref.key);
        ref.entry = made.entry;
        ref.pieces = stream_pieces(ref.entry);
    }
    ref.group = consumer_groups_add(stream_groups(ref.entry), ref.pieces, call->argv[3]);
    set_position(call, &ref, &position);
    reply_ok(call->reply);
    if (made.entry)
        CALL_CHANGED(call, &made, ref.key, EVENT_STREAM, "xgroup-create", 1);
    else
        group_changed(call, &ref, "xgroup-create", 1, CHANGE_UNSEEN);
}

/* The same for the group, which must exist. */
static bool find_group(struct call *call, struct group_ref *ref) {
    return find_stream(call, false, ref) &&
           (ref->group || group_fail_unknown(call, ref->key, call->argv[3]));
}

void xgroup_setid_command(struct call *call) {
    struct position position = {0};
    struct group_ref ref;
    if (!parse_options(call, false, &position) || !find_group(call, &ref) ||
        !parse_position_id(call, true, ref.entry, &position))
        return;
    set_position(call, &ref, &position);
    reply_ok(call->reply);
    group_changed(call, &ref, "xgroup-setid", 1, CHANGE_UNSEEN);
}

/* --- XGROUP DESTROY key group --- */

/* Clients that wait for the group get an error. */
void xgroup_destroy_command(struct call *call) {
    struct group_ref ref;
    if (!find_stream(call, false, &ref)) return;
    reply_integer(call->reply, ref.group != NULL);
    if (!ref.group) return;
    consumer_groups_remove(stream_groups(ref.entry), ref.pieces, ref.group);
    group_changed(call, &ref, "xgroup-destroy", 1, CHANGE_UNWATCHED);
}

/* --- XGROUP CREATECONSUMER key group consumer, XGROUP DELCONSUMER key group consumer --- */

void xgroup_createconsumer_command(struct call *call) {
    struct group_ref ref;
    if (!find_group(call, &ref)) return;
    bool exists = consumer_group_find(ref.group, call->argv[4]) != NULL;
    reply_integer(call->reply, !exists);
    if (exists) return;
    consumer_group_add(ref.group, ref.pieces, call->argv[4], call->now_ms);
    group_changed(call, &ref, "xgroup-createconsumer", 1, CHANGE_UNSEEN);
}

void xgroup_delconsumer_command(struct call *call) {
    struct group_ref ref;
    if (!find_group(call, &ref)) return;
    struct consumer *consumer = consumer_group_find(ref.group, call->argv[4]);
    reply_integer(call->reply, consumer ? (int64_t)consumer->ids.length : 0);
    if (!consumer) return;
    consumer_groups_remove_consumer(stream_groups(ref.entry), ref.pieces, ref.group, consumer);
    group_changed(call, &ref, "xgroup-delconsumer", 1, CHANGE_UNSEEN);
}

COMMAND_FORM(xgroup_help_command, call_help,
             "CREATE <key> <groupname> <id|$> [option]\n"
             "    Create a new consumer group. Options are:\n"
             "    * MKSTREAM\n"
             "      Create the empty stream if it does not exist.\n"
             "    * ENTRIESREAD entries_read\n"
             "      Set the group's entries_read counter (internal use).\n"
             "CREATECONSUMER <key> <groupname> <consumer>\n"
             "    Create a new consumer in the specified group.\n"
             "DELCONSUMER <key> <groupname> <consumer>\n"
             "    Remove the specified consumer.\n"
             "DESTROY <key> <groupname>\n"
             "    Remove the specified group.\n"
             "SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read]\n"
             "    Set the current group ID and entries_read counter.\n")
