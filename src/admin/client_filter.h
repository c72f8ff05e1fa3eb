/* client_filter: which clients the options of CLIENT KILL and CLIENT LIST select. The caller
 * collects the facts about each client, so that the conditions can be tested without clients. */
#ifndef PACKLIST_ADMIN_CLIENT_FILTER_H
#define PACKLIST_ADMIN_CLIENT_FILTER_H

#include "base/slice.h"
#include "base/text/sds.h"
#include "session/session.h"

#include <stdbool.h>
#include <stdint.h>

/* Several numbers of clients, sorted, each once. */
struct client_ids {
    int64_t *ids;
    size_t count;
};

/* What a client may be asked to be, a member for each option. Zero or NULL sets no condition. */
struct client_conditions {
    struct client_ids ids;
    struct slice address; /* of the client's end of the connection, as CLIENT LIST shows it */
    struct slice local_address;
    struct slice ip; /* the address without the port */
    struct slice user;
    struct slice name;
    struct slice lib_name;
    struct slice lib_version;
    struct slice flags; /* letters, as CLIENT LIST shows them */
    struct slice capabilities;
    int64_t database; /* its number + 1 */
    enum client_type type;
};

/* All of `wanted` must hold, and none of `unwanted`. */
struct client_filter {
    struct client_conditions wanted;
    struct client_conditions unwanted; /* the options that begin with NOT- */
    int64_t min_age_s;                 /* connected for at least this many seconds */
    int64_t min_idle_s;                /* silent for at least this many seconds */
    bool skip_me;                      /* exclude the calling client */
};

/* What a client is. Addresses may be left out when no condition names them. */
struct client_facts {
    int64_t id;
    struct slice address;
    struct slice local_address;
    struct slice user;
    struct slice name; /* NULL: it has none; the same with the next two */
    struct slice lib_name;
    struct slice lib_version;
    struct slice flags;
    struct slice capabilities;
    int64_t database;
    int64_t age_s;
    int64_t idle_s;
    enum client_type type;
    bool is_me;
};

/* Parses options with their values (ID and NOT-ID take several) into `filter`. When an option comes
 * several times, the last one counts. `skip_me` holds if there is no SKIPME, and DB must be less
 * than `databases`. Returns NULL, or the error to reply, which the caller owns. The slices in
 * `filter` point into `options`. client_filter_end must be called, also after an error.
 * O(count * log(count)). */
sds client_filter_parse(struct client_filter *filter, const struct slice *options, size_t count,
                        bool skip_me, int databases);
void client_filter_end(struct client_filter *filter);

/* Returns whether the word is one of the options. */
bool client_filter_is_option(struct slice word);

/* O(log(ids)). */
bool client_filter_matches(const struct client_filter *filter, const struct client_facts *facts);

#endif
