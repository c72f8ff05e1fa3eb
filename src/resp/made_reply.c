#include "resp/made_reply.h"

#include "base/memory/alloc.h"

void made_reply_begin(struct made_reply *made, int protocol) {
    *made = (struct made_reply){.count = 0};
    reply_init(&made->reply, 0);
    made->reply.protocol = protocol;
}

void made_reply_add_piece(struct made_reply *made) {
    made->pieces = mem_realloc(made->pieces, (made->count + 1) * sizeof(*made->pieces));
    made->pieces[made->count++] = sds_new(slice_make(made->reply.data, made->reply.len));
    made->size += made->reply.len;
    reply_truncate(&made->reply, 0);
}

void made_reply_end(struct made_reply *made) {
    made_reply_add_piece(made);
    reply_free(&made->reply);
}

size_t made_reply_size(const struct made_reply *made) {
    size_t size = 0;
    for (size_t i = 0; i < made->count; i++) size += sds_len(made->pieces[i]);
    return size;
}

void made_reply_pass(struct made_reply *made, struct reply *reply) {
    for (size_t i = 0; i < made->count; i++) reply_raw_owned(reply, made->pieces[i]);
    made->count = 0;
}

static void free_pieces(struct made_reply *made) {
    for (size_t i = 0; i < made->count; i++) sds_free(made->pieces[i]);
    made->count = made->size = 0;
}

void made_reply_restart(struct made_reply *made) {
    free_pieces(made);
    reply_truncate(&made->reply, 0);
}

void made_reply_free(struct made_reply *made) {
    free_pieces(made);
    mem_free(made->pieces);
    reply_free(&made->reply);
}
