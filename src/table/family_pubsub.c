/* family_pubsub: publishing and subscribing. */
#include "table/command_row.h"

/* clang-format off */

static const struct command rows[] = {

{ROW("psubscribe", -2, "pubsub", "2.0.0", PUBSUB | NOSCRIPT | LOADING | STALE | FOR_SUBSCRIBERS,
     "O(patterns)", "Listens to all channels whose names match patterns."),
 .keys = KEYS(1, -1, CHANNEL_PATTERN), .syntax = "pattern:pattern ..."},
{ROW("publish", 3, "pubsub", "2.0.0", PUBSUB | LOADING | STALE | FAST | MAY_REPLICATE,
     "O(N + M), N being the subscribers of the channel and M all patterns that are listened to",
     "Sends a message to all clients that listen to a channel."),
 .keys = ONE_KEY(CHANNEL), .syntax = "channel message"},
{CONTAINER_ROW("pubsub", "pubsub", "2.8.0", "Shows channels, patterns and their subscribers.")},
{ROW("pubsub|channels", -2, "pubsub", "2.8.0", SUBCOMMAND | PUBSUB | LOADING | STALE,
     "O(N), N being the channels that have subscribers",
     "Names the channels that have subscribers."),
 .syntax = "[pattern:pattern]"},
{HELP_ROW("pubsub", "pubsub", "6.2.0")},
{ROW("pubsub|numpat", 2, "pubsub", "2.8.0", SUBCOMMAND | PUBSUB | LOADING | STALE,
     "O(1)", "Counts the patterns that have subscribers.")},
{ROW("pubsub|numsub", -2, "pubsub", "2.8.0", SUBCOMMAND | PUBSUB | LOADING | STALE,
     "O(channels)", "Counts the subscribers of channels."),
 .keys = KEYS(2, -1, NAMED_CHANNEL), .syntax = "[channel ...]"},
{ROW("pubsub|shardchannels", -2, "pubsub", "7.0.0", SUBCOMMAND | PUBSUB | LOADING | STALE,
     "O(N), N being the shard channels that have subscribers",
     "Names the shard channels that have subscribers."),
 .syntax = "[pattern:pattern]"},
{ROW("pubsub|shardnumsub", -2, "pubsub", "7.0.0", SUBCOMMAND | PUBSUB | LOADING | STALE,
     "O(shard channels)", "Counts the subscribers of shard channels."),
 .keys = KEYS(2, -1, NAMED_CHANNEL), .syntax = "[shardchannel ...]"},
{ROW("punsubscribe", -1, "pubsub", "2.0.0", PUBSUB | NOSCRIPT | LOADING | STALE | FOR_SUBSCRIBERS,
     "O(patterns)", "Stops listening to patterns, or to all of them."),
 .keys = KEYS(1, -1, NAMED_CHANNEL_PATTERN), .syntax = "[pattern:pattern ...]"},
{ROW("spublish", 3, "pubsub", "7.0.0", PUBSUB | LOADING | STALE | FAST | MAY_REPLICATE,
     "O(N), N being the subscribers of the shard channel",
     "Sends a message to all clients that listen to a shard channel."),
 .keys = ONE_KEY(SHARD_CHANNEL), .syntax = "shardchannel message"},
{ROW("ssubscribe", -2, "pubsub", "7.0.0", PUBSUB | NOSCRIPT | LOADING | STALE | FOR_SUBSCRIBERS,
     "O(shard channels)", "Listens to shard channels."),
 .keys = KEYS(1, -1, SHARD_CHANNEL), .syntax = "shardchannel ..."},
{ROW("subscribe", -2, "pubsub", "2.0.0", PUBSUB | NOSCRIPT | LOADING | STALE | FOR_SUBSCRIBERS,
     "O(channels)", "Listens to channels."),
 .keys = KEYS(1, -1, CHANNEL), .syntax = "channel ..."},
{ROW("sunsubscribe", -1, "pubsub", "7.0.0", PUBSUB | NOSCRIPT | LOADING | STALE | FOR_SUBSCRIBERS,
     "O(shard channels)", "Stops listening to shard channels, or to all of them."),
 .keys = KEYS(1, -1, NAMED_SHARD_CHANNEL), .syntax = "[shardchannel ...]"},
{ROW("unsubscribe", -1, "pubsub", "2.0.0", PUBSUB | NOSCRIPT | LOADING | STALE | FOR_SUBSCRIBERS,
     "O(channels)", "Stops listening to channels, or to all of them."),
 .keys = KEYS(1, -1, NAMED_CHANNEL), .syntax = "[channel ...]"},
};

/* clang-format on */

const struct command_family command_family_pubsub = FAMILY_OF(rows);
