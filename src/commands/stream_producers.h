/* stream_producers: entries that producers add with ids of their own (iids), so that none is added
 * twice: XADD with IDMP or IDMPAUTO. See ds/producers.h. */
#ifndef PACKLIST_COMMANDS_STREAM_PRODUCERS_H
#define PACKLIST_COMMANDS_STREAM_PRODUCERS_H

#include "commands/stream_common.h"

enum { STREAM_IID_SIZE = 16 };

/* What IDMP or IDMPAUTO say. */
struct stream_producer {
    struct slice name; /* of the producer; without bytes: neither was given */
    struct slice iid;
    bool is_auto;
    char bytes[STREAM_IID_SIZE]; /* of the iid that IDMPAUTO computes */
};

static inline bool stream_has_producer(const struct stream_producer *producer) {
    return producer->name.len > 0;
}

/* Takes IDMP producer iid, or IDMPAUTO producer, at argv[*index] and moves *index past it. Sets
 * *taken to whether it was there. Replies the error and returns false when it is wrong. */
bool stream_parse_producer(struct call *call, size_t *index, struct stream_producer *producer,
                           bool *taken);

/* IDMPAUTO: computes the iid from the fields and values, whatever their order, which may be given
 * only once. O(texts). */
void stream_set_iid(struct stream_producer *producer, const struct slice *texts, size_t pairs);

/* Returns whether the entry was added before, and replies its id. It counts the duplicate. A
 * command that is repeated (call_is_repeated) and says only that it was a duplicate is one in any
 * case: without the entry it replies null. O(log producers + iids of the producer). */
bool stream_reply_duplicate(struct call *call, const struct entry *entry,
                            const struct stream_producer *producer);

/* Remembers the entry that was added, and propagates that. O(log producers + iids). */
void stream_note_producer(struct call *call, const struct entry *entry,
                          const struct stream_producer *producer, struct stream_id id);

#endif
