/* scan_common: what SCAN, SSCAN, HSCAN and ZSCAN share: cursor [MATCH pattern] [COUNT count], the
 * loop over steps, and the reply. */
#ifndef PACKLIST_COMMANDS_SCAN_COMMON_H
#define PACKLIST_COMMANDS_SCAN_COMMON_H

#include "engine/call.h"

struct scan {
    struct call *call;
    uint64_t cursor;
    struct slice pattern; /* MATCH */
    bool has_pattern;
    uint64_t wanted;    /* COUNT */
    uint64_t visited;   /* items looked at, returned or not */
    uint64_t replied;   /* bulks in `items` */
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
 * the next cursor, until COUNT items were visited, all were, or the structure turns out to be
 * sparse. Then replies the cursor and the items. */
void scan_run(struct scan *scan, uint64_t (*step)(struct scan *scan));

/* Replies what a scan of a key that does not exist finds. */
void scan_reply_empty(struct call *call);

#endif
