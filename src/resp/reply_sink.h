/* reply_sink: takes the values of a reply as they are written, in the place of RESP bytes. A script
 * gets the replies of its commands this way (script/value_sink.h).
 *
 * A sink is a table of functions, which its owner sets up: the owner embeds the struct in its own
 * state. Each function gets one value in the order of the reply. An aggregate comes before its
 * members: with their number, or, where the number is not known yet, as `begin`, the members, and
 * the aggregate's kind. Types that RESP2 lacks come as they are only when reply->protocol is 3;
 * otherwise the writer has replaced them, as for a buffer. */
#ifndef PACKLIST_RESP_REPLY_SINK_H
#define PACKLIST_RESP_REPLY_SINK_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reply_sink;

enum reply_aggregate { REPLY_ARRAY, REPLY_MAP, REPLY_SET };

enum reply_null { REPLY_NULL_BULK, REPLY_NULL_ARRAY, REPLY_NULL_RESP3 };

struct reply_sink_functions {
    void (*status)(struct reply_sink *sink, struct slice text);
    /* The whole line, code first, without line breaks. The function sets sink->error. */
    void (*error)(struct reply_sink *sink, struct slice text);
    void (*integer)(struct reply_sink *sink, int64_t value);
    void (*bulk)(struct reply_sink *sink, struct slice text);
    void (*null)(struct reply_sink *sink, enum reply_null kind);
    void (*boolean)(struct reply_sink *sink, bool value);
    void (*floating)(struct reply_sink *sink, double value);
    void (*verbatim)(struct reply_sink *sink, struct slice text, const char format[3]);
    void (*big_number)(struct reply_sink *sink, struct slice digits);
    /* `members` follow; a map has twice as many values as pairs. */
    void (*aggregate)(struct reply_sink *sink, enum reply_aggregate kind, size_t members);
    void (*begin)(struct reply_sink *sink);
    void (*end)(struct reply_sink *sink, enum reply_aggregate kind);
    /* Forgets all values and open aggregates. */
    void (*drop)(struct reply_sink *sink);
};

struct reply_sink {
    const struct reply_sink_functions *functions;
    struct slice error; /* the error that was replied, kept by the sink; ptr NULL: none */
};

#endif
