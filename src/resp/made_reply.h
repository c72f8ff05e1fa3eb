/* made_reply: a reply that another thread makes, in pieces: the loop passes them on without copying
 * them, and each is freed when it was sent. */
#ifndef PACKLIST_RESP_MADE_REPLY_H
#define PACKLIST_RESP_MADE_REPLY_H

#include "base/text/sds.h"
#include "resp/reply.h"

#include <stddef.h>

/* Zeroed, it is empty and may be freed. */
struct made_reply {
    struct reply reply; /* what is written goes here */
    sds *pieces;
    size_t count;
    size_t size; /* of the pieces, in bytes */
};

/* Begins a reply in this version of the protocol. In any thread, as the next three. */
void made_reply_begin(struct made_reply *made, int protocol);

/* Drops what was written: another reply follows. O(pieces). */
void made_reply_restart(struct made_reply *made);

/* To be called after each element. O(1), but copies what was written when that is enough for a
 * piece: with all calls together, O(bytes of the reply). */
void made_reply_add_piece(struct made_reply *made); /* for made_reply_grow alone */
static inline void made_reply_grow(struct made_reply *made) {
    enum { PIECE = 256 * 1024 };
    if (made->reply.len >= PIECE) made_reply_add_piece(made);
}

/* To be called after the last one. */
void made_reply_end(struct made_reply *made);

/* How many bytes it has, once it was ended. O(pieces). */
size_t made_reply_size(const struct made_reply *made);

/* Moves all of it to the end of a reply. O(pieces). */
void made_reply_pass(struct made_reply *made, struct reply *reply);

void made_reply_free(struct made_reply *made);

#endif
