/* SCAN: walks over all keys in small steps. */
#include "commands/keys/key_scan.h"

#include "base/memory/alloc.h"
#include "commands/commands.h"
#include "types/value.h"

bool key_scan_parse_option(struct key_scan *keys, size_t index) {
    struct call *call = keys->scan.call;
    if (index + 1 == call->argc || !slice_is(call->argv[index], "type"))
        return scan_parse_option(&keys->scan, index);
    keys->type = call->argv[index + 1];
    return keys->has_type = true;
}

static void note_expired(struct key_scan *keys, const struct entry *entry) {
    enum { MORE_WORK = 8 };
    keys->scan.more_work += MORE_WORK;
    MEM_RESERVE(keys->expired, keys->expired_capacity, keys->expired_count + 1);
    keys->expired[keys->expired_count++] = entry;
}

/* Looking for such a key deletes it. */
static void delete_expired(struct key_scan *keys) {
    for (size_t i = 0; i < keys->expired_count; i++)
        call_find(keys->scan.call, entry_key(keys->expired[i]), 0, NULL);
    mem_free(keys->expired);
}

void key_scan_visit(struct entry *entry, void *arg) {
    struct key_scan *keys = arg;
    struct scan *scan = &keys->scan;
    struct slice key = entry_key(entry);
    scan->visited++;
    if (call_is_expired(scan->call, entry))
        note_expired(keys, entry);
    else if (keys->has_type && !slice_is(keys->type, value_type_name(entry_type(entry))))
        return;
    else if (scan_matches(scan, key) && !call_hides_key(scan->call, key))
        scan_reply(scan, key);
}

void key_scan_run(struct key_scan *keys, uint64_t (*step)(struct scan *scan)) {
    scan_run(&keys->scan, step);
    delete_expired(keys);
}

/* --- SCAN cursor [MATCH pattern] [COUNT count] [TYPE type] --- */

static uint64_t scan_step(struct scan *scan) {
    return keyspace_scan(scan->call->keyspace, ALL_KEYS, scan->cursor, key_scan_visit, scan);
}

void scan_command(struct call *call) {
    struct key_scan keys = {0};
    if (!scan_begin(&keys.scan, call, 1)) return;
    for (size_t i = 2; i < call->argc; i += 2)
        if (!key_scan_parse_option(&keys, i)) return;
    key_scan_run(&keys, scan_step);
}
