/* CLUSTERSCAN cursor [MATCH pattern] [COUNT count] [TYPE type] [SLOT slot] (of Valkey 9.1): walks
 * over the keys of a cluster, slot by slot.
 *
 *      cursor    node-{tag}-place    in the slot of the tag: key_slot.h
 *                0                   before the first slot, and behind the last one
 *
 * The tag brings the request to the node that serves the slot, as it does for keys. Only the node
 * that is named knows the place. Any other one begins the slot anew: of a slot that has moved, keys
 * may be replied twice. A node replies "0-{tag}-0" at the first slot that it does not serve. */
#include "admin/admin_commands.h"
#include "admin/cluster_common.h"
#include "base/text/number.h"
#include "commands/keys/key_scan.h"
#include "resp/reply.h"

#include <inttypes.h>
#include <string.h>

enum { NODE_NAME = 6 }; /* so much of the process's id */

struct cluster_scan {
    struct key_scan keys; /* the first member: steps get its address */
    unsigned slot;
    bool has_slot;   /* no other one, */
    bool names_slot; /* … as SLOT says, or else MATCH */
};

/* --- Cursors --- */

static void answer_cursor_text(struct call *call, const char *node, unsigned slot, uint64_t place) {
    char tag[KEY_SLOT_TAG];
    key_slot_tag(slot, tag);
    sds text = sds_format("%s-{%.*s}-%" PRIu64, node, KEY_SLOT_TAG, tag, place);
    reply_bulk(call->reply, sds_slice(text));
    sds_free(text);
}

static void node_name(const struct engine *engine, char name[NODE_NAME + 1]) {
    memcpy(name, engine->run_id, NODE_NAME);
    name[NODE_NAME] = 0;
}

/* The scan stops in a slot, at the beginning of one of another node, or at the end. */
static void answer_cursor(struct scan *scan) {
    const struct cluster_scan *at = (const struct cluster_scan *)scan;
    const struct cluster *cluster = scan->call->engine->cluster;
    char name[NODE_NAME + 1];
    node_name(scan->call->engine, name);
    if (scan->cursor == 0)
        reply_bulk(scan->call->reply, SLICE("0"));
    else if (cluster_has_slot(cluster, at->slot))
        answer_cursor_text(scan->call, name, at->slot, scan->cursor - 1);
    else
        answer_cursor_text(scan->call, "0", at->slot, 0);
}

/* Returns where the last '-' of the text is; 0: nowhere, or there. */
static size_t last_hyphen(struct slice text) {
    size_t at = text.len;
    while (at > 0 && text.ptr[--at] != '-') {
    }
    return at;
}

/* Reads node-{tag}-place. */
static bool parse_cursor(struct cluster_scan *at, struct slice text) {
    size_t end = last_hyphen(text), begin = last_hyphen(slice_make(text.ptr, end));
    struct slice tag = slice_make(text.ptr + begin + 1, end - begin - 1);
    struct slice digits = slice_make(text.ptr + end + 1, text.len - end - 1);
    uint64_t place;
    if (begin == 0 || tag.len < 3 || tag.ptr[0] != '{' || tag.ptr[tag.len - 1] != '}' ||
        !number_parse_uint64(digits, &place))
        return false;
    char name[NODE_NAME + 1];
    node_name(at->keys.scan.call->engine, name);
    bool is_mine = slice_is(slice_make(text.ptr, begin), name);
    at->slot = key_slot(text);
    at->keys.scan.cursor = is_mine ? place : 0;
    return true;
}

/* --- The scan --- */

/* In `scan->cursor` between steps is the place in the slot, and 1 more: 0 is the end. */
static uint64_t scan_step(struct scan *scan) {
    struct cluster_scan *at = (struct cluster_scan *)scan;
    const struct cluster *cluster = scan->call->engine->cluster;
    uint64_t place =
        keyspace_scan_slot(scan->call->keyspace, at->slot, scan->cursor - 1, key_scan_visit, scan);
    if (place) return place + 1;
    if (at->has_slot) return 0;
    do {
        if (++at->slot == KEY_SLOTS) return 0;
    } while (cluster_has_slot(cluster, at->slot) &&
             keyspace_slot_count(scan->call->keyspace, at->slot) == 0);
    if (!cluster_has_slot(cluster, at->slot)) scan->visited = scan->wanted; /* no more steps */
    return 1;
}

/* Of a pattern that begins with a hash tag: all keys that match are in the slot of that. */
static bool pattern_has_slot(struct slice pattern) {
    struct slice tag = key_slot_part(pattern);
    if (tag.ptr == pattern.ptr) return false;
    for (const char *c = pattern.ptr; c < slice_end(tag); c++)
        if (memchr("*?[\\", *c, 4)) return false;
    return true;
}

static bool parse_slot(struct cluster_scan *at, size_t index, unsigned *slot) {
    if (index == at->keys.scan.call->argc) return call_syntax_error(at->keys.scan.call);
    return cluster_slot_argument(at->keys.scan.call, index, slot);
}

/* Finds in which slot alone the keys can be, if it is one. */
static bool parse_options(struct cluster_scan *at, unsigned *only) {
    struct call *call = at->keys.scan.call;
    const struct scan *scan = &at->keys.scan;
    for (size_t i = 2; i < call->argc; i += 2) {
        bool is_slot = slice_is(call->argv[i], "slot");
        if (is_slot ? !parse_slot(at, i + 1, only) : !key_scan_parse_option(&at->keys, i))
            return false;
        at->has_slot = at->names_slot |= is_slot;
    }
    if (at->has_slot || !scan->has_pattern || !pattern_has_slot(scan->pattern)) return true;
    *only = key_slot(scan->pattern);
    return at->has_slot = true;
}

static void begin_in(struct call *call, unsigned slot) {
    reply_array(call->reply, 2);
    answer_cursor_text(call, "0", slot, 0);
    reply_array(call->reply, 0);
}

void clusterscan_command(struct call *call) {
    struct cluster_scan at = {.keys.scan = {.call = call, .wanted = 10}};
    unsigned only = 0;
    if (!cluster_of(call)) return;
    at.keys.scan.answer_cursor = answer_cursor;
    bool begins = slice_equal(call->argv[1], SLICE("0"));
    if (!begins && !parse_cursor(&at, call->argv[1])) {
        reply_error(call->reply, "ERR Invalid cursor");
        return;
    }
    if (!parse_options(&at, &only)) return;
    bool is_elsewhere = !begins && at.has_slot && at.slot != only;
    if (is_elsewhere && at.names_slot) {
        reply_error(call->reply, "ERR Cursor slot mismatch with SLOT argument");
    } else if (begins || is_elsewhere) {
        begin_in(call, only);
    } else {
        at.keys.scan.cursor++;
        key_scan_run(&at.keys, scan_step);
    }
}
