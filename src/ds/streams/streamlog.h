/* streamlog: the entries of a stream in the order of their ids, its consumer groups, and what it
 * knows of its producers: what a stream value is stored in.
 *
 * An entry has an id of two numbers and one or more pairs of a field and a value. Entries are
 * appended with growing ids, removed from the beginning (trimming) or one by one, and never
 * changed. They lie in nodes of many entries each. The nodes are found by binary search. So
 * appending is O(1), finding an id O(log n + node), and trimming frees whole nodes.
 *
 * Pointers and iterators are valid until the log changes. */
#ifndef PACKLIST_DS_STREAMS_STREAMLOG_H
#define PACKLIST_DS_STREAMS_STREAMLOG_H

#include "base/slice.h"
#include "base/text/number.h"
#include "ds/streams/consumer_groups.h"
#include "ds/streams/idindex.h"
#include "ds/streams/producers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relocator; /* base/memory/relocate.h */
struct relocate_cursor;

/* When a new node begins. Bytes are counted as in the listpacks of RDB files. */
struct stream_limits {
    size_t node_bytes;   /* stream-node-max-bytes; 0: STREAM_NODE_MAX */
    size_t node_entries; /* stream-node-max-entries, deleted ones included; 0: no limit */
};

/* No node that has more than one entry is larger, whatever the limits: work on a node is
 * bounded. */
#ifdef TINY_LIMITS
enum { STREAM_NODE_MAX = 256 };
#else
enum { STREAM_NODE_MAX = 1024 * 1024 };
#endif

/* The largest sum of the lengths of an entry's texts. */
enum { STREAM_ENTRY_MAX = 1024 * 1024 * 1024 };

/* What a stream knows besides its entries. */
struct stream_facts {
    struct stream_id last_id;        /* the greatest id that it ever had or was set to */
    struct stream_id max_deleted_id; /* the greatest id that was deleted one by one */
    uint64_t added;                  /* entries that were ever appended; at most INT64_MAX */
};

/* A counter of a stream as other servers have written it: they count on beyond INT64_MAX, here
 * counters stop there. */
static inline uint64_t stream_counter(uint64_t written) {
    return written > INT64_MAX ? INT64_MAX : written;
}

/* The fields may be read; the facts also be set. Consumer groups and producers are changed by the
 * functions of their headers, which get the pieces. While pieces_are_captured(&pieces) the log is
 * captured. */
struct streamlog {
    struct idindex index;
    struct pieces pieces; /* all memory but this struct */
    uint64_t length;
    struct stream_facts facts;
    size_t nodes;
    struct consumer_groups groups;
    struct producers *producers; /* NULL: none was ever used */
};

/* Bytes of all memory, as allocated. O(1). */
static inline size_t streamlog_allocated(const struct streamlog *log) {
    return mem_good_size(sizeof(*log)) + log->pieces.bytes;
}

/* --- Life --- */

/* A new log without entries; the caller owns it. */
struct streamlog *streamlog_new(void);

/* Frees the log; a captured one lives on until its captures are freed. O(nodes). */
void streamlog_free(struct streamlog *log);

/* A copy with memory of its own, node by node. `log` may be a captured one: then in any thread.
 * O(bytes). */
struct streamlog *streamlog_copy(const struct streamlog *log);

/* --- Changing --- */

/* Appends an entry with `pairs` (> 0) fields and values: texts[0] is a field, texts[1] its value,
 * and so on, at most STREAM_ENTRY_MAX bytes altogether. The id must be greater than the last one,
 * and becomes the last one. The texts must not lie in the log. Amortised O(texts). */
void streamlog_append(struct streamlog *log, struct stream_id id, const struct slice *texts,
                      size_t pairs, const struct stream_limits *limits);

/* Removes the entry with this id and notes it in max_deleted_id. Returns false if the log has no
 * such entry. O(log n + node). */
bool streamlog_delete(struct streamlog *log, struct stream_id id);

/* Which entries are trimmed. */
struct stream_trim {
    bool by_id;       /* those before min_id; otherwise all but the last max_length */
    bool whole_nodes; /* only whole nodes: fewer entries may be removed */
    uint64_t max_length;
    struct stream_id min_id;
    uint64_t limit; /* removes at most so many entries; 0: no limit */
};

/* Returns how many entries streamlog_trim would remove. O(nodes / 512 + 512 + node). */
uint64_t streamlog_trimmed(const struct streamlog *log, const struct stream_trim *trim);

