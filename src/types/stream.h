/* stream: what a stream value can do. It has one encoding: the entry points to a streamlog
 * (ds/streamlog.h), even when the stream has no entries.
 *
 * A stream without entries stays: its key is not deleted, because it knows its last id.
 *
 * Functions with a keyref report changes of the length to the keyspace; the entry does not move.
 * Texts that are passed in must not lie in the same stream. Consumer groups and producers are no
 * part of the length: the functions of ds/consumer_groups.h and ds/producers.h change them. */
#ifndef PACKLIST_TYPES_STREAM_H
#define PACKLIST_TYPES_STREAM_H

#include "ds/streamlog.h"
#include "store/keyspace.h"
#include "types/value_limits.h"

/* --- Changing --- */

/* Adds a new stream without entries under `key`, which `ref` looked up and did not find. O(1). */
void stream_create(struct keyref *ref, struct slice key);

/* Appends an entry: see streamlog_append. Amortised O(texts). */
void stream_append(struct keyref *ref, struct stream_id id, const struct slice *texts, size_t pairs,
                   const struct stream_limits *limits);

/* Deletes the entry with this id; false when there is none. O(log n + node). */
bool stream_delete(struct keyref *ref, struct stream_id id);

/* Removes entries from the beginning and returns how many. O(nodes removed + node). Where much was
 * removed, *cut gets an entry under no key, with most of it, which the caller owns; else NULL. */
uint64_t stream_trim(struct keyref *ref, const struct stream_trim *trim, struct entry **cut);

/* Returns how many entries stream_trim would remove: the first ones. */
uint64_t stream_trimmed(const struct entry *entry, const struct stream_trim *trim);

/* Sets the last id, the greatest deleted id and the number of entries ever added. They must not be
 * less than what the entries show. O(1). */
void stream_set_facts(struct keyref *ref, const struct stream_facts *facts);

/* --- Reading --- */

/* O(1). */
uint64_t stream_length(const struct entry *entry);
struct stream_facts stream_facts(const struct entry *entry);

/* The consumer groups, and the pieces of the stream, for ds/consumer_groups.h. O(1). */
struct consumer_groups *stream_groups(const struct entry *entry);
struct pieces *stream_pieces(const struct entry *entry);

/* What it knows of its producers, for ds/producers.h; NULL: nothing. O(1). */
struct producers *stream_producers(const struct entry *entry);

/* The number of nodes that the entries are in. O(1). */
size_t stream_nodes(const struct entry *entry);

/* The id that follows `id` in time `now_ms`: what XADD * gives. False when there is no greater id
 * than `id`. O(1). */
bool stream_next_id(struct stream_id id, int64_t now_ms, struct stream_id *next);

/* The text of an id, "ms-seq", written to `buffer`. O(1). */
enum { STREAM_ID_TEXT_MAX = 2 * INT64_TEXT_MAX + 1 };
struct slice stream_id_text(char buffer[STREAM_ID_TEXT_MAX], struct stream_id id);

/* The greatest id before *id, or the least one after it. False when there is none. O(1). */
bool stream_id_decrement(struct stream_id *id);
bool stream_id_increment(struct stream_id *id);

/* Iterates over the entries with ids from `first` to `last`: see streamlog_iter_start. */
void stream_iter_start(struct stream_iter *iter, const struct entry *entry, struct stream_id first,
                       struct stream_id last, bool reverse);

/* The first or the last entry; false when there is none. O(1). */
bool stream_edge(const struct entry *entry, bool last, struct stream_entry *edge);

/* Finds the entry with this id; false when there is none. O(log n + node). */
bool stream_find(const struct entry *entry, struct stream_id id, struct stream_entry *found);

/* Finds entries of a stream by ids that ascend from call to call, cheaply where they lie close
 * together. On the caller's stack; begins with {.stream = entry}; valid until entries change. */
struct stream_finder {
    const struct entry *stream;
    struct stream_iter iter;
    struct stream_entry last;
    bool has_last;
};
bool stream_finder_next(struct stream_finder *finder, struct stream_id id,
                        struct stream_entry *found);

/* --- For files --- */

/* A new entry with a stream without entries. */
struct entry *stream_load_new(struct slice key);

/* The log, for reading, and for filling a stream that is being loaded. */
struct streamlog *stream_log(const struct entry *entry);

#endif
