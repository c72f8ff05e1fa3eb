/* rdb_body: bodies of canonical elements out of the serialized forms that files hold. */
#ifndef PACKLIST_PERSIST_RDB_BODY_H
#define PACKLIST_PERSIST_RDB_BODY_H

#include "base/slice.h"
#include "persist/rdb_reader.h"

/* A body, seen: in the bytes it came from, or in the scratch buffer. */
struct rdb_body {
    const uint8_t *first;
    const uint8_t *end;
    size_t count;
};

/* The body of a serialized listpack or ziplist, which are untrusted. False when it is malformed,
 * or, the message being put into *error (static), has no elements. The scratch buffer is used for
 * what must be encoded anew, and grows in proportion to `bytes`. O(bytes). */
bool rdb_body_of_listpack(struct slice bytes, struct rdb_scratch *scratch, struct rdb_body *body,
                          const char **error);
bool rdb_body_of_ziplist(struct slice bytes, struct rdb_scratch *scratch, struct rdb_body *body,
                         const char **error);

#endif
