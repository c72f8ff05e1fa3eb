/* publish: messages of channels to the clients that listen to them. */
#ifndef PACKLIST_SESSION_PUBLISH_H
#define PACKLIST_SESSION_PUBLISH_H

#include "base/slice.h"
#include "session/pubsub.h"
#include "session/session.h"
#include "store/event.h"

struct engine;

/* Sends a message to all clients that listen to a channel, or to a shard channel. Returns how many
 * times it was sent. O(subscribers + patterns): its bytes are made once for each protocol and
 * topic. */
size_t publish(struct engine *engine, enum pubsub_kind kind, struct slice channel,
               struct slice message);

/* Publishes an event of a key to the channels that notify-keyspace-events selects (K, E). The
 * caller has checked that it selects the class of the event. */
void publish_keyspace_event(struct engine *engine, int database, const char *event,
                            struct slice key);

/* Publishes an event of fields of a hash to the channels that notify-keyspace-events selects (S, T,
 * I, V). O(fields). */
void publish_field_event(struct engine *engine, int database, const char *event, struct slice key,
                         struct event_fields fields);

/* Adds or ends a subscription of the session. Returns false when there was one, or none, already.
 * O(1). */
bool publish_subscribe(struct session *session, enum pubsub_kind kind, struct slice name);
bool publish_unsubscribe(struct session *session, enum pubsub_kind kind, struct slice name);

/* Ends all subscriptions of the session, without a reply to it. O(its subscriptions). */
void publish_leave(struct session *session);

/* Ends the subscriptions to all shard channels for which `stays` returns false, and tells their
 * clients (sunsubscribe). May close sessions that are over their output limits. O(shard channels
 * and subscriptions that end). */
void publish_keep_shard_channels(struct engine *engine,
                                 bool (*stays)(struct slice channel, void *arg), void *arg);

/* Returns the number of the session's subscriptions of a kind. O(1). */
size_t publish_count(const struct session *session, enum pubsub_kind kind);

#endif
