/* quicklist_capture: a list as it was at one moment, while it goes on changing. It shares the
 * list's tree and the buffers of its nodes: what the list changes or frees of them from then on it
 * copies first, or leaves to the captured list. The two nodes at the ends are copied, unless they
 * are plain. */
#ifndef PACKLIST_DS_QUICKLIST_CAPTURE_H
#define PACKLIST_DS_QUICKLIST_CAPTURE_H

#include "ds/quicklist.h"

struct quicklist_capture;

/* Freezes a list that is not empty, and not captured already. What the list does from now on does
 * not change what is captured. Until the thaw *left is more by the bytes that the list has left to
 * it, which are still allocated. Costs the bytes of the two ends, however long the list is; from
 * then on a write to a node costs at most a few small arrays and a node more. */
struct quicklist_capture *quicklist_capture_begin(struct quicklist *list, size_t *left);

/* Is there a captured list that was not thawed? Then only the thread that thaws may change or free
 * the list. */
bool quicklist_is_captured(const struct quicklist *list);

/* Bytes that it takes beside what it shares or was left: itself, and the copies of the ends.
 * O(1). */
size_t quicklist_capture_allocated(const struct quicklist_capture *captured);

/* Visits the nodes as quicklist_visit_nodes does, from the freezing to the thaw. In any thread,
 * while another one changes the list. */
void quicklist_capture_visit(const struct quicklist_capture *captured,
                             void (*visit)(const struct quicklist_node_info *info, void *arg),
                             void *arg);

/* Ends the sharing: what the list, which may be freed by now, still uses is the list's own again;
 * it can be captured again. Returns the bytes of what it has left, by which *left becomes less. In
 * the thread that changes the list. O(1). */
size_t quicklist_capture_release(struct quicklist_capture *captured);

/* Frees what was thawed, with all that the list has left. In any thread. O(what was left). */
void quicklist_capture_free(struct quicklist_capture *captured);

#endif
