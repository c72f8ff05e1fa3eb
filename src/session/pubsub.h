/* pubsub: the registry of subscriptions.
 *
 *      channels  "news" ──┬─ subscription ── subscriber A ─┐
 *                         └─ subscription ── subscriber B  │ A's subscriptions, by kind
 *      patterns  "n*"   ──── subscription ── subscriber A ─┘
 *      shard channels …
 *
 * A topic is a channel, a pattern or a shard channel that has a subscriber. Three tables find
 * topics by their names, and a fourth one finds a subscription by its subscriber and topic, so
 * subscribing and unsubscribing are O(1), however many there are of either. Patterns are also in a
 * list, in the order in which they came. It knows no session and no protocol. */
#ifndef PACKLIST_SESSION_PUBSUB_H
#define PACKLIST_SESSION_PUBSUB_H

#include "base/slice.h"
#include "ds/hashtable.h"
#include "engine/keytable.h"

#include <stdbool.h>
#include <stddef.h>

enum pubsub_kind { PUBSUB_CHANNEL, PUBSUB_PATTERN, PUBSUB_SHARD, PUBSUB_KINDS };

/* Only pubsub.c writes to it. */
struct topic {
    struct keytable_key key; /* its space is the topic's kind */
    struct subscription *first;
    struct subscription *last;
    size_t count;
    struct topic *prev; /* in the list of patterns */
    struct topic *next;
    bool is_pinned;
};

struct pubsub {
    struct keytable topics; /* struct topic; one space per kind */
    struct hashtable *subscriptions;
    struct topic *first_pattern;
    struct topic *last_pattern;
    size_t subscriber_count; /* those with at least one subscription */
};

/* All zero at first, except for the owner. Must not move while it has subscriptions. */
struct subscriber {
    void *owner; /* for the function that delivers messages */
    struct subscription *first[PUBSUB_KINDS];
    struct subscription *last[PUBSUB_KINDS];
    size_t count[PUBSUB_KINDS];
    size_t allocated; /* bytes of its subscriptions, names included */
};

/* Makes an empty registry; freed with pubsub_free. */
void pubsub_init(struct pubsub *pubsub);

/* Frees the tables; no subscription may be left. */
void pubsub_free(struct pubsub *pubsub);

/* Adds or ends a subscription. Returns false when there was one, or none, already. O(1). */
bool pubsub_subscribe(struct pubsub *pubsub, struct subscriber *subscriber, enum pubsub_kind kind,
                      struct slice name);
bool pubsub_unsubscribe(struct pubsub *pubsub, struct subscriber *subscriber, enum pubsub_kind kind,
                        struct slice name);

/* Returns the name of the subscriber's oldest subscription of a kind; there must be one. The name
 * is valid until the topic's last subscription ends. O(1). */
struct slice pubsub_oldest(const struct subscriber *subscriber, enum pubsub_kind kind);

/* Returns whether all subscriptions of the subscriber are allowed: `allows` is asked with the kind
 * and the name of each, until it returns false. O(its subscriptions). */
bool pubsub_all(const struct subscriber *subscriber,
                bool (*allows)(enum pubsub_kind kind, struct slice name, void *arg), void *arg);

/* Ends all subscriptions of the subscriber. O(its subscriptions). */
void pubsub_leave(struct pubsub *pubsub, struct subscriber *subscriber);

/* Returns whether the subscriber has any subscription. O(1). */
static inline bool pubsub_is_subscribed(const struct subscriber *subscriber) {
    return subscriber->count[PUBSUB_CHANNEL] + subscriber->count[PUBSUB_PATTERN] +
               subscriber->count[PUBSUB_SHARD] >
           0;
}

/* Called for each subscriber that gets a message, with the topic that matches: the channel itself,
 * or a pattern. It may end subscriptions of that subscriber but of no other one, and may not add
 * any. */
typedef void pubsub_deliver_function(struct subscriber *subscriber, const struct topic *topic,
                                     void *arg);

/* Calls `deliver` for all subscribers of a channel, oldest subscription first, and then, if `kind`
 * is PUBSUB_CHANNEL, for those of matching patterns. Returns the number of calls: a subscriber gets
 * the message once for each of its topics that match. O(subscribers found + patterns). */
size_t pubsub_deliver(struct pubsub *pubsub, enum pubsub_kind kind, struct slice channel,
                      pubsub_deliver_function *deliver, void *arg);

/* Return the number of topics of a kind; the topic of that name, or NULL. O(1). */
size_t pubsub_topic_count(const struct pubsub *pubsub, enum pubsub_kind kind);
struct topic *pubsub_find(const struct pubsub *pubsub, enum pubsub_kind kind, struct slice name);

/* Returns whether there is any subscription that could get a message. O(1). */
static inline bool pubsub_has_subscribers(const struct pubsub *pubsub) {
    return pubsub->first_pattern || hashtable_count(pubsub->topics.spaces[PUBSUB_CHANNEL]) > 0;
}

/* Checks the invariants. O(all subscriptions). */
bool pubsub_check(const struct pubsub *pubsub);

/* Returns the bytes that the subscriber (NULL: none) and its subscriptions take. O(1). */
static inline size_t pubsub_allocated(const struct subscriber *subscriber) {
    return subscriber ? sizeof(*subscriber) + subscriber->allocated : 0;
}

#endif