/* Removes entries from the beginning and returns how many. Where much was removed, *cut gets a log
 * with most of it, which the caller owns, and may free in any thread; else NULL.
 * O(nodes / 512 + 512 + node), for 10 million entries some 30 us; O(nodes removed) while it is
 * captured. */
uint64_t streamlog_trim(struct streamlog *log, const struct stream_trim *trim,
                        struct streamlog **cut);

/* The producers; makes them, with these limits, if there are none. O(1). */
struct producers *streamlog_need_producers(struct streamlog *log, struct producers_limits limits);

/* Drops the producers, if there are any. O(producers). */
void streamlog_drop_producers(struct streamlog *log);

/* --- Reading --- */

/* One entry, as a view. */
struct stream_entry {
    struct stream_id id;
    uint64_t pairs;        /* fields that streamlog_next_pair still has to read */
    const uint8_t *fields; /* the next field; NULL: it stands before the value */
    const uint8_t *at;     /* the next value, or its field */
};

/* A field and its value: views of the log, or of the digits of integers, which are stored as
 * such. */
struct stream_pair {
    struct slice field;
    struct slice value;
    char field_digits[INT64_TEXT_MAX];
    char value_digits[INT64_TEXT_MAX];
};

/* Reads the next pair of an entry; false after the last one. O(1). */
bool streamlog_next_pair(struct stream_entry *entry, struct stream_pair *pair);

/* All entries with ids from `first` to `last`, the last ones first if `reverse`. Lives on the
 * caller's stack; needs no end. The fields are private. */
struct stream_iter {
    const struct idindex *index;
    struct idindex_position position;
    const struct streamlog_node *node; /* NULL: at the end */
    const uint8_t *at;
    struct stream_id first;
    struct stream_id last;
    bool reverse;
};

/* O(log n). */
void streamlog_iter_start(struct stream_iter *iter, const struct streamlog *log,
                          struct stream_id first, struct stream_id last, bool reverse);

/* Amortised O(entry); the first call O(node). */
bool streamlog_iter_next(struct stream_iter *iter, struct stream_entry *entry);

/* Bytes of the node that the last entry lies in, and of the entries that it has, about. O(1). */
struct stream_node_size {
    size_t bytes;
    uint64_t entries;
};
struct stream_node_size streamlog_iter_node(const struct stream_iter *iter);

/* How many entries have ids from `first` to `last`. O(nodes / 512 + 512 + node): for 10 million
 * entries about 10 us. */
uint64_t streamlog_count(const struct streamlog *log, struct stream_id first,
                         struct stream_id last);

/* The nodes one after another, for files. */
struct stream_node_iter {
    const struct streamlog *log;
    struct idindex_position position;
};

struct stream_node_view {
    struct stream_id base;      /* not greater than the first id */
    uint64_t count;             /* entries */
    struct stream_entry master; /* the fields that most entries have; its values are not texts */
    const struct streamlog_node *node;
    const uint8_t *at;
};

/* The next node; begins with {.log = log}. False after the last one. O(1). */
bool streamlog_next_node(struct stream_node_iter *iter, struct stream_node_view *view);

/* Finds the node that may hold the entry with this id: how many entries it has, and the id of its
 * last one. False when all begin with greater ids. O(log n). */
bool streamlog_node_at(const struct streamlog *log, struct stream_id id, uint64_t *count,
                       struct stream_id *last);

/* The next entry of the node. `entry->fields` is not NULL if it has the fields of the master. */
bool streamlog_node_next(struct stream_node_view *view, struct stream_entry *entry);

/* Reads the next field of the master, in view->master; false after the last one. */
bool streamlog_next_field(struct stream_entry *master, struct stream_pair *pair);

/* --- Captures: the log as it is at one moment, read while the log changes (ds/capture.h). They
 * share nodes; the log copies a node before it changes it. --- */

/* Captures the log. NULL: no other capture can begin before all have ended (pieces_are_used_up).
 * O(nodes / 512), and as consumer_groups_image and producers_image. */
struct capture *streamlog_capture_begin(struct streamlog *log, size_t *left);

/* What was captured, to be read and copied in any thread until the release. Its pieces count
 * nothing. */
const struct streamlog *streamlog_captured(const struct capture *capture);

/* Moves memory of the log, its producers and its groups to better places (base/memory/relocate.h),
 * from *cursor on, until the step is due; sets *cursor. Returns where the log is now. It must not
 * be captured. At least one node is visited. Besides, O(groups) at most. */
struct streamlog *streamlog_relocate(struct streamlog *log, struct relocator *relocator,
                                     struct relocate_cursor *cursor);

/* Checks the invariant. O(bytes). */
bool streamlog_check(const struct streamlog *log);

#endif
