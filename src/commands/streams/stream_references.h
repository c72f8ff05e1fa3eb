/* stream_references: what the commands that delete entries do with the references that consumer
 * groups have to these: their pending entries. */
#ifndef PACKLIST_COMMANDS_STREAMS_STREAM_REFERENCES_H
#define PACKLIST_COMMANDS_STREAMS_STREAM_REFERENCES_H

#include "commands/streams/stream_common.h"
#include "resp/made_commands.h"

enum stream_references {
    STREAM_KEEP_REFERENCES,  /* KEEPREF: they stay */
    STREAM_DROP_REFERENCES,  /* DELREF: they go, too */
    STREAM_ONLY_ACKNOWLEDGED /* ACKED: an entry stays that a group has pending or has not read */
};

/* Returns whether the text is one of these words, in any case. */
bool stream_is_references(struct slice text, enum stream_references *references);

/* Ids that are looked at together. */
enum { STREAM_BATCH = 512 };

struct id_batch {
    struct stream_id ids[STREAM_BATCH];
    size_t count;
};

/* Where commands go that say what was done. */
struct propagation {
    struct call *call;          /* to the command log; NULL: in another thread, which */
    struct made_commands *made; /* keeps them here; NULL: nothing is propagated */
};

/* Propagates NAME key [group] id …, unless there are no ids; `group` may be NULL. */
void stream_propagate_ids(const struct propagation *to, struct slice name, struct slice key,
                          const struct consumer_group *group, const struct id_batch *batch);

/* Ends that the entries with these ids, in ascending order, are pending, in all groups, and
 * propagates that. O(groups * log n + what was pending), where the ids are close together. */
void stream_drop_references(const struct propagation *to, const struct entry *entry,
                            struct slice key, const struct id_batch *batch);

#endif
