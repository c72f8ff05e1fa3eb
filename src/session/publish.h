/* publish: messages to the clients that listen. */
#ifndef PACKLIST_SESSION_PUBLISH_H
#define PACKLIST_SESSION_PUBLISH_H

#include "base/slice.h"
#include "session/pubsub.h"
#include "session/session.h"

#include <stdint.h>

struct engine;

/* Sends a message to all who listen to a channel, or to a shard channel; returns how many times
 * it was sent. O(subscribers + patterns): its bytes are made once for each protocol and topic. */
size_t publish(struct engine *engine, enum pubsub_kind kind, struct slice channel,
               struct slice message);

/* Publishes what happened to a key, to the channels that notify-keyspace-events names (K, E).
 * The caller has asked for the class of the event. */
void publish_event(struct engine *engine, int database, const char *event, struct slice key);

/* The session begins or ends listening. False when it did, or did not, already. O(1). */
bool publish_subscribe(struct session *session, enum pubsub_kind kind, struct slice name);
bool publish_unsubscribe(struct session *session, enum pubsub_kind kind, struct slice name);

/* It ends all its subscriptions, without a word to it. */
void publish_leave(struct session *session);

/* Its subscriptions of a kind. O(1). */
size_t publish_count(const struct session *session, enum pubsub_kind kind);

#endif
