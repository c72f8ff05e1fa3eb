/* ZSCAN key cursor [MATCH pattern] [COUNT count] */
#include "commands/commands.h"
#include "commands/scan_common.h"
#include "types/zset.h"

#include <stdio.h>

struct zscan {
    struct scan scan; /* first: the steps get a pointer to it */
    const struct entry *entry;
};

/* Scores are written as Redis does here: in a listpack as they are stored, else with 17 digits. */
static void visit(struct slice member, double score, void *arg) {
    char text[DOUBLE_TEXT_MAX];
    struct zscan *zscan = arg;
    struct scan *scan = &zscan->scan;
    scan->visited++;
    if (!scan_matches(scan, member)) return;
    int len = zset_skiplist(zscan->entry) ? snprintf(text, sizeof(text), "%.17g", score)
                                          : (int)number_format_double(text, score);
    scan_reply(scan, member);
    scan_reply(scan, slice_make(text, (size_t)len));
}

static uint64_t step(struct scan *scan) {
    struct zscan *zscan = (struct zscan *)scan;
    return zset_scan(zscan->entry, scan->cursor, visit, zscan);
}

void zscan_command(struct call *call) {
    struct zscan zscan;
    struct keyref ref;
    if (!scan_begin(&zscan.scan, call, 2)) return;
    if (!call_find_typed_read(call, call->argv[1], VALUE_ZSET, &ref)) return;
    if (ref.entry == NULL) {
        scan_reply_empty(call);
        return;
    }
    for (size_t i = 3; i < call->argc; i += 2)
        if (!scan_parse_option(&zscan.scan, i)) return;
    zscan.entry = ref.entry;
    scan_run(&zscan.scan, step);
}
