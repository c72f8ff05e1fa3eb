/* rdb_body: converts the serialized listpacks and ziplists of files to bodies of canonical
 * elements, and makes such bodies. */
#ifndef PACKLIST_PERSIST_RDB_BODY_H
#define PACKLIST_PERSIST_RDB_BODY_H

#include "base/slice.h"
#include "ds/lists/listpack.h"
#include "persist/rdb_reader.h"

/* The most bytes of a body: a serialized listpack says its whole size in 32 bits. */
#define RDB_BODY_MAX ((size_t)UINT32_MAX - LISTPACK_OVERHEAD)

/* A view of a body: in the input, or in the scratch buffer. */
struct rdb_body {
    const uint8_t *first;
    const uint8_t *end;
    size_t count;
};

/* Sets *body to the body of a serialized listpack or ziplist. The input is not trusted: fails the
 * reader when it is malformed. The scratch buffer receives bodies that must be encoded anew, and
 * grows in proportion to `bytes`. O(bytes). */
bool rdb_view_body(struct rdb_reader *reader, struct slice bytes, bool is_ziplist,
                   struct rdb_scratch *scratch, struct rdb_body *body);

/* The same of the string that is read next. */
bool rdb_read_body(struct rdb_reader *reader, bool is_ziplist, struct rdb_scratch *scratch,
                   struct rdb_body *body);

/* Append an element to a body of `*used` bytes in the scratch buffer, which grows. False when there
 * is no memory, or the body would exceed RDB_BODY_MAX. Amortised O(element). */
bool rdb_body_append(struct rdb_scratch *scratch, size_t *used, struct slice text);
bool rdb_body_append_integer(struct rdb_scratch *scratch, size_t *used, int64_t integer);

#endif
