/* client_filter: which clients CLIENT KILL means: its options, read into a set of conditions.
 * Looks at no session itself, so that it can be tested alone. */
#ifndef PACKLIST_ADMIN_CLIENT_FILTER_H
#define PACKLIST_ADMIN_CLIENT_FILTER_H

#include "base/sds.h"
#include "base/slice.h"
#include "session/session.h"

#include <stdbool.h>
#include <stdint.h>

/* The type named "normal", "replica" or "slave", "pubsub", "master", in any case; CLIENT_TYPE_ANY
 * when there is no such type. */
enum client_type client_type_named(struct slice name);

/* All conditions must hold; zero or NULL is none. */
struct client_filter {
    int64_t id;
    struct slice address; /* the client's side, as CLIENT LIST shows it */
    struct slice local_address;
    int64_t min_age_s; /* connected for at least so long */
    enum client_type type;
    bool skip_me; /* not the client who asks */
};

/* What is known of a client when a filter looks at it. */
struct client_facts {
    int64_t id;
    struct slice address;
    struct slice local_address;
    int64_t age_s;
    enum client_type type;
    bool is_me;
};

/* Reads option and value pairs (ID, ADDR, LADDR, TYPE, USER, SKIPME, MAXAGE) into `filter`. NULL
 * when all is well, else the error to answer, owned by the caller. The slices in `filter` are
 * `options`'. */
sds client_filter_parse(struct client_filter *filter, const struct slice *options, size_t count);

bool client_filter_matches(const struct client_filter *filter, const struct client_facts *facts);

#endif
