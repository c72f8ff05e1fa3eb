/* pubsub: see the drawing in pubsub.h.
 *
 *      topic          first ─→ subscription ⇄ subscription …   (oldest first)
 *                     patterns: prev, next in the list of patterns
 *      subscription   subscriber · topic ┊ prev, next (of the topic) · prev_own, next_own
 *                     └──── its key ─────┘
 *
 * Invariants: a topic is in its table exactly while it has a subscription, or is pinned because
 * messages to it are being delivered; each subscription is in its topic's list, in its
 * subscriber's list of that kind and in the table of subscriptions; counts are the lengths of
 * those lists. */
#include "session/pubsub.h"

#include "base/chain.h"
#include "base/memory/alloc.h"
#include "base/text/glob.h"

#include <assert.h>

/* The key of a subscription in its table. */
struct pair {
    const struct subscriber *subscriber;
    const struct topic *topic;
};

struct subscription {
    struct subscriber *subscriber; /* begins like struct pair */
    struct topic *topic;
    struct subscription *prev;
    struct subscription *next;
    struct subscription *prev_own;
    struct subscription *next_own;
};

static_assert(offsetof(struct subscription, subscriber) == offsetof(struct pair, subscriber) &&
                  offsetof(struct subscription, topic) == offsetof(struct pair, topic),
              "a subscription begins with its key");

static struct slice pair_of_item(const void *item) {
    return slice_make(item, sizeof(struct pair));
}

static const struct hashtable_type subscription_type = {.key = pair_of_item};

void pubsub_init(struct pubsub *pubsub) {
    *pubsub = (struct pubsub){.subscriptions = hashtable_new(&subscription_type)};
    keytable_init(&pubsub->topics, PUBSUB_KINDS);
}

void pubsub_free(struct pubsub *pubsub) {
    keytable_free(&pubsub->topics);
    hashtable_free(pubsub->subscriptions);
}

/* --- Topics --- */

struct topic *pubsub_find(const struct pubsub *pubsub, enum pubsub_kind kind, struct slice name) {
    return keytable_find(&pubsub->topics, kind, name);
}

static struct topic *find_or_add_topic(struct pubsub *pubsub, enum pubsub_kind kind,
                                       struct slice name) {
    struct topic *topic = keytable_find_or_add(&pubsub->topics, kind, name, sizeof(*topic));
    bool is_new = !topic->first;
    if (kind == PUBSUB_PATTERN && is_new)
        CHAIN_APPEND(pubsub->first_pattern, pubsub->last_pattern, topic, prev, next);
    return topic;
}

static void free_topic_if_idle(struct pubsub *pubsub, struct topic *topic) {
    if (topic->first || topic->is_pinned) return;
    if (topic->key.space == PUBSUB_PATTERN)
        CHAIN_REMOVE(pubsub->first_pattern, pubsub->last_pattern, topic, prev, next);
    keytable_delete(&pubsub->topics, topic);
}

/* --- Subscriptions --- */

static hashtable_slot *find_subscription(const struct pubsub *pubsub,
                                         const struct subscriber *subscriber,
                                         const struct topic *topic, uint64_t *hash) {
    struct pair pair = {subscriber, topic};
    *hash = hashtable_hash(pair_of_item(&pair));
    return hashtable_find(pubsub->subscriptions, pair_of_item(&pair), *hash);
}

static size_t bytes_of(const struct topic *topic) {
    return sizeof(struct subscription) + sizeof(*topic) + topic->key.name.len;
}

bool pubsub_subscribe(struct pubsub *pubsub, struct subscriber *subscriber, enum pubsub_kind kind,
                      struct slice name) {
    uint64_t hash;
    struct topic *topic = find_or_add_topic(pubsub, kind, name);
    if (find_subscription(pubsub, subscriber, topic, &hash)) return false;
    if (!pubsub_is_subscribed(subscriber)) pubsub->subscriber_count++;
    struct subscription *subscription = mem_alloc(sizeof(*subscription));
    *subscription = (struct subscription){.subscriber = subscriber, .topic = topic};
    CHAIN_APPEND(topic->first, topic->last, subscription, prev, next);
    topic->count++;
    CHAIN_APPEND(subscriber->first[kind], subscriber->last[kind], subscription, prev_own, next_own);
    subscriber->count[kind]++;
    hashtable_insert(pubsub->subscriptions, subscription, hash);
    subscriber->allocated += bytes_of(topic);
    return true;
}

static void end_subscription(struct pubsub *pubsub, hashtable_slot *slot, uint64_t hash) {
    struct subscription *subscription = hashtable_item(*slot);
    struct subscriber *subscriber = subscription->subscriber;
    struct topic *topic = subscription->topic;
    int kind = topic->key.space;
    hashtable_delete(pubsub->subscriptions, slot, hash);
    CHAIN_REMOVE(topic->first, topic->last, subscription, prev, next);
    topic->count--;
    CHAIN_REMOVE(subscriber->first[kind], subscriber->last[kind], subscription, prev_own, next_own);
    subscriber->count[kind]--;
    subscriber->allocated -= bytes_of(topic);
    if (!pubsub_is_subscribed(subscriber)) pubsub->subscriber_count--;
    mem_free(subscription);
    free_topic_if_idle(pubsub, topic);
}

