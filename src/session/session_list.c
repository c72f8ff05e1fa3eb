#include "session/session_list.h"

#include "base/chain.h"
#include "ds/hashtable.h"
#include "engine/client.h"

#include <assert.h>

static struct slice key_of_id(const uint64_t *id) {
    return slice_make((const char *)id, sizeof(*id));
}

static struct slice key_of_item(const void *item) {
    return key_of_id(&((const struct session *)item)->id);
}

void session_list_init(struct session_list *list) {
    static const struct hashtable_type type = {.key = key_of_item};
    list->by_id = hashtable_new(&type);
}

void session_list_free(struct session_list *list) {
    hashtable_free(list->by_id);
}

void session_list_add(struct session_list *list, struct session *session) {
    assert(!session_list_find(list, session->id));
    CHAIN_APPEND(list->first, list->last, session, prev, next);
    list->count++;
    hashtable_insert(list->by_id, session, hashtable_hash(key_of_item(session)));
}

void session_list_remove(struct session_list *list, struct session *session) {
    CHAIN_REMOVE(list->first, list->last, session, prev, next);
    list->count--;
    uint64_t hash = hashtable_hash(key_of_item(session));
    hashtable_delete(list->by_id, hashtable_find_item(list->by_id, session, hash), hash);
}

struct session *session_list_find(const struct session_list *list, uint64_t id) {
    struct slice key = key_of_id(&id);
    hashtable_slot *slot = hashtable_find(list->by_id, key, hashtable_hash(key));
    return slot ? hashtable_item(*slot) : NULL;
}

void session_list_queue(struct session_list *list, struct session *session) {
    if (session->flags & SESSION_RESUME) return;
    session->flags |= SESSION_RESUME;
    CHAIN_APPEND(list->resume_first, list->resume_last, session, resume_prev, resume_next);
}

void session_list_unqueue(struct session_list *list, struct session *session) {
    if (!(session->flags & SESSION_RESUME)) return;
    CHAIN_REMOVE(list->resume_first, list->resume_last, session, resume_prev, resume_next);
    session->flags &= ~(uint32_t)SESSION_RESUME;
}
