/* random_repeat: replies to SRANDMEMBER, HRANDFIELD and ZRANDMEMBER with a negative count, which
 * repeat members: the size of the value does not limit how many there are, so the reply needs
 * limits of its own. */
#ifndef PACKLIST_COMMANDS_RANDOM_REPEAT_H
#define PACKLIST_COMMANDS_RANDOM_REPEAT_H

#include "engine/call.h"

/* The most members that a request may ask for; the loop makes them in about a second, in any
 * encoding: a draw costs O(1), if need be after O(members) once. */
enum { RANDOM_REPEAT_MAX = 1 << 24 };

struct random_repeat {
    struct call *call;
    uint64_t left;
    size_t mark;     /* where the reply begins */
    size_t end;      /* where it ended when the last member was asked for */
    size_t size_max; /* of the reply, in bytes */
};

/* Begins a reply of `count` members; the caller then writes its header. More than RANDOM_REPEAT_MAX
 * are refused with an error reply: returns false. O(1). */
bool random_repeat_begin(struct random_repeat *repeat, struct call *call, uint64_t count);

/* Returns whether the caller should write one more member. It should not at the end; when the reply
 * has become longer than proto-max-bulk-len, which replaces it by an error; and when it will never
 * be sent, because the client is over its output limit. O(1). */
bool random_repeat_next(struct random_repeat *repeat);

#endif
