/* pubsub_commands: the SUBSCRIBE and UNSUBSCRIBE commands, PUBLISH, SPUBLISH, PUBSUB. */
#include "base/text/glob.h"
#include "engine/engine.h"
#include "replication/history/history.h"
#include "requests/client_commands.h"
#include "resp/reply.h"
#include "session/clients.h"
#include "session/outbox.h"
#include "session/publish.h"
#include "session/session.h"
#include "table/command.h"

/* --- SUBSCRIBE, UNSUBSCRIBE --- */

/* Returns where to write confirmations. These are messages, not replies, so they are sent even if
 * the client does not want replies. */
static struct reply *confirmations(struct call *call) {
    struct session *session = call_session(call);
    if (!(session->flags & (SESSION_REPLY_OFF | SESSION_REPLY_SKIP))) return call->reply;
    return outbox_messages(session);
}

/* Returns the number of subscriptions that a confirmation shows; shard channels are counted
 * separately. */
static int64_t subscription_count(const struct session *session, enum pubsub_kind kind) {
    if (kind == PUBSUB_SHARD) return (int64_t)publish_count(session, kind);
    return (int64_t)(publish_count(session, PUBSUB_CHANNEL) +
                     publish_count(session, PUBSUB_PATTERN));
}

/* Confirms that a subscription has begun or ended; `name` is NULL when there was none to end. */
static void confirm(struct call *call, const char *event, const struct slice *name, int64_t count) {
    struct reply *reply = confirmations(call);
    reply_push(reply, 3);
    reply_bulk_cstr(reply, event);
    if (name)
        reply_bulk(reply, *name);
    else
        reply_null(reply);
    reply_integer(reply, count);
}

static void subscribe(struct call *call, enum pubsub_kind kind, const char *event) {
    struct session *session = call_session(call);
    for (size_t i = 1; i < call->argc; i++) {
        publish_subscribe(session, kind, call->argv[i]);
        confirm(call, event, &call->argv[i], subscription_count(session, kind));
    }
}

/* Without names ends all subscriptions one after the other, oldest first. A client without any gets
 * one confirmation, without a name. */
static void unsubscribe(struct call *call, enum pubsub_kind kind, const char *event) {
    struct session *session = call_session(call);
    for (size_t i = 1; i < call->argc; i++) {
        publish_unsubscribe(session, kind, call->argv[i]);
        confirm(call, event, &call->argv[i], subscription_count(session, kind));
    }
    if (call->argc > 1) return;
    size_t count = publish_count(session, kind);
    if (count == 0) confirm(call, event, NULL, subscription_count(session, kind));
    for (; count > 0; count--) {
        struct slice name = pubsub_oldest(session->subscriber, kind);
        confirm(call, event, &name, subscription_count(session, kind) - 1);
        publish_unsubscribe(session, kind, name);
    }
}

COMMAND_FORM(subscribe_command, subscribe, PUBSUB_CHANNEL, "subscribe")
COMMAND_FORM(psubscribe_command, subscribe, PUBSUB_PATTERN, "psubscribe")
COMMAND_FORM(unsubscribe_command, unsubscribe, PUBSUB_CHANNEL, "unsubscribe")
COMMAND_FORM(punsubscribe_command, unsubscribe, PUBSUB_PATTERN, "punsubscribe")
COMMAND_FORM(sunsubscribe_command, unsubscribe, PUBSUB_SHARD, "sunsubscribe")

/* Unlike SUBSCRIBE and PSUBSCRIBE, not allowed in a transaction. */
void ssubscribe_command(struct call *call) {
    if (call_may_block(call))
        subscribe(call, PUBSUB_SHARD, "ssubscribe");
    else
        reply_error(call->reply, "ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client");
}

/* --- PUBLISH --- */

/* Clients of replicas get the message, too. */
static void publish_everywhere(struct call *call, enum pubsub_kind kind) {
    reply_integer(call->reply, (int64_t)publish(call->engine, kind, call->argv[1], call->argv[2]));
    struct slice name = command_has_renames() ? command_own_name(call->command) : call->argv[0];
    const struct slice words[] = {name, call->argv[1], call->argv[2]};
    history_append(call->engine, words, 3);
}

COMMAND_FORM(publish_command, publish_everywhere, PUBSUB_CHANNEL)
COMMAND_FORM(spublish_command, publish_everywhere, PUBSUB_SHARD)

/* --- PUBSUB --- */

/* Replies the names that match the pattern, or all names without one. */
static void answer_names(struct call *call, enum pubsub_kind kind) {
    if (!call_has_at_most(call, 3)) return;
    const struct slice *pattern = call->argc == 3 ? &call->argv[2] : NULL;
    size_t mark = reply_begin(call->reply), count = 0;
    struct hashtable_iter iter;
    const struct topic *topic;
    hashtable_iter_start(&iter, call->engine->clients->pubsub.topics.spaces[kind]);
    while ((topic = hashtable_iter_next(&iter))) {
        if (pattern && !glob_match(*pattern, topic->key.name, false)) continue;
        reply_bulk(call->reply, topic->key.name);
        count++;
    }
    reply_array_end(call->reply, mark, count);
}

/* Replies each name with the number of its subscribers. */
static void answer_counts(struct call *call, enum pubsub_kind kind) {
    reply_array(call->reply, (call->argc - 2) * 2);
    for (size_t i = 2; i < call->argc; i++) {
        const struct topic *topic =
            pubsub_find(&call->engine->clients->pubsub, kind, call->argv[i]);
        reply_bulk(call->reply, call->argv[i]);
        reply_integer(call->reply, topic ? (int64_t)topic->count : 0);
    }
}

COMMAND_FORM(pubsub_channels_command, answer_names, PUBSUB_CHANNEL)
COMMAND_FORM(pubsub_shardchannels_command, answer_names, PUBSUB_SHARD)
COMMAND_FORM(pubsub_numsub_command, answer_counts, PUBSUB_CHANNEL)
COMMAND_FORM(pubsub_shardnumsub_command, answer_counts, PUBSUB_SHARD)

void pubsub_numpat_command(struct call *call) {
    reply_integer(call->reply,
                  (int64_t)pubsub_topic_count(&call->engine->clients->pubsub, PUBSUB_PATTERN));
}

COMMAND_FORM(pubsub_help_command, call_help,
             "CHANNELS [<pattern>]\n"
             "    Name the channels that have subscribers (and that match the pattern).\n"
             "NUMPAT\n"
             "    Count the patterns that have subscribers.\n"
             "NUMSUB [<channel> ...]\n"
             "    Count the subscribers of each channel; those of patterns do not count.\n"
             "SHARDCHANNELS [<pattern>]\n"
             "    Name the shard channels that have subscribers (and that match the pattern).\n"
             "SHARDNUMSUB [<shardchannel> ...]\n"
             "    Count the subscribers of each shard channel.\n")
