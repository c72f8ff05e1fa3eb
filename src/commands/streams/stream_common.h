/* stream_common: what the commands of streams share: ids and consumer groups as arguments, entries
 * as replies, and what changes of groups are propagated as. */
#ifndef PACKLIST_COMMANDS_STREAMS_STREAM_COMMON_H
#define PACKLIST_COMMANDS_STREAMS_STREAM_COMMON_H

#include "engine/call.h"
#include "types/stream.h"

/* An id of XADD: ms-seq, ms-* or *. */
struct stream_new_id {
    struct stream_id id;
    bool has_ms;
    bool has_seq;
};

/* Each of these parses argv[index]. When that is not a valid id, they reply the error and return
 * false. */

/* ms-seq or ms, where seq is then `missing_seq`. */
bool stream_parse_id(struct call *call, size_t index, uint64_t missing_seq, struct stream_id *id);

/* Without a reply. */
bool stream_is_id(struct slice text, uint64_t missing_seq, struct stream_id *id);

/* The same, for XADD. */
bool stream_parse_new_id(struct call *call, size_t index, struct stream_new_id *id);

/* A bound of a range: also - and +, and, after a bracket, the next id within the range. */
bool stream_parse_bound(struct call *call, size_t index, bool is_end, struct stream_id *id);

/* argv[from] to argv[end - 1] are ids: replies the error of the first one that is not, and returns
 * false. */
struct id_range {
    size_t from;
    size_t end;
};
bool stream_check_ids(struct call *call, struct id_range ids);

/* IDS count id …, at argv[*at], which is "ids" and not the last argument; moves *at behind the last
 * id. The ids are not checked. The errors are for a count that is not 1 to `max`, and for one that
 * is not that of the ids. */
bool stream_parse_id_list(struct call *call, size_t *at, struct id_range *ids, int64_t max,
                          const char *not_positive, const char *no_match);

/* An id that was checked. */
struct stream_id stream_id_at(const struct call *call, size_t index);

/* The id's text as a bulk. */
void stream_reply_id(struct reply *reply, struct stream_id id);

/* An entry: its id and its fields and values, as an array or as two members of one. O(entry). */
void stream_reply_members(struct reply *reply, struct stream_entry *entry);
void stream_reply_entry(struct reply *reply, struct stream_entry *entry);

/* --- Consumer groups --- */

/* A consumer group that a command works on. */
struct group_ref {
    struct slice key;
    struct entry *entry;          /* the stream; NULL: no such key */
    struct consumer_group *group; /* NULL: no such group */
    struct pieces *pieces;
    struct consumer *consumer; /* once group_need_consumer has found it */
    bool owes_consumer;        /* it was made, and that is not propagated yet */
};

/* Finds the group argv[name] of the stream argv[key], to change it or to read it. Returns false,
 * with WRONGTYPE replied, if that is no stream. O(log groups). */
bool group_find(struct call *call, size_t key, size_t name, bool to_change,
                struct group_ref *found);

/* The same; if there is no such key or group, it replies NOGROUP and returns false. */
bool group_need(struct call *call, size_t key, size_t name, bool to_change,
                struct group_ref *found);

/* Replies "NOGROUP No such key … or consumer group …"; `where` follows. Returns false. */
bool group_fail_missing(struct call *call, struct slice key, struct slice name, const char *where);

/* Replies "NOGROUP No such consumer group … for key name …". Returns false. */
bool group_fail_unknown(struct call *call, struct slice key, struct slice name);

/* The groups of the stream were changed, which clients that read it do not see: as call_changed
 * with `flags`. `event` may be NULL. */
void group_changed(struct call *call, const struct group_ref *ref, const char *event,
                   uint64_t count, unsigned flags);

/* Finds the consumer, or makes it and publishes the event of that. Notes that it is seen now. */
void group_need_consumer(struct call *call, struct group_ref *ref, struct slice name);

/* As consumer_groups_acknowledge. */
bool group_acknowledge(const struct group_ref *ref, struct stream_id id, bool stays);

/* Gives the consumer, which is active now, a pending entry; propagates that, which makes the
 * consumer at replicas, too. */
void group_assign(struct call *call, struct group_ref *ref, struct pending_entry entry);

/* Ends that an entry is pending which the stream has lost, and propagates that. */
void group_forget(struct call *call, const struct group_ref *ref,
                  const struct pending_entry *entry);

/* Propagate the last id of the group with the entries read; the consumer, if that is owed. */
void group_propagate_position(struct call *call, const struct group_ref *ref);
void group_propagate_consumer(struct call *call, struct group_ref *ref);

#endif
