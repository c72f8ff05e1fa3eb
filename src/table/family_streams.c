/* family_streams: the commands of streams, without those of consumer groups. */
#include "table/command_row.h"

/* clang-format off */

#define TRIM \
    "(<MAXLEN | MINID@6.2.0>:strategy [<=:equal | ~:approximately>:operator] threshold " \
    "[LIMIT count:integer@6.2.0]):trim"

static const struct command rows[] = {

{.name = "xadd", .arity = -5, .group = "stream", .since = "5.0.0",
 .flags = WRITE | DENYOOM | FAST, .categories = CATEGORY_STREAM, .tips = TIP_NONDETERMINISTIC,
 .keys = NOTED_KEY(CHANGE, "It may also trim the stream, so it does not only insert."),
 .complexity = "O(1), and O(N) for trimming, N being the entries removed",
 .summary = "Appends an entry to a stream, and may trim it.",
 .syntax =
     "key [NOMKSTREAM@6.2.0] [" TRIM "] <*:auto-id | id>:id-selector (field value):data ..."
     "\n@6.2.0 Takes `NOMKSTREAM`, `MINID` and `LIMIT`."
     "\n@7.0.0 Takes ids of the form `<ms>-*`."},
{.name = "xdel", .arity = -3, .group = "stream", .since = "5.0.0",
 .flags = WRITE | FAST, .categories = CATEGORY_STREAM,
 .keys = ONE_KEY(TAKE),
 .complexity = "O(log N) for each id, N being the entries of the stream",
 .summary = "Deletes entries of a stream by their ids.",
 .syntax = "key id [id ...]"},
{CONTAINER_ROW("xinfo", "stream", "5.0.0",
               "Describes streams.")},
{.name = "xinfo|groups", .arity = 3, .group = "stream",
 .since = "5.0.0", .flags = SUBCOMMAND | READONLY, .categories = CATEGORY_STREAM,
 .keys = KEY_AT(2, READ),
 .complexity = "O(1)",
 .summary = "Describes the consumer groups of a stream; there are none.",
 .syntax = "key"
           "\n@7.0.0 Tells `entries-read` and `lag`."},
{HELP_ROW("xinfo", "stream", "5.0.0", CATEGORY_STREAM)},
{.name = "xinfo|stream", .arity = -3, .group = "stream",
 .since = "5.0.0", .flags = SUBCOMMAND | READONLY, .categories = CATEGORY_STREAM,
 .keys = KEY_AT(2, READ),
 .complexity = "O(1), and O(N) with FULL, N being the entries returned",
 .summary = "Describes a stream: its length, ids, first and last entry.",
 .syntax =
     "key [(FULL [COUNT count:integer]):full-block]"
     "\n@6.0.0 Takes `FULL`."
     "\n@7.0.0 Tells `max-deleted-entry-id`, `entries-added` and `recorded-first-entry-id`."
     "\n@7.2.0 Tells `active-time` of consumers."},
{.name = "xlen", .arity = 2, .group = "stream", .since = "5.0.0",
 .flags = READONLY | FAST, .categories = CATEGORY_STREAM,
 .keys = ONE_KEY(LOOK),
 .complexity = "O(1)",
 .summary = "Counts the entries of a stream.",
 .syntax = "key"},
{.name = "xrange", .arity = -4, .group = "stream", .since = "5.0.0",
 .flags = READONLY, .categories = CATEGORY_STREAM,
 .keys = ONE_KEY(READ),
 .complexity = "O(log N + M), N being the entries of the stream and M those returned",
 .summary = "Returns the entries of a stream with ids within a range.",
 .syntax = "key start end [COUNT count:integer]"
           "\n@6.2.0 Takes exclusive bounds."},
{.name = "xread", .arity = -4, .group = "stream", .since = "5.0.0",
 .flags = READONLY | BLOCKING | MOVABLE_KEYS, .categories = CATEGORY_STREAM,
 .keys = STREAMS_TO_READ,
 .complexity = "O(log N + M) for each stream, N being its entries and M those returned",
 .summary = "Returns the entries of streams behind given ids, and may wait for them.",
 .syntax =
     "[COUNT count:integer] [BLOCK milliseconds:integer] "
     "STREAMS (key [key ...] id [id ...]):streams"},
{.name = "xrevrange", .arity = -4, .group = "stream",
 .since = "5.0.0", .flags = READONLY, .categories = CATEGORY_STREAM,
 .keys = ONE_KEY(READ),
 .complexity = "O(log N + M), N being the entries of the stream and M those returned",
 .summary = "Returns the entries of a stream with ids within a range, the last one first.",
 .syntax = "key end start [COUNT count:integer]"
           "\n@6.2.0 Takes exclusive bounds."},
{.name = "xsetid", .arity = -3, .group = "stream", .since = "5.0.0",
 .flags = WRITE | DENYOOM | FAST, .categories = CATEGORY_STREAM,
 .keys = ONE_KEY(CHANGE),
 .complexity = "O(1)",
 .summary = "Sets the last id of a stream, for copies of streams.",
 .syntax =
     "key last-id [ENTRIESADDED entries-added:integer@7.0.0] [MAXDELETEDID max-deleted-id@7.0.0]"
     "\n@7.0.0 Takes `ENTRIESADDED` and `MAXDELETEDID`."},
{.name = "xtrim", .arity = -4, .group = "stream", .since = "5.0.0",
 .flags = WRITE, .categories = CATEGORY_STREAM, .tips = TIP_NONDETERMINISTIC,
 .keys = ONE_KEY(TAKE),
 .complexity = "O(N), N being the entries removed; whole nodes of entries are freed at once",
 .summary = "Removes entries from the beginning of a stream.",
 .syntax = "key " TRIM
           "\n@6.2.0 Takes `MINID` and `LIMIT`."},
};

/* clang-format on */

const struct command_family command_family_streams = FAMILY_OF(rows);
