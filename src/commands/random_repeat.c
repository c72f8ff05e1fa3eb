#include "commands/random_repeat.h"

bool random_repeat_begin(struct random_repeat *repeat, struct call *call, uint64_t count) {
    *repeat = (struct random_repeat){
        .call = call, .left = count, .mark = call->reply->len, .size_max = call_string_max(call)};
    if (count <= RANDOM_REPEAT_MAX) return true;
    return reply_error(call->reply, "ERR value is out of range");
}

bool random_repeat_next(struct random_repeat *repeat) {
    struct reply *reply = repeat->call->reply;
    if (repeat->left == 0) return false;
    if (reply->len < repeat->end) return false; /* before_growth has dropped the reply */
    repeat->end = reply->len;
    if (reply->len - repeat->mark > repeat->size_max) {
        reply_truncate(reply, repeat->mark);
        return reply_error(reply, "ERR reply exceeds maximum allowed size (proto-max-bulk-len)");
    }
    repeat->left--;
    return true;
}
