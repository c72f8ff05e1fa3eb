/* quicklist_capture: a list as it was at one moment, while it goes on changing. The capture shares
 * the list's tree and the buffers of its nodes: before the list changes or frees one of them, it
 * copies it, or leaves it to the capture. The two nodes at the ends are copied, unless they are
 * plain. */
#ifndef PACKLIST_DS_QUICKLIST_CAPTURE_H
#define PACKLIST_DS_QUICKLIST_CAPTURE_H

#include "ds/capture.h"
#include "ds/quicklist.h"

/* Captures a list that is not empty, and not captured already (ds/capture.h). Until the release,
 * *left includes the bytes still allocated that the list has left to the capture. Costs the bytes
 * of the two ends, however long the list is; from then on a write to a node costs at most a few
 * small arrays and a node more. */
struct capture *quicklist_capture_begin(struct quicklist *list, size_t *left);

/* Returns whether the list has a capture that was not released. O(1). */
bool quicklist_is_captured(const struct quicklist *list);

/* Visits the nodes as quicklist_visit_nodes does, until the release. In any thread, while another
 * one changes the list. O(nodes). */
void quicklist_capture_visit(const struct capture *capture,
                             void (*visit)(const struct quicklist_node_info *info, void *arg),
                             void *arg);

#endif
