/* skiplist_capture: a skiplist as it was at one moment, while it goes on changing. The two share
 * nodes and long members (ds/pieces.h): a change costs at most one node more. Of the list itself
 * the capture copies the table of nodes alone: 8 bytes for about 3 KB of members. The table has no
 * order: the thread that reads sorts the nodes. */
#ifndef PACKLIST_DS_SKIPLIST_CAPTURE_H
#define PACKLIST_DS_SKIPLIST_CAPTURE_H

#include "ds/capture.h"
#include "ds/skiplist.h"

/* Captures a list that is not empty and not captured (ds/capture.h). Until the release *left is
 * larger by the bytes that only the capture still needs. O(nodes), at memory speed. */
struct capture *skiplist_capture_begin(struct skiplist *list, size_t *left);

/* Returns whether there is a capture that was not released. O(1). */
bool skiplist_is_captured(const struct skiplist *list);

/* The members that were captured. O(1). */
uint64_t skiplist_capture_count(const struct capture *capture);

/* Visits all members from the last to the first. From begin to release, in any thread, in one
 * thread at a time. O(n + nodes log nodes). */
void skiplist_capture_visit(struct capture *capture,
                            void (*visit)(struct slice member, double score, void *arg), void *arg);

#endif
