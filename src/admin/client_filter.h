/* client_filter: the options of CLIENT KILL, parsed into a set of conditions. It reads no session,
 * so that it can be tested alone. */
#ifndef PACKLIST_ADMIN_CLIENT_FILTER_H
#define PACKLIST_ADMIN_CLIENT_FILTER_H

#include "base/sds.h"
#include "base/slice.h"
#include "session/session.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns the type named "normal", "replica" or "slave", "pubsub", "master", in any case;
 * CLIENT_TYPE_ANY for other names. */
enum client_type client_type_named(struct slice name);

/* All conditions must hold; zero or NULL sets no condition. */
struct client_filter {
    int64_t id;
    struct slice address; /* the client's side of the connection, as CLIENT LIST shows it */
    struct slice local_address;
    int64_t min_age_s; /* connected for at least this many seconds */
    enum client_type type;
    struct slice user; /* which the caller has looked up */
    bool skip_me;      /* exclude the calling client */
};

/* The facts about a client that the conditions compare. */
struct client_facts {
    int64_t id;
    struct slice address;
    struct slice local_address;
    int64_t age_s;
    enum client_type type;
    struct slice user;
    bool is_me;
};

/* Parses pairs of option and value (ID, ADDR, LADDR, TYPE, USER, SKIPME, MAXAGE) into `filter`.
 * Returns NULL, or the error to reply, owned by the caller. The slices in `filter` point into
 * `options`. */
sds client_filter_parse(struct client_filter *filter, const struct slice *options, size_t count);

bool client_filter_matches(const struct client_filter *filter, const struct client_facts *facts);

#endif
