/* failed_logins: how often logins from an address have failed lately, and how long the client waits
 * for the reply to another one that fails.
 *
 * Ten failures are answered at once. The next ones take 0.1 s, 0.2 s … up to 5 s. After ten minutes
 * without a failure the address is forgotten; a login that succeeds changes nothing, since it may
 * be one of the guesser's own users. The table has a fixed size: a new address takes the place of
 * one whose last failure is oldest.
 *
 * Right passwords are answered at once, so that one wrong setting does not stop other clients of
 * the address. So a client that hangs up instead of waiting learns as much, for the price of a
 * connection a guess: how many connections an address may open is for a firewall to say. */
#ifndef PACKLIST_USERS_FAILED_LOGINS_H
#define PACKLIST_USERS_FAILED_LOGINS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef TINY_LIMITS
enum { FAILED_LOGINS_SETS = 2, FAILED_LOGINS_WAYS = 2 };
#else
enum { FAILED_LOGINS_SETS = 256, FAILED_LOGINS_WAYS = 4 };
#endif
enum {
    FAILED_LOGINS_FREE = 10, /* failures that are answered at once */
    FAILED_LOGINS_FIRST_MS = 100,
    FAILED_LOGINS_LAST_MS = 5000,
    FAILED_LOGINS_FORGET_MS = 10 * 60 * 1000
};

struct failed_address {
    uint64_t hash;
    int64_t last_ms;
    uint32_t count; /* 0: the place is free */
};

/* An address is looked for in the places of one set. All zero is empty. */
struct failed_logins {
    struct failed_address sets[FAILED_LOGINS_SETS][FAILED_LOGINS_WAYS];
    bool is_used; /* something was added */
};

/* Returns how many milliseconds the next failure from the address takes, 0 if none. `hash`: of the
 * address, with the server's secret; now_ms: a clock that only goes forward. O(1), as are the
 * others. */
int64_t failed_logins_delay(const struct failed_logins *logins, uint64_t hash, int64_t now_ms);

/* Counts a failure. */
void failed_logins_add(struct failed_logins *logins, uint64_t hash, int64_t now_ms);

#endif
