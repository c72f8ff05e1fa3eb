/* value_limits: the limits of all encodings, in one struct, so that code which handles values
 * of any type (loading, DUMP, commands) passes on those of every type. */
#ifndef PACKLIST_TYPES_VALUE_LIMITS_H
#define PACKLIST_TYPES_VALUE_LIMITS_H

#include "ds/quicklist.h"

struct value_limits {
    struct quicklist_limits list; /* list-max-listpack-size, list-compress-depth */
};

/* The default limits of the directives. */
static const struct value_limits value_limits_default = {.list = {.fill = -2}};

#endif
