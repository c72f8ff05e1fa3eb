/* family_streams: the commands of streams. */
#include "table/command_row.h"

/* clang-format off */

#define TRIM \
    "(<MAXLEN | MINID@6.2.0>:strategy [<=:equal | ~:approximately>:operator] threshold " \
    "[LIMIT count:integer@6.2.0]):trim"

/* References of consumer groups to entries that are deleted. */
#define REFERENCES "[<KEEPREF | DELREF | ACKED>:condition@8.2.0]"

static const struct command rows[] = {

{ROW("xack", -4, "stream", "5.0.0", WRITE | FAST,
     "O(log N) for each id, N being the pending entries of the group",
     "Acknowledges pending entries of a consumer group."),
 .keys = ONE_KEY(CHANGE), .syntax = "key group id [id ...]"},
{ROW("xackdel", -6, "stream", "8.2.0", WRITE | FAST,
     "O(log N) for each id and group, N being the pending entries of a group",
     "Acknowledges pending entries of a consumer group and deletes the entries."),
 .keys = ONE_KEY(TAKE),
 .syntax = "key group [<KEEPREF | DELREF | ACKED>:condition] IDS (numids:integer id [id ...]):ids"},
{ROW("xadd", -5, "stream", "5.0.0", WRITE | DENYOOM | FAST,
     "O(1), and O(N) for trimming, N being the entries removed",
     "Appends an entry to a stream, and may trim it."),
 .tips = TIP_NONDETERMINISTIC,
 .keys = NOTED_KEY(CHANGE, "It may also trim the stream, so it does not only insert."),
 .syntax = "key [NOMKSTREAM@6.2.0] " REFERENCES " [<IDMPAUTO pid | IDMP "
           "(pid iid):idmp>:idmp@8.6.0] [" TRIM "] <*:auto-id | id>:id-selector (field value):data "
           "..."
           "\n@6.2.0 Takes `NOMKSTREAM`, `MINID` and `LIMIT`."
           "\n@7.0.0 Takes ids of the form `<ms>-*`."
           "\n@8.2.0 Takes `KEEPREF`, `DELREF` and `ACKED`."},
{ROW("xautoclaim", -6, "stream", "6.2.0", WRITE | FAST,
     "O(log N) for each entry looked at, at most ten times COUNT, N being the pending entries of "
     "the group",
     "Gives a consumer pending entries that have been idle for long."),
 .tips = TIP_NONDETERMINISTIC, .keys = ONE_KEY(TAKE),
 .syntax = "key group consumer min-idle-time start [COUNT count:integer] [JUSTID]"
           "\n@7.0.0 Tells the ids of deleted entries that it has removed from the pending ones."},
{ROW("xcfgset", -2, "stream", "8.6.0", WRITE | FAST,
     "O(N), N being the producers that the stream knows",
     "Sets how many entries of each producer a stream remembers, and how long."),
 .keys = ONE_KEY(CHANGE),
 .syntax = "key [IDMP-DURATION idmp-duration:integer] [IDMP-MAXSIZE idmp-maxsize:integer]"},
{ROW("xclaim", -6, "stream", "5.0.0", WRITE | FAST,
     "O(log N) for each id, N being the pending entries of the group",
     "Gives a consumer pending entries by their ids."),
 .tips = TIP_NONDETERMINISTIC, .keys = ONE_KEY(CHANGE),
 .syntax = "key group consumer min-idle-time id [id ...] [IDLE ms:integer] "
           "[TIME unix-time-milliseconds:unix-time] [RETRYCOUNT count:integer] [FORCE] [JUSTID] "
           "[LASTID lastid]"},
{ROW("xdel", -3, "stream", "5.0.0", WRITE | FAST,
     "O(log N) for each id, N being the entries of the stream",
     "Deletes entries of a stream by their ids."),
 .keys = ONE_KEY(TAKE), .syntax = "key id [id ...]"},
{ROW("xdelex", -5, "stream", "8.2.0", WRITE | FAST,
     "O(log N) for each id and group, N being the entries of the stream",
     "Deletes entries of a stream, with or without what groups have pending of them."),
 .keys = ONE_KEY(TAKE),
 .syntax = "key [<KEEPREF | DELREF | ACKED>:condition] IDS (numids:integer id [id ...]):ids"},
{CONTAINER_ROW("xgroup", "stream", "5.0.0", "Makes and changes consumer groups.")},
{ROW("xgroup|create", -5, "stream", "5.0.0", SUBCOMMAND | WRITE | DENYOOM,
     "O(N), N being the groups of the stream, of which pointers are moved",
     "Creates a consumer group."),
 .keys = KEY_AT(2, PUSH),
 .syntax = "key group <id | $:new-id>:id-selector [MKSTREAM] "
           "[ENTRIESREAD entriesread:integer=entries-read]"
           "\n@7.0.0 Takes `ENTRIESREAD`."},
{ROW("xgroup|createconsumer", 5, "stream", "6.2.0", SUBCOMMAND | WRITE | DENYOOM,
     "O(N), N being the consumers of the group, of which pointers are moved",
     "Creates a consumer in a group."),
 .keys = KEY_AT(2, PUSH), .syntax = "key group consumer"},
{ROW("xgroup|delconsumer", 5, "stream", "5.0.0", SUBCOMMAND | WRITE,
     "O(N), N being the pending entries of the consumer",
     "Deletes a consumer of a group with its pending entries."),
 .keys = KEY_AT(2, TAKE), .syntax = "key group consumer"},
{ROW("xgroup|destroy", 4, "stream", "5.0.0", SUBCOMMAND | WRITE,
     "O(N), N being the pending entries of the group", "Destroys a consumer group."),
 .keys = KEY_AT(2, TAKE), .syntax = "key group"},
{HELP_ROW("xgroup", "stream", "5.0.0")},
{ROW("xgroup|setid", -5, "stream", "5.0.0", SUBCOMMAND | WRITE,
     "O(1)", "Sets the id after which a group is given entries."),
 .keys = KEY_AT(2, CHANGE),
 .syntax = "key group <id | $:new-id>:id-selector [ENTRIESREAD entriesread:integer=entries-read]"
           "\n@7.0.0 Takes `ENTRIESREAD`."},
{ROW("xidmprecord", 5, "stream", "8.6.2", WRITE | DENYOOM | FAST,
     "O(N), N being the entries that the stream remembers of the producer",
     "Notes the id that a producer gave to an entry, for copies of streams."),
 .keys = ONE_KEY(CHANGE), .syntax = "key pid iid stream-id"},
{CONTAINER_ROW("xinfo", "stream", "5.0.0", "Describes streams.")},
{ROW("xinfo|consumers", 4, "stream", "5.0.0", SUBCOMMAND | READONLY,
     "O(N), N being the consumers of the group", "Describes the consumers of a group."),
 .tips = TIP_NONDETERMINISTIC, .keys = KEY_AT(2, READ),
 .syntax = "key group"
           "\n@7.2.0 Tells `inactive`; `idle` counts from any attempt to read."},
{ROW("xinfo|groups", 3, "stream", "5.0.0", SUBCOMMAND | READONLY,
     "O(N), N being the groups of the stream", "Describes the consumer groups of a stream."),
 .keys = KEY_AT(2, READ),
 .syntax = "key"
           "\n@7.0.0 Tells `entries-read` and `lag`."},
{HELP_ROW("xinfo", "stream", "5.0.0")},
{ROW("xinfo|stream", -3, "stream", "5.0.0", SUBCOMMAND | READONLY,
     "O(N), and O(N + M) with FULL, N being the producers that the stream knows and M the entries "
     "returned",
     "Describes a stream: its length, ids, first and last entry."),
 .keys = KEY_AT(2, READ),
 .syntax = "key [(FULL [COUNT count:integer]):full-block]"
           "\n@6.0.0 Takes `FULL`."
           "\n@7.0.0 Tells `max-deleted-entry-id`, `entries-added` and `recorded-first-entry-id`."
           "\n@7.2.0 Tells `active-time` of consumers."
           "\n@8.6.0 Tells `idmp-duration`, `idmp-maxsize`, `pids-tracked`, `iids-tracked`, "
           "`iids-added` and `iids-duplicates`."},
{ROW("xlen", 2, "stream", "5.0.0", READONLY | FAST,
     "O(1)", "Counts the entries of a stream."),
 .keys = ONE_KEY(LOOK), .syntax = "key"},
{ROW("xnack", -7, "stream", "8.8.0", WRITE | FAST,
     "O(log N) for each id, N being the pending entries of the group",
     "Gives back pending entries of a consumer group, so that nobody has them."),
 .keys = ONE_KEY(CHANGE),
 .syntax = "key group <SILENT | FAIL | FATAL>:mode IDS (numids:integer id [id ...]):ids "
           "[RETRYCOUNT count:integer] [FORCE]"},
{ROW("xpending", -3, "stream", "5.0.0", READONLY,
     "O(log N + M), N being the pending entries of the group and M those looked at; without a "
     "range O(M), M being the consumers of the group",
     "Counts or lists the pending entries of a consumer group."),
 .tips = TIP_NONDETERMINISTIC, .keys = ONE_KEY(READ),
 .syntax = "key group [([IDLE min-idle-time:integer@6.2.0] start end count:integer "
           "[consumer]):filters]"
           "\n@6.2.0 Takes `IDLE` and exclusive bounds."},
{ROW("xrange", -4, "stream", "5.0.0", READONLY,
     "O(log N + M), N being the entries of the stream and M those returned",
     "Returns the entries of a stream with ids within a range."),
 .keys = ONE_KEY(READ),
 .syntax = "key start end [COUNT count:integer]"
           "\n@6.2.0 Takes exclusive bounds."},
{ROW("xread", -4, "stream", "5.0.0", READONLY | BLOCKING | MOVABLE_KEYS,
     "O(log N + M) for each stream, N being its entries and M those returned",
     "Returns the entries of streams behind given ids, and may wait for them."),
 .keys = STREAMS_TO_READ(1),
 .syntax = "[COUNT count:integer] [MAXCOUNT maxcount:integer@8.10.0] "
           "[MAXSIZE maxsize:integer@8.10.0] [BLOCK milliseconds:integer] STREAMS "
           "(key [key ...] id [id ...]):streams"
           "\n@8.10.0 Takes `MAXCOUNT` and `MAXSIZE`."},
{ROW("xreadgroup", -7, "stream", "5.0.0", WRITE | BLOCKING | MOVABLE_KEYS,
     "O(log N + M) for each stream, N being its entries and M those returned",
     "Gives a consumer of a group new entries of streams, or those that it has pending."),
 .keys = STREAMS_TO_READ(4),
 .syntax = "GROUP (group consumer):group-block [COUNT count:integer] "
           "[MAXCOUNT maxcount:integer@8.10.0] [MAXSIZE maxsize:integer@8.10.0] "
           "[BLOCK milliseconds:integer] [CLAIM min-idle-time:integer@8.4.0] [NOACK] STREAMS "
           "(key [key ...] id [id ...]):streams"
           "\n@8.4.0 Takes `CLAIM`."
           "\n@8.10.0 Takes `MAXCOUNT` and `MAXSIZE`."},
{ROW("xrevrange", -4, "stream", "5.0.0", READONLY,
     "O(log N + M), N being the entries of the stream and M those returned",
     "Returns the entries of a stream with ids within a range, the last one first."),
 .keys = ONE_KEY(READ),
 .syntax = "key end start [COUNT count:integer]"
           "\n@6.2.0 Takes exclusive bounds."},
{ROW("xsetid", -3, "stream", "5.0.0", WRITE | DENYOOM | FAST,
     "O(1)", "Sets the last id of a stream, for copies of streams."),
 .keys = ONE_KEY(CHANGE),
 .syntax = "key last-id [ENTRIESADDED entries-added:integer@7.0.0] [MAXDELETEDID "
           "max-deleted-id@7.0.0]"
           "\n@7.0.0 Takes `ENTRIESADDED` and `MAXDELETEDID`."},
{ROW("xtrim", -4, "stream", "5.0.0", WRITE,
     "O(N), N being the entries removed; whole nodes of entries are freed at once",
     "Removes entries from the beginning of a stream."),
 .tips = TIP_NONDETERMINISTIC, .keys = ONE_KEY(TAKE),
 .syntax = "key " TRIM " " REFERENCES
           "\n@6.2.0 Takes `MINID` and `LIMIT`."
           "\n@8.2.0 Takes `KEEPREF`, `DELREF` and `ACKED`."},
};

/* clang-format on */

const struct command_family command_family_streams = FAMILY_OF(rows);
