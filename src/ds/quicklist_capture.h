/* quicklist_capture: a list as it was at one moment, while it goes on changing. The capture shares
 * the list's tree and the buffers of its nodes: before the list changes or frees one of them, it
 * copies it, or leaves it to the capture. The two nodes at the ends are copied, unless they are
 * plain. */
#ifndef PACKLIST_DS_QUICKLIST_CAPTURE_H
#define PACKLIST_DS_QUICKLIST_CAPTURE_H

#include "ds/quicklist.h"

struct quicklist_capture;

/* Captures a list that is not empty, and not captured already. Later changes of the list do not
 * change the capture. Until the release, *left includes the bytes still allocated that the list has
 * left to the capture. Costs the bytes of the two ends, however long the list is; from then on a
 * write to a node costs at most a few small arrays and a node more. */
struct quicklist_capture *quicklist_capture_begin(struct quicklist *list, size_t *left);

/* Returns whether the list has a capture that was not released. If so, only the thread that
 * releases it may change or free the list. O(1). */
bool quicklist_is_captured(const struct quicklist *list);

/* Bytes allocated for the capture besides shared and left memory: itself, and the copies of the
 * ends. O(1). */
size_t quicklist_capture_allocated(const struct quicklist_capture *captured);

/* Visits the nodes as quicklist_visit_nodes does, until the release. In any thread, while another
 * one changes the list. O(nodes). */
void quicklist_capture_visit(const struct quicklist_capture *captured,
                             void (*visit)(const struct quicklist_node_info *info, void *arg),
                             void *arg);

/* Ends the sharing: the list, which may be freed already, owns again all memory that it still uses,
 * and can be captured again. Returns the bytes by which *left becomes smaller. In the thread that
 * changes the list. O(1). */
size_t quicklist_capture_release(struct quicklist_capture *captured);

/* Frees a released capture, with all that the list left to it. In any thread. O(what was left). */
void quicklist_capture_free(struct quicklist_capture *captured);

#endif
