/* stream_common: ids as arguments, and entries as replies, for the commands of streams. */
#ifndef PACKLIST_COMMANDS_STREAM_COMMON_H
#define PACKLIST_COMMANDS_STREAM_COMMON_H

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

/* The id's text as a bulk. */
void stream_reply_id(struct reply *reply, struct stream_id id);

/* An entry: its id and its fields and values, as an array or as two members of one. O(entry). */
void stream_reply_members(struct reply *reply, struct stream_entry *entry);
void stream_reply_entry(struct reply *reply, struct stream_entry *entry);

/* An array of up to `count` entries (0: all) with ids from `first` to `last`. O(log n +
 * entries). */
void stream_reply_range(struct reply *reply, const struct entry *entry, struct stream_id first,
                        struct stream_id last, bool reverse, uint64_t count);

/* --- Trimming: MAXLEN | MINID [= | ~] threshold [LIMIT count] [KEEPREF | DELREF | ACKED] --- */

/* What becomes of the references that consumer groups have to an entry that is deleted. */
enum stream_references {
    STREAM_KEEP_REFERENCES,  /* KEEPREF: they stay */
    STREAM_DROP_REFERENCES,  /* DELREF: they go, too */
    STREAM_ONLY_ACKNOWLEDGED /* ACKED: an entry stays that a group has pending or has not read */
};

/* Returns whether the text is one of these words, in any case. */
bool stream_is_references(struct slice text, enum stream_references *references);

enum stream_strategy { STREAM_NO_TRIM, STREAM_MAXLEN, STREAM_MINID };

struct stream_trim_options {
    enum stream_strategy strategy;
    struct stream_trim trim;
    enum stream_references references;
    bool has_references;
    int64_t limit;
    bool has_limit;
};

/* Takes the option at argv[*index] and moves *index past it. Sets *taken to whether there was
 * one. */
bool stream_parse_trim(struct call *call, size_t *index, struct stream_trim_options *options,
                       bool *taken);

/* Checks the options together, once all are taken. A command of the append-only file has no limit,
 * so that it does what it did before. */
bool stream_check_trim(struct call *call, struct stream_trim_options *options);

#endif
