/* checked: assertions that only builds with CHECKED=1 contain: those on the path of every command,
 * and those that take longer than O(1). A plain assert() is part of every build. */
#ifndef PACKLIST_BASE_CHECKED_H
#define PACKLIST_BASE_CHECKED_H

#include <assert.h>

/* In other builds the condition is compiled, but not evaluated. */
#ifdef PACKLIST_CHECKED
#define CHECKED_ASSERT(condition) assert(condition)
#else
#define CHECKED_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#endif

#endif
