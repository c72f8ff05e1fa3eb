/* key_scan: what SCAN and CLUSTERSCAN share: cursor [MATCH pattern] [COUNT count] [TYPE type]. */
#ifndef PACKLIST_COMMANDS_KEYS_KEY_SCAN_H
#define PACKLIST_COMMANDS_KEYS_KEY_SCAN_H

#include "commands/common.h"

struct key_scan {
    struct scan scan; /* the first member: steps get its address */
    struct slice type;
    bool has_type;
    /* Keys that have expired, which the scan has visited: they are deleted when it is over. */
    const struct entry **expired;
    size_t expired_count;
    size_t expired_capacity;
};

/* Reads the option with its value at argv[index]; else replies the error and returns false. */
bool key_scan_parse_option(struct key_scan *keys, size_t index);

/* To be called by a step for each entry that it visits; `arg` is the struct key_scan. */
void key_scan_visit(struct entry *entry, void *arg);

/* As scan_run. Frees what the scan has noted. */
void key_scan_run(struct key_scan *keys, uint64_t (*step)(struct scan *scan));

#endif