bool pubsub_unsubscribe(struct pubsub *pubsub, struct subscriber *subscriber, enum pubsub_kind kind,
                        struct slice name) {
    uint64_t hash;
    const struct topic *topic = pubsub_find(pubsub, kind, name);
    hashtable_slot *slot = topic ? find_subscription(pubsub, subscriber, topic, &hash) : NULL;
    if (!slot) return false;
    end_subscription(pubsub, slot, hash);
    return true;
}

struct slice pubsub_oldest(const struct subscriber *subscriber, enum pubsub_kind kind) {
    return subscriber->first[kind]->topic->key.name;
}

bool pubsub_all(const struct subscriber *subscriber,
                bool (*allows)(enum pubsub_kind kind, struct slice name, void *arg), void *arg) {
    for (int kind = 0; kind < PUBSUB_KINDS; kind++)
        for (const struct subscription *at = subscriber->first[kind]; at; at = at->next_own)
            if (!allows((enum pubsub_kind)kind, at->topic->key.name, arg)) return false;
    return true;
}

void pubsub_leave(struct pubsub *pubsub, struct subscriber *subscriber) {
    for (int kind = 0; kind < PUBSUB_KINDS; kind++) {
        while (subscriber->first[kind]) {
            uint64_t hash;
            const struct topic *topic = subscriber->first[kind]->topic;
            hashtable_slot *slot = find_subscription(pubsub, subscriber, topic, &hash);
            end_subscription(pubsub, slot, hash);
        }
    }
}

/* --- Messages --- */

/* The topic stays until all subscribers got the message, even if they leave. A subscriber that
 * leaves removes only its own subscription from the list, so the next one stays. */
static size_t deliver_through(struct topic *topic, pubsub_deliver_function *deliver, void *arg) {
    size_t count = 0;
    struct subscription *next;
    topic->is_pinned = true;
    for (struct subscription *at = topic->first; at; at = next, count++) {
        next = at->next;
        deliver(at->subscriber, topic, arg);
    }
    topic->is_pinned = false;
    return count;
}

size_t pubsub_deliver(struct pubsub *pubsub, enum pubsub_kind kind, struct slice channel,
                      pubsub_deliver_function *deliver, void *arg) {
    size_t count = 0;
    struct topic *topic = pubsub_find(pubsub, kind, channel);
    if (topic) {
        count += deliver_through(topic, deliver, arg);
        free_topic_if_idle(pubsub, topic);
    }
    if (kind != PUBSUB_CHANNEL) return count;
    struct topic *next;
    for (topic = pubsub->first_pattern; topic; topic = next) {
        next = topic->next;
        if (!glob_match(topic->key.name, channel, false)) continue;
        count += deliver_through(topic, deliver, arg);
        next = topic->next; /* the pattern's only subscriber may just have left */
        free_topic_if_idle(pubsub, topic);
    }
    return count;
}

size_t pubsub_topic_count(const struct pubsub *pubsub, enum pubsub_kind kind) {
    return hashtable_count(pubsub->topics.spaces[kind]);
}

/* --- Check --- */

static bool check_subscription(const struct pubsub *pubsub, const struct subscription *at) {
    uint64_t hash;
    enum pubsub_kind kind = at->topic->key.space;
    hashtable_slot *slot = find_subscription(pubsub, at->subscriber, at->topic, &hash);
    if (!slot || hashtable_item(*slot) != at) return false;
    const struct subscription *prev = at->prev_own, *next = at->next_own;
    return (prev ? prev->next_own : at->subscriber->first[kind]) == at &&
           (next ? next->prev_own : at->subscriber->last[kind]) == at;
}

static bool check_topic(const struct pubsub *pubsub, const struct topic *topic) {
    size_t count = 0;
    const struct subscription *prev = NULL;
    for (const struct subscription *at = topic->first; at; prev = at, at = at->next) {
        if (at->topic != topic || at->prev != prev || !check_subscription(pubsub, at)) return false;
        count++;
    }
    return topic->last == prev && topic->count == count && (count > 0 || topic->is_pinned);
}

static bool check_patterns(const struct pubsub *pubsub) {
    size_t count = 0;
    const struct topic *prev = NULL;
    for (const struct topic *at = pubsub->first_pattern; at; prev = at, at = at->next) {
        if (at->key.space != PUBSUB_PATTERN || at->prev != prev) return false;
        count++;
    }
    return pubsub->last_pattern == prev && count == pubsub_topic_count(pubsub, PUBSUB_PATTERN);
}

bool pubsub_check(const struct pubsub *pubsub) {
    size_t subscriptions = 0;
    for (int kind = 0; kind < PUBSUB_KINDS; kind++) {
        struct hashtable_iter iter;
        const struct topic *topic;
        if (!hashtable_check(pubsub->topics.spaces[kind])) return false;
        hashtable_iter_start(&iter, pubsub->topics.spaces[kind]);
        while ((topic = hashtable_iter_next(&iter))) {
            if (topic->key.space != kind || !check_topic(pubsub, topic)) return false;
            subscriptions += topic->count;
        }
    }
    return check_patterns(pubsub) && hashtable_check(pubsub->subscriptions) &&
           subscriptions == hashtable_count(pubsub->subscriptions);
}
