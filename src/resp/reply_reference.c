/* References of replies to texts that are not copied. */
#include "base/alloc.h"
#include "ds/shared_text.h"
#include "resp/reply.h"
#include "resp/reply_internal.h"

#include <assert.h>

static void add_reference(struct reply *reply, struct reply_reference reference) {
    MEM_RESERVE(reply->references, reply->reference_capacity, reply->reference_count + 1);
    reply->references[reply->reference_count++] = reference;
    reply->referred += reference.end - reference.start;
}

void reply_bulk_captured(struct reply *reply, struct capture *capture, size_t start, size_t end) {
    assert(reply->may_refer && start < end);
    reply_make_room(reply, REPLY_LINE_MAX);
    char *out = reply->data + reply->len;
    reply->len = (size_t)(reply_write_header(out, '$', end - start) - reply->data);
    add_reference(reply, (struct reply_reference){reply->len, capture, start, end});
    reply_raw(reply, SLICE("\r\n"));
}

void reply_forget_references(struct reply *reply) {
    enum { KEEP_MAX = 64 };
    reply->reference_count = 0;
    reply->referred = 0;
    if (reply->reference_capacity <= KEEP_MAX) return;
    mem_free(reply->references);
    reply->references = NULL;
    reply->reference_capacity = 0;
}

void reply_drop_references(struct reply *reply, size_t from) {
    for (; reply->reference_count > 0; reply->reference_count--) {
        struct reply_reference *last = &reply->references[reply->reference_count - 1];
        if (last->position < from) return;
        reply->referred -= last->end - last->start;
        capture_end(last->capture);
    }
    reply_forget_references(reply);
}

void reply_move_references(struct reply *reply, size_t from, size_t size) {
    for (size_t i = reply->reference_count; i > 0 && reply->references[i - 1].position >= from; i--)
        reply->references[i - 1].position += size;
}
