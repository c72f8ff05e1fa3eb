/* value: what is common to the values of all types. */
#ifndef PACKLIST_TYPES_VALUE_H
#define PACKLIST_TYPES_VALUE_H

#include "base/sds.h"
#include "store/entry.h"

/* "string", "list", …: what TYPE answers. Static. */
const char *value_type_name(enum value_type type);

/* What OBJECT ENCODING answers: "listpack", "quicklist", "int", "embstr", "raw". Static. */
const char *value_encoding_name(const struct entry *entry);

/* Frees the entry with everything its value owns. */
void value_free(struct entry *entry);

/* Bytes the entry and everything its value owns take, as allocated. O(1). */
size_t value_allocated(const struct entry *entry);

#endif
