/* pubsub: who listens to what.
 *
 *      channels  "news" ──┬─ subscription ── subscriber A ─┐
 *                         └─ subscription ── subscriber B  │ A's subscriptions, by kind
 *      patterns  "n*"   ──── subscription ── subscriber A ─┘
 *      shard channels …
 *
 * A topic is a channel, a pattern or a shard channel that somebody listens to. Three tables find
 * topics by their names, and a fourth one finds a subscription by its subscriber and topic, so
 * subscribing and unsubscribing are O(1) however many of either there are. Patterns stand in a list
 * besides, in the order in which they came. Knows no session and no protocol, so that it can be
 * tested alone. */
#ifndef PACKLIST_SESSION_PUBSUB_H
#define PACKLIST_SESSION_PUBSUB_H

#include "base/slice.h"
#include "ds/hashtable.h"
#include "engine/keytable.h"

#include <stdbool.h>
#include <stddef.h>

struct subscription;
struct topic;

enum pubsub_kind { PUBSUB_CHANNEL, PUBSUB_PATTERN, PUBSUB_SHARD, PUBSUB_KINDS };

struct pubsub {
    struct keytable topics; /* a space per kind */
    struct hashtable *subscriptions;
    struct topic *first_pattern;
    struct topic *last_pattern;
    size_t subscriber_count; /* those who listen to anything */
};

/* All zero at first but for the owner. Stays where it is while it listens to anything. */
struct subscriber {
    void *owner; /* for who delivers messages */
    struct subscription *first[PUBSUB_KINDS];
    struct subscription *last[PUBSUB_KINDS];
    size_t count[PUBSUB_KINDS];
    size_t allocated; /* bytes of his subscriptions, names included */
};

void pubsub_init(struct pubsub *pubsub);

/* Nobody may be listening any more. */
void pubsub_free(struct pubsub *pubsub);

/* Begins or ends listening. False when he did, or did not, already. O(1). */
bool pubsub_subscribe(struct pubsub *pubsub, struct subscriber *subscriber, enum pubsub_kind kind,
                      struct slice name);
bool pubsub_unsubscribe(struct pubsub *pubsub, struct subscriber *subscriber, enum pubsub_kind kind,
                        struct slice name);

/* What he has listened to longest, of a kind that he listens to. The name is valid as long as
 * anybody listens to it. O(1). */
struct slice pubsub_oldest(const struct subscriber *subscriber, enum pubsub_kind kind);

/* Ends all of them. O(his subscriptions). */
void pubsub_leave(struct pubsub *pubsub, struct subscriber *subscriber);

/* Does he listen to anything at all? */
static inline bool subscriber_is_active(const struct subscriber *subscriber) {
    return subscriber->count[PUBSUB_CHANNEL] + subscriber->count[PUBSUB_PATTERN] +
               subscriber->count[PUBSUB_SHARD] >
           0;
}

/* Called for each who is to get a message, and through which topic: the channel itself, or a
 * pattern that matches it. May let that subscriber leave, but no other one, and nobody may
 * subscribe meanwhile. */
typedef void pubsub_deliver_function(struct subscriber *subscriber, const struct topic *topic,
                                     void *arg);

/* Finds all who get a message to a channel: its subscribers, oldest subscription first, then, if
 * `kind` is PUBSUB_CHANNEL, those of matching patterns. Returns how many times `deliver` was
 * called: somebody may be met through several topics. O(subscribers found + patterns). */
size_t pubsub_deliver(struct pubsub *pubsub, enum pubsub_kind kind, struct slice channel,
                      pubsub_deliver_function *deliver, void *arg);

enum pubsub_kind topic_kind(const struct topic *topic);
struct slice topic_name(const struct topic *topic);
size_t topic_subscribers(const struct topic *topic);

/* Topics of a kind; the one of that name, or NULL. O(1). */
size_t pubsub_topic_count(const struct pubsub *pubsub, enum pubsub_kind kind);
const struct topic *pubsub_find(const struct pubsub *pubsub, enum pubsub_kind kind,
                                struct slice name);

/* Walks all topics of a kind in no order; NULL at the end. Nothing may change meanwhile. */
void pubsub_iter_start(struct hashtable_iter *iter, const struct pubsub *pubsub,
                       enum pubsub_kind kind);
const struct topic *pubsub_iter_next(struct hashtable_iter *iter);

/* Could a message to any channel be delivered at all? O(1). */
static inline bool pubsub_has_listeners(const struct pubsub *pubsub) {
    return pubsub->first_pattern || hashtable_count(pubsub->topics.spaces[PUBSUB_CHANNEL]) > 0;
}

/* The executable invariant. O(all subscriptions). */
bool pubsub_check(const struct pubsub *pubsub);

/* Memory of the subscriber (NULL: none) with its subscriptions. O(1). */
static inline size_t pubsub_allocated(const struct subscriber *subscriber) {
    return subscriber ? sizeof(*subscriber) + subscriber->allocated : 0;
}

#endif
