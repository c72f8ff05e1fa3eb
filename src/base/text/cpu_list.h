/* cpu_list: lists of processors as text, such as 0,2-5,8-15:2 — single ones, ranges, and every n-th
 * one of a range. */
#ifndef PACKLIST_BASE_TEXT_CPU_LIST_H
#define PACKLIST_BASE_TEXT_CPU_LIST_H

#include "base/slice.h"

#include <stdbool.h>

enum { CPU_LIST_MAX = 1024 }; /* processors have numbers below */

/* Sets is_in[n] for each processor n of the list, and clears the others. Returns whether the list
 * is well-formed; the empty one is. O(CPU_LIST_MAX + text). */
bool cpu_list_parse(struct slice text, bool is_in[CPU_LIST_MAX]);

#endif
