#include "commands/list_common.h"

void list_reply_elements(struct reply *reply, const struct entry *entry, uint64_t from,
                         uint64_t count, enum list_direction direction) {
    struct list_iter iter;
    struct quicklist_run run;
    list_iter_start(&iter, entry, from, direction);
    while (count && list_iter_run(&iter, &run)) {
        size_t n = run.count < count ? run.count : (size_t)count;
        if (direction == LIST_FORWARD)
            reply_listpack_run(reply, run.first, n, run.end, run.readable_end);
        else
            reply_listpack_run_back(reply, run.end, n, run.first, run.readable_end);
        count -= n;
    }
    list_iter_end(&iter);
}

const char *list_push_event(enum list_end end) {
    return end == LIST_HEAD ? "lpush" : "rpush";
}

const char *list_pop_event(enum list_end end) {
    return end == LIST_HEAD ? "lpop" : "rpop";
}
