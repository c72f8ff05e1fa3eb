/* stream_group_common: consumer groups as arguments, and what changes of them are propagated as. */
#ifndef PACKLIST_COMMANDS_STREAM_GROUP_COMMON_H
#define PACKLIST_COMMANDS_STREAM_GROUP_COMMON_H

#include "commands/stream_common.h"

/* A consumer group that a command works on. */
struct group_ref {
    struct slice key;
    struct entry *entry;          /* the stream; NULL: no such key */
    struct consumer_group *group; /* NULL: no such group */
    struct pieces *pieces;
};

/* Find the group argv[name] of the stream argv[key], to read it or to change it. Return false, with
 * WRONGTYPE replied, if that is no stream. O(log groups). */
bool group_find_read(struct call *call, size_t key, size_t name, struct group_ref *found);
bool group_find_write(struct call *call, size_t key, size_t name, struct group_ref *found);

/* The same; if there is no such key or group, they reply NOGROUP and return false. */
bool group_need_read(struct call *call, size_t key, size_t name, struct group_ref *found);
bool group_need_write(struct call *call, size_t key, size_t name, struct group_ref *found);

/* Replies "NOGROUP No such key … or consumer group …"; `where` follows. Returns false. */
bool group_fail_missing(struct call *call, struct slice key, struct slice name, const char *where);

/* Replies "NOGROUP No such consumer group … for key name …". Returns false. */
bool group_fail_unknown(struct call *call, struct slice key, struct slice name);

/* Returns the consumer, seen now; makes it, with its event, if there is none, and then sets
 * *created. */
struct consumer *group_need_consumer(struct call *call, const struct group_ref *ref,
                                     struct slice name, bool *created);

/* Gives the consumer a pending entry, and propagates that. */
void group_assign(struct call *call, const struct group_ref *ref, const struct consumer *consumer,
                  const struct pending_entry *entry);

/* A pending entry of which the stream has no entry any more: forgets it, and propagates that. */
void group_forget(struct call *call, const struct group_ref *ref,
                  const struct pending_entry *entry);

/* Propagate the last id of the group with the entries read; a consumer that was made. */
void group_propagate_position(struct call *call, const struct group_ref *ref);
void group_propagate_consumer(struct call *call, const struct group_ref *ref,
                              const struct consumer *consumer);

#endif
