/* stream_trim: trimming streams: XTRIM, and for XADD, which trims, too. */
#ifndef PACKLIST_COMMANDS_STREAMS_STREAM_TRIM_H
#define PACKLIST_COMMANDS_STREAMS_STREAM_TRIM_H

#include "commands/streams/stream_references.h"

enum stream_strategy { STREAM_NO_TRIM, STREAM_MAXLEN, STREAM_MINID };

/* MAXLEN | MINID [= | ~] threshold [LIMIT count] [KEEPREF | DELREF | ACKED] */
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

/* Returns whether trimming removes the first entries only, so that the caller propagates it: as
 * trimming to the length that is left. O(1). */
bool stream_trims_to_length(const struct entry *entry, const struct stream_trim_options *options);

/* Trims as the options say, which were checked, and returns how many entries are gone. Propagates
 * what the caller does not: the deletion of entries that are not the first ones, and what becomes
 * of references. Publishes nothing. */
uint64_t stream_trim_referenced(struct call *call, struct keyref *ref, struct slice key,
                                const struct stream_trim_options *options);

#endif
