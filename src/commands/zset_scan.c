/* ZSCAN key cursor [MATCH pattern] [COUNT count] */
#include "commands/commands.h"
#include "commands/scan_common.h"
#include "types/zset.h"

struct zscan {
    struct scan scan; /* first: the steps get a pointer to it */
    const struct entry *entry;
};

static void visit(struct slice member, double score, void *arg) {
    char text[DOUBLE_TEXT_MAX];
    struct scan *scan = arg;
    scan->visited++;
    if (!scan_matches(scan, member)) return;
    scan_reply(scan, member);
    scan_reply(scan, slice_make(text, number_format_double(text, score)));
}

static uint64_t step(struct scan *scan) {
    const struct zscan *zscan = (const struct zscan *)scan;
    return zset_scan(zscan->entry, scan->cursor, visit, scan);
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
