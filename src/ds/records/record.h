/* record: what large and small sets and hashes consist of: a field alone, or with a value; it may
 * expire. */
#ifndef PACKLIST_DS_RECORDS_RECORD_H
#define PACKLIST_DS_RECORDS_RECORD_H

#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum { RECORD_NEVER = -1 }; /* the expiry of a record that has none */

/* A view of a record: valid until what holds it changes. */
struct record {
    struct slice field;
    struct slice value; /* empty where there are no values */
    int64_t expiry_ms;  /* since the epoch, or RECORD_NEVER */
};

static inline bool record_has_expired(const struct record *record, int64_t now_ms) {
    return record->expiry_ms != RECORD_NEVER && record->expiry_ms < now_ms;
}

/* Which texts of a record are asked for. */
enum record_parts { RECORD_FIELD = 1, RECORD_VALUE = 2 };

#endif
