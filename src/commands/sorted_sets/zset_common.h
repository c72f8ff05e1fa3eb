/* zset_common: what the commands of sorted sets share: ranges, replies, storing a result. */
#ifndef PACKLIST_COMMANDS_SORTED_SETS_ZSET_COMMON_H
#define PACKLIST_COMMANDS_SORTED_SETS_ZSET_COMMON_H

#include "engine/call.h"
#include "types/zset.h"

/* --- Ranges --- */

enum zset_range_by { ZSET_BY_RANK, ZSET_BY_SCORE, ZSET_BY_MEMBER };

struct zset_bound {
    int64_t rank;        /* by rank: as clients give it, negative ones count from the end */
    double score;        /* by score */
    struct slice member; /* by member, where `unbounded` is 0 */
    int unbounded;       /* by member: -1 before all members, 1 after all members */
    bool inclusive;      /* but by rank */
};

struct zset_range {
    enum zset_range_by by;
    struct zset_bound low;
    struct zset_bound high;
};

/* Parses the lower bound at argv[low] and the upper one at argv[high]. Else replies the error and
 * returns false. The range refers to the arguments. */
bool zset_range_parse(struct call *call, enum zset_range_by by, size_t low, size_t high,
                      struct zset_range *range);

/* `count` members from rank `from` on. */
struct zset_span {
    uint64_t from;
    uint64_t count; /* may be 0 */
};

/* The members in the range. Ranks of a range are counted from the last member when not `forward`.
 * O(log n), O(n) for a listpack. */
struct zset_span zset_range_find(const struct entry *entry, const struct zset_range *range,
                                 bool forward);

/* --- Replies --- */

/* How members are written. */
enum zset_reply_form {
    ZSET_MEMBERS, /* member, member, … */
    ZSET_FLAT,    /* member, score, … */
    ZSET_PAIRS    /* [member, score], … */
};

/* With scores: pairs in RESP3, flat in RESP2. */
enum zset_reply_form zset_reply_form(const struct call *call, bool with_scores);

/* The header of an array of `count` members. */
void zset_reply_header(struct reply *reply, uint64_t count, enum zset_reply_form form);

/* One member, after that header. */
void zset_reply_member(struct reply *reply, const struct zset_member *member,
                       enum zset_reply_form form);

/* Header and members of a span, from the last one on when not `forward`; many members later.
 * O(log n + count), O(log n) for many. */
void zset_reply_span(struct call *call, struct entry *entry, struct zset_span span, bool forward,
                     enum zset_reply_form form);

/* The same for a span that is not empty, if its members are so many that they should be written
 * while the reply is sent. Otherwise returns false, and does nothing (zset_deferred.c).
 * O(log n). */
bool zset_defer_span(struct call *call, struct entry *entry, struct zset_span span, bool forward,
                     enum zset_reply_form form);

/* --- Adding --- */

/* What ZADD is asked to do, or a command like it; then what was done. */
struct zset_addition {
    struct call *call;
    struct keyref ref;
    bool only_new;       /* NX */
    bool only_existing;  /* XX */
    bool only_greater;   /* GT */
    bool only_less;      /* LT */
    bool counts_changes; /* CH */
    bool increments;     /* INCR */
    size_t first;        /* argv index of the first member */
    size_t stride;       /* from there to the next one */
    size_t count;        /* of members, each with a score */
    uint64_t added;
    uint64_t changed; /* members that were there and have another score now */
    bool is_nan;      /* the increment makes no number */
    bool has_score;   /* the last pair was not refused by an option */
    double score;     /* then the member's */
};

/* Reads NX or XX at argv[*index] on, and CH, and where `all`, ZADD's other options; *index gets the
 * index behind them. */
void zset_addition_options(struct zset_addition *addition, bool all, size_t *index);

/* Gives the members under the key argv[1] these scores, replies the result, publishes what has
 * changed. O(log n) a member. */
void zset_add(struct zset_addition *addition, const double *scores);

/* --- Removing --- */

/* Removes the members of a span, which is not empty, and publishes `event`. When these are all, the
 * key goes as by UNLINK, in another thread if it is large: O(1) then. */
void zset_remove_span(struct call *call, struct keyref *ref, struct slice key,
                      struct zset_span span, const char *event);

/* What a command removes. */
struct zset_removal {
    struct zset_span span;
    const char *event;
    bool pops; /* it replies the members, else their number: */
    bool forward;
    enum zset_reply_form form;
    bool with_key;        /* it replies [key, members] */
    struct slice command; /* propagated: this, the key and the number; static; empty: as it came */
};

/* Removes members of the sorted set under `key` in another thread, and replies later. Returns
 * false, and does nothing, if that should be done at once. O(1). */
bool zset_remove_later(struct call *call, const struct entry *entry, struct slice key,
                       const struct zset_removal *removal);

/* --- Results --- */

/* The steps, as work_pays counts them (engine/work.h), that each member of a result takes. */
enum { ZSET_STEPS_TO_STORE = 5 };

/* Members that are collected to be stored or replied. */
struct zset_result {
    struct skiplist *list;
    size_t longest; /* bytes of the longest member */
};

/* Adds a member that was looked up in the list and not found, or that is known not to be there. */
void zset_result_insert(struct zset_result *result, const struct skiplist_place *place,
                        struct slice member, double score);
void zset_result_add(struct zset_result *result, struct slice member, double score);

/* Returns the result as a value of this key; NULL: it has no members. Takes ownership of the list.
 * In any thread. */
struct entry *zset_result_entry(struct zset_result *result, struct slice key,
                                const struct listpack_limits *limits);

/* Puts the value under `key` in place of what stands there, replies its length and publishes
 * `event`. NULL: the key is deleted instead. Takes ownership of the value. */
void zset_result_put(struct call *call, struct slice key, struct entry *entry, const char *event);

/* The same with a result, of whose list it takes ownership. */
void zset_result_store(struct call *call, struct slice key, struct zset_result *result,
                       const char *event);

#endif
