/* common: what commands of several types share: lengths, positions, values that are named more than
 * once, pops of one end, expiries, scans. */
#ifndef PACKLIST_COMMANDS_COMMON_H
#define PACKLIST_COMMANDS_COMMON_H

#include "engine/call.h"
#include "resp/reply_source.h"

#include <stdint.h>

/* Captures a value of which about `expected` bytes are going to be replied, if they should be
 * written while the reply is sent (reply_defer). NULL: they should be written at once. */
struct capture *capture_to_defer(const struct call *call, struct entry *entry, size_t expected);

/* LLEN, SCARD, ZCARD and the like: replies the length of the value of that type under argv[1]. */
static inline __attribute__((always_inline)) void
reply_length(struct call *call, enum value_type type, uint64_t (*length)(const struct entry *)) {
    struct keyref ref;
    if (!call_find_typed_read(call, call->argv[1], type, &ref)) return;
    reply_integer(call->reply, ref.entry ? (int64_t)length(ref.entry) : 0);
}

/* --- Positions as clients give them: negative ones count from the end --- */

/* A range with both ends included → the items [*from, *from + *count) that it covers, of `length`;
 * the count may be 0. */
void range_clamp(int64_t start, int64_t stop, uint64_t length, uint64_t *from, uint64_t *count);

/* --- Values that a command names more than once --- */

enum { FIRSTS_FEW = 8 };

/* Which of a command's values are the same. */
struct firsts {
    size_t *at; /* at[i]: the lowest index that has the value at i */
    size_t few[FIRSTS_FEW];
};

/* Compares `count` values, which are the same if their pointers are. `values` is where the first of
 * these pointers is; the next one is `stride` bytes from there. The caller calls firsts_end().
 * Allocates nothing for up to FIRSTS_FEW values. O(count · log count). */
void firsts_find(struct firsts *firsts, const void *values, size_t stride, size_t count);

void firsts_end(struct firsts *firsts);

/* Leaves out of an array those elements, of `size` bytes each, whose value has stood in it before:
 * the pointer at that `offset` of the element. *of_first gets whether one had the first one's.
 * Returns how many remain, in their order. O(count · log count). */
size_t repeats_drop(void *values, size_t size, size_t offset, size_t count, bool *of_first);

/* --- Pops of lists, sets and sorted sets --- */

/* Parses the count of a pop, 0 or more, which may stand at argv[2] as the last argument; without it
 * *count stays as it is. Otherwise replies the error and returns false. */
bool pop_count_parse(struct call *call, int64_t *count);

/* What a type whose values have two ends brings to the commands that pop from several keys: LMPOP
 * and ZMPOP; BLPOP, BLMPOP, BZPOPMIN, BZMPOP and the like, which reply at once if they can,
 * otherwise wait. What was checked when such a command came is not checked again when a key becomes
 * ready. */
struct pop_type {
    enum value_type type;
    const char *ends[2];      /* the words for the first and the last end */
    struct slice commands[2]; /* that pop from these */

    /* Replies the key and what it removes from that end of its value `ref`. */
    void (*pop_one)(struct call *call, struct keyref *ref, struct slice key, bool from_last);

    /* Replies an array of up to `count` (> 0) members from that end, and removes them. Returns
     * their number. */
    uint64_t (*pop_many)(struct call *call, struct keyref *ref, struct slice key, bool from_last,
                         uint64_t count);

    /* NULL, or: pops so many that a work does it (engine/work.h), which replies [key, members] and
     * propagates what it has popped. Returns false, and does nothing, if they are too few. O(1). */
    bool (*pop_later)(struct call *call, const struct entry *entry, struct slice key,
                      bool from_last, uint64_t count);
};

/* numkeys key … end [COUNT count]: replies [key, [members]] from the first key that exists, or a
 * null array. O(keys + members). */
void pop_from_any(struct call *call, const struct pop_type *type);

/* Finds the value of a key that became ready. Returns false when it is gone or of another type; the
 * client then goes on waiting. O(1). */
bool block_find_ready(struct call *call, struct slice key, enum value_type type,
                      struct keyref *ref);

/* key … timeout: pops from the first key that exists, or waits. O(keys). */
void block_pop(struct call *call, const struct pop_type *type, bool from_last);

/* timeout numkeys key … end [COUNT count]: as pop_from_any, or waits. O(keys + members). */
void block_mpop(struct call *call, const struct pop_type *type);

/* --- Expiries as options --- */

/* The expiry that an option sets: of SET, GETEX and the like for keys, or of HGETEX and HSETEX for
 * fields. */
enum expiry_option {
    EXPIRY_NONE,
    EXPIRY_KEEP,    /* KEEPTTL */
    EXPIRY_PERSIST, /* PERSIST */
    EXPIRY_EX,
    EXPIRY_PX,
    EXPIRY_EXAT,
    EXPIRY_PXAT
};

/* Returns which of EX, PX, EXAT and PXAT `option` is; EXPIRY_NONE if none. */
enum expiry_option expiry_option_of(struct slice option);

/* The unit of such an option's time, and when that begins. */
static inline int64_t expiry_unit_ms(enum expiry_option option) {
    return option == EXPIRY_EX || option == EXPIRY_EXAT ? 1000 : 1;
}

static inline int64_t expiry_base_ms(const struct call *call, enum expiry_option option) {
    return option == EXPIRY_EX || option == EXPIRY_PX ? call->now_ms : 0;
}

/* --- SCAN, SSCAN, HSCAN, ZSCAN: cursor [MATCH pattern] [COUNT count] --- */

struct scan {
    struct call *call;
    const struct entry *entry; /* the value that is scanned; not of SCAN */
    bool only_names;           /* NOVALUES, NOSCORES */
    uint64_t cursor;
    struct slice pattern; /* MATCH */
    bool has_pattern;
    uint64_t wanted;    /* COUNT */
    uint64_t visited;   /* items looked at, returned or not */
    uint64_t more_work; /* as much as visiting so many more, but not for COUNT */
    uint64_t replied;   /* bulks in `items` */
    /* Replies the cursor in place of its number; NULL: not. */
    void (*answer_cursor)(struct scan *scan);
    struct reply items; /* they stand after the cursor, which is known only after visiting them */
};

/* Starts a scan with the cursor at argv[index]; else replies the error and returns false. Nothing
 * must be freed until scan_run(). */
bool scan_begin(struct scan *scan, struct call *call, size_t index);

/* Reads MATCH or COUNT with its value at argv[index]; else replies the error and returns false. */
bool scan_parse_option(struct scan *scan, size_t index);

/* Returns whether the text matches MATCH's pattern. */
bool scan_matches(const struct scan *scan, struct slice text);

/* Adds a bulk to the reply. */
void scan_reply(struct scan *scan, struct slice text);

/* Repeats step(), which visits the items at scan->cursor, counts them in scan->visited and returns
 * the next cursor, until COUNT items were visited, all were, the structure turns out to be sparse,
 * or it was as much as others should wait for. Then replies the cursor and the items. */
void scan_run(struct scan *scan, uint64_t (*step)(struct scan *scan));

/* key cursor …: the whole command, for the value of that type under argv[1]. `only_names` is the
 * option of that name, or NULL. */
void scan_value(struct call *call, enum value_type type, const char *only_names,
                uint64_t (*step)(struct scan *scan));

#endif
