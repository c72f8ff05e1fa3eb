/* family_streams: the commands of streams. */
#include "table/command_row.h"

/* clang-format off */

#define TRIM \
    "(<MAXLEN | MINID@6.2.0>:strategy [<=:equal | ~:approximately>:operator] threshold " \
    "[LIMIT count:integer@6.2.0]):trim"

/* References of consumer groups to entries that are deleted. */
#define REFERENCES "[<KEEPREF | DELREF | ACKED>:condition@8.2.0]"

static const struct command rows[] = {

{.name = "xack", .arity = -4, .group = "stream", .since = "5.0.0",
 .flags = WRITE | FAST, .categories = CATEGORY_STREAM,
 .keys = ONE_KEY(CHANGE),
 .complexity = "O(log N) for each id, N being the pending entries of the group",
 .summary = "Acknowledges pending entries of a consumer group.",
 .syntax = "key group id [id ...]"},
{.name = "xackdel", .arity = -6, .group = "stream", .since = "8.2.0",
 .flags = WRITE | FAST, .categories = CATEGORY_STREAM,
 .keys = ONE_KEY(TAKE),
 .complexity = "O(log N) for each id and group, N being the pending entries of a group",
 .summary = "Acknowledges pending entries of a consumer group and deletes the entries.",
 .syntax = "key group [<KEEPREF | DELREF | ACKED>:condition] "
           "IDS (numids:integer id [id ...]):ids"},
{.name = "xadd", .arity = -5, .group = "stream", .since = "5.0.0",
 .flags = WRITE | DENYOOM | FAST, .categories = CATEGORY_STREAM, .tips = TIP_NONDETERMINISTIC,
 .keys = NOTED_KEY(CHANGE, "It may also trim the stream, so it does not only insert."),
 .complexity = "O(1), and O(N) for trimming, N being the entries removed",
 .summary = "Appends an entry to a stream, and may trim it.",
 .syntax =
     "key [NOMKSTREAM@6.2.0] " REFERENCES " "
     "[<IDMPAUTO pid | IDMP (pid iid):idmp>:idmp@8.6.0] "
     "[" TRIM "] <*:auto-id | id>:id-selector "
     "(field value):data ..."
     "\n@6.2.0 Takes `NOMKSTREAM`, `MINID` and `LIMIT`."
     "\n@7.0.0 Takes ids of the form `<ms>-*`."
     "\n@8.2.0 Takes `KEEPREF`, `DELREF` and `ACKED`."},
{.name = "xautoclaim", .arity = -6, .group = "stream", .since = "6.2.0",
 .flags = WRITE | FAST, .categories = CATEGORY_STREAM, .tips = TIP_NONDETERMINISTIC,
 .keys = ONE_KEY(TAKE),
 .complexity = "O(log N) for each entry looked at, at most ten times COUNT, "
               "N being the pending entries of the group",
 .summary = "Gives a consumer pending entries that have been idle for long.",
 .syntax = "key group consumer min-idle-time start [COUNT count:integer] [JUSTID]"
           "\n@7.0.0 Tells the ids of deleted entries that it has removed from the pending ones."},
{.name = "xcfgset", .arity = -2, .group = "stream", .since = "8.6.0",
 .flags = WRITE | FAST, .categories = CATEGORY_STREAM,
 .keys = ONE_KEY(CHANGE),
 .complexity = "O(N), N being the producers that the stream knows",
 .summary = "Sets how many entries of each producer a stream remembers, and how long.",
 .syntax = "key [IDMP-DURATION idmp-duration:integer] [IDMP-MAXSIZE idmp-maxsize:integer]"},
{.name = "xclaim", .arity = -6, .group = "stream", .since = "5.0.0",
 .flags = WRITE | FAST, .categories = CATEGORY_STREAM, .tips = TIP_NONDETERMINISTIC,
 .keys = ONE_KEY(CHANGE),
 .complexity = "O(log N) for each id, N being the pending entries of the group",
 .summary = "Gives a consumer pending entries by their ids.",
 .syntax = "key group consumer min-idle-time id [id ...] [IDLE ms:integer] "
           "[TIME unix-time-milliseconds:unix-time] [RETRYCOUNT count:integer] [FORCE] [JUSTID] "
           "[LASTID lastid]"},
{.name = "xdel", .arity = -3, .group = "stream", .since = "5.0.0",
 .flags = WRITE | FAST, .categories = CATEGORY_STREAM,
 .keys = ONE_KEY(TAKE),
 .complexity = "O(log N) for each id, N being the entries of the stream",
 .summary = "Deletes entries of a stream by their ids.",
 .syntax = "key id [id ...]"},
{.name = "xdelex", .arity = -5, .group = "stream", .since = "8.2.0",
 .flags = WRITE | FAST, .categories = CATEGORY_STREAM,
 .keys = ONE_KEY(TAKE),
 .complexity = "O(log N) for each id and group, N being the entries of the stream",
 .summary = "Deletes entries of a stream, with or without what groups have pending of them.",
 .syntax = "key [<KEEPREF | DELREF | ACKED>:condition] "
           "IDS (numids:integer id [id ...]):ids"},
{CONTAINER_ROW("xgroup", "stream", "5.0.0",
               "Makes and changes consumer groups.")},
{.name = "xgroup|create", .arity = -5, .group = "stream", .since = "5.0.0",
 .flags = SUBCOMMAND | WRITE | DENYOOM, .categories = CATEGORY_STREAM,
 .keys = KEY_AT(2, PUSH),
 .complexity = "O(N), N being the groups of the stream, of which pointers are moved",
 .summary = "Creates a consumer group.",
 .syntax = "key group <id | $:new-id>:id-selector [MKSTREAM] "
           "[ENTRIESREAD entriesread:integer=entries-read]"
           "\n@7.0.0 Takes `ENTRIESREAD`."},
{.name = "xgroup|createconsumer", .arity = 5, .group = "stream", .since = "6.2.0",
 .flags = SUBCOMMAND | WRITE | DENYOOM, .categories = CATEGORY_STREAM,
 .keys = KEY_AT(2, PUSH),
 .complexity = "O(N), N being the consumers of the group, of which pointers are moved",
 .summary = "Creates a consumer in a group.",
 .syntax = "key group consumer"},
{.name = "xgroup|delconsumer", .arity = 5, .group = "stream", .since = "5.0.0",
 .flags = SUBCOMMAND | WRITE, .categories = CATEGORY_STREAM,
 .keys = KEY_AT(2, TAKE),
 .complexity = "O(N), N being the pending entries of the consumer",
 .summary = "Deletes a consumer of a group with its pending entries.",
 .syntax = "key group consumer"},
{.name = "xgroup|destroy", .arity = 4, .group = "stream", .since = "5.0.0",
 .flags = SUBCOMMAND | WRITE, .categories = CATEGORY_STREAM,
 .keys = KEY_AT(2, TAKE),
 .complexity = "O(N), N being the pending entries of the group",
 .summary = "Destroys a consumer group.",
 .syntax = "key group"},
{HELP_ROW("xgroup", "stream", "5.0.0", CATEGORY_STREAM)},
{.name = "xgroup|setid", .arity = -5, .group = "stream", .since = "5.0.0",
 .flags = SUBCOMMAND | WRITE, .categories = CATEGORY_STREAM,
 .keys = KEY_AT(2, CHANGE),
 .complexity = "O(1)",
 .summary = "Sets the id after which a group is given entries.",
 .syntax = "key group <id | $:new-id>:id-selector [ENTRIESREAD entriesread:integer=entries-read]"
           "\n@7.0.0 Takes `ENTRIESREAD`."},
{.name = "xidmprecord", .arity = 5, .group = "stream", .since = "8.6.2",
 .flags = WRITE | DENYOOM | FAST, .categories = CATEGORY_STREAM,
 .keys = ONE_KEY(CHANGE),
 .complexity = "O(N), N being the entries that the stream remembers of the producer",
 .summary = "Notes the id that a producer gave to an entry, for copies of streams.",
 .syntax = "key pid iid stream-id"},
{CONTAINER_ROW("xinfo", "stream", "5.0.0",
               "Describes streams.")},
{.name = "xinfo|consumers", .arity = 4, .group = "stream",
 .since = "5.0.0", .flags = SUBCOMMAND | READONLY, .categories = CATEGORY_STREAM,
 .tips = TIP_NONDETERMINISTIC,
 .keys = KEY_AT(2, READ),
 .complexity = "O(N), N being the consumers of the group",
 .summary = "Describes the consumers of a group.",
 .syntax = "key group"
           "\n@7.2.0 Tells `inactive`; `idle` counts from any attempt to read."},
{.name = "xinfo|groups", .arity = 3, .group = "stream",
 .since = "5.0.0", .flags = SUBCOMMAND | READONLY, .categories = CATEGORY_STREAM,
 .keys = KEY_AT(2, READ),
 .complexity = "O(N), N being the groups of the stream",
 .summary = "Describes the consumer groups of a stream.",
 .syntax = "key"
           "\n@7.0.0 Tells `entries-read` and `lag`."},
{HELP_ROW("xinfo", "stream", "5.0.0", CATEGORY_STREAM)},
{.name = "xinfo|stream", .arity = -3, .group = "stream",
 .since = "5.0.0", .flags = SUBCOMMAND | READONLY, .categories = CATEGORY_STREAM,
 .keys = KEY_AT(2, READ),
 .complexity = "O(N), and O(N + M) with FULL, N being the producers that the stream knows "
               "and M the entries returned",
 .summary = "Describes a stream: its length, ids, first and last entry.",
 .syntax =
     "key [(FULL [COUNT count:integer]):full-block]"
     "\n@6.0.0 Takes `FULL`."
     "\n@7.0.0 Tells `max-deleted-entry-id`, `entries-added` and `recorded-first-entry-id`."
     "\n@7.2.0 Tells `active-time` of consumers."
     "\n@8.6.0 Tells `idmp-duration`, `idmp-maxsize`, `pids-tracked`, `iids-tracked`, "
     "`iids-added` and `iids-duplicates`."},
{.name = "xlen", .arity = 2, .group = "stream", .since = "5.0.0",
 .flags = READONLY | FAST, .categories = CATEGORY_STREAM,
 .keys = ONE_KEY(LOOK),
 .complexity = "O(1)",
 .summary = "Counts the entries of a stream.",
 .syntax = "key"},
{.name = "xnack", .arity = -7, .group = "stream", .since = "8.8.0",
 .flags = WRITE | FAST, .categories = CATEGORY_STREAM,
 .keys = ONE_KEY(CHANGE),
 .complexity = "O(log N) for each id, N being the pending entries of the group",
 .summary = "Gives back pending entries of a consumer group, so that nobody has them.",
 .syntax = "key group <SILENT | FAIL | FATAL>:mode IDS (numids:integer id [id ...]):ids "
           "[RETRYCOUNT count:integer] [FORCE]"},
{.name = "xpending", .arity = -3, .group = "stream", .since = "5.0.0",
 .flags = READONLY, .categories = CATEGORY_STREAM, .tips = TIP_NONDETERMINISTIC,
 .keys = ONE_KEY(READ),
 .complexity = "O(log N + M), N being the pending entries of the group and M those looked at; "
               "without a range O(M), M being the consumers of the group",
 .summary = "Counts or lists the pending entries of a consumer group.",
 .syntax = "key group [([IDLE min-idle-time:integer@6.2.0] start end count:integer "
           "[consumer]):filters]"
           "\n@6.2.0 Takes `IDLE` and exclusive bounds."},
{.name = "xrange", .arity = -4, .group = "stream", .since = "5.0.0",
 .flags = READONLY, .categories = CATEGORY_STREAM,
 .keys = ONE_KEY(READ),
 .complexity = "O(log N + M), N being the entries of the stream and M those returned",
 .summary = "Returns the entries of a stream with ids within a range.",
 .syntax = "key start end [COUNT count:integer]"
           "\n@6.2.0 Takes exclusive bounds."},
{.name = "xread", .arity = -4, .group = "stream", .since = "5.0.0",
 .flags = READONLY | BLOCKING | MOVABLE_KEYS, .categories = CATEGORY_STREAM,
 .keys = STREAMS_TO_READ(1),
 .complexity = "O(log N + M) for each stream, N being its entries and M those returned",
 .summary = "Returns the entries of streams behind given ids, and may wait for them.",
 .syntax =
     "[COUNT count:integer] [MAXCOUNT maxcount:integer@8.10.0] [MAXSIZE maxsize:integer@8.10.0] "
     "[BLOCK milliseconds:integer] STREAMS (key [key ...] id [id ...]):streams"
     "\n@8.10.0 Takes `MAXCOUNT` and `MAXSIZE`."},
{.name = "xreadgroup", .arity = -7, .group = "stream", .since = "5.0.0",
 .flags = WRITE | BLOCKING | MOVABLE_KEYS, .categories = CATEGORY_STREAM,
 .keys = STREAMS_TO_READ(4),
 .complexity = "O(log N + M) for each stream, N being its entries and M those returned",
 .summary = "Gives a consumer of a group new entries of streams, or those that it has pending.",
 .syntax =
     "GROUP (group consumer):group-block [COUNT count:integer] [MAXCOUNT maxcount:integer@8.10.0] "
     "[MAXSIZE maxsize:integer@8.10.0] [BLOCK milliseconds:integer] "
     "[CLAIM min-idle-time:integer@8.4.0] [NOACK] STREAMS (key [key ...] id [id ...]):streams"
     "\n@8.4.0 Takes `CLAIM`."
     "\n@8.10.0 Takes `MAXCOUNT` and `MAXSIZE`."},
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
 .syntax = "key " TRIM " " REFERENCES
           "\n@6.2.0 Takes `MINID` and `LIMIT`."
           "\n@8.2.0 Takes `KEEPREF`, `DELREF` and `ACKED`."},
};

/* clang-format on */

const struct command_family command_family_streams = FAMILY_OF(rows);
