/* choice: members of a set, a hash or a sorted set that are chosen at random and replied:
 * SRANDMEMBER, HRANDFIELD and ZRANDMEMBER with a count. Many are chosen by a work
 * (engine/work.h). */
#ifndef PACKLIST_COMMANDS_CHOICE_H
#define PACKLIST_COMMANDS_CHOICE_H

#include "base/hash/random.h"
#include "engine/call.h"
#include "types/value.h"

struct choice;
struct made_reply; /* resp/made_reply.h */
struct work;       /* engine/work.h */

/* What a type brings. Both write the header of the reply, and then members as long as
 * choice_goes_on. In any thread. */
struct choice_type {
    void (*reply_repeated)(struct choice *choice); /* any members: one may come more than once */
    void (*reply_different)(struct choice *choice);
};

struct choice {
    /* Set by the command: */
    const struct choice_type *type;
    struct frozen value; /* the value itself, without a capture */
    uint64_t length;     /* members that may be chosen; not 0 */
    int64_t now_ms;      /* fields have expired by then */
    int form;            /* of the reply: the type's own */

    /* For the type to read: */
    uint64_t count; /* members to reply, no more than `length` if they are to be different */
    struct random *random;
    struct reply *reply;

    /* Private: */
    struct made_reply *made; /* where a work writes the reply; else NULL */
    struct work *work;
    size_t mark;     /* where the reply begins */
    size_t end;      /* where it ended when the last member was asked for */
    size_t size_max; /* of the reply, in bytes, */
    size_t sent_max; /* and how long one closes the client */
    bool repeats;
    bool is_too_long;
    bool is_unsendable;
};

/* With a negative count members are repeated: the size of the value does not limit how many there
 * are, so the reply needs limits of its own. The most members that a request may ask for; they are
 * made in about a second, in any encoding: a draw costs O(1), if need be after O(members) once. */
enum { CHOICE_REPEATED_MAX = 1 << 24 };

/* Parses the count at argv[2], and `option`, which may follow it as the last argument and doubles
 * what is replied. Otherwise replies the error and returns false. */
bool choice_count_parse(struct call *call, const char *option, int64_t *count);

/* Replies `count` (not 0) different members, or all if there are no more; if the count is negative,
 * so many of which any may be repeated: more than CHOICE_REPEATED_MAX are refused, and a reply that
 * becomes longer than proto-max-bulk-len is replaced by an error. The value is read at once, or
 * frozen. */
void choice_reply(struct call *call, struct choice *choice, int64_t count);

/* Returns whether one more member should be written: not when the reply is too long, will never be
 * sent, or is not needed. O(1). */
bool choice_goes_on(struct choice *choice);

#endif
