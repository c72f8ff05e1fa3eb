/* session_list: all sessions, oldest first and by their numbers; and the queue of sessions to be
 * resumed.
 *
 *      first ── session 3 ── session 4 ── session 9 ── last
 *
 * The links are members of the sessions; the list owns none of them. */
#ifndef PACKLIST_SESSION_SESSION_LIST_H
#define PACKLIST_SESSION_SESSION_LIST_H

#include <stddef.h>
#include <stdint.h>

struct session_list {
    struct session *first;
    struct session *last;
    size_t count;
    struct hashtable *by_id;
    struct session *resume_first; /* the queue of sessions to resume before the loop sleeps */
    struct session *resume_last;
};

/* Sets up a list that is all zero; frees the memory of an empty one. */
void session_list_init(struct session_list *list);
void session_list_free(struct session_list *list);

/* Adds a session, whose id is set and that is in no list, at the end; removes it. O(1). */
void session_list_add(struct session_list *list, struct session *session);
void session_list_remove(struct session_list *list, struct session *session);

/* Returns the session of that number, or NULL. O(1). */
struct session *session_list_find(const struct session_list *list, uint64_t id);

/* Adds a session at the end of the queue to resume, or removes it. SESSION_RESUME says whether it
 * is in the queue; nothing is done if it already is, or is not. O(1). */
void session_list_queue(struct session_list *list, struct session *session);
void session_list_unqueue(struct session_list *list, struct session *session);

#endif
