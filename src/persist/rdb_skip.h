/* rdb_skip: names of the types of values in RDB files; skips those that this server does not
 * support. */
#ifndef PACKLIST_PERSIST_RDB_SKIP_H
#define PACKLIST_PERSIST_RDB_SKIP_H

#include "persist/rdb_reader.h"

/* Returns the name of the type (an enum rdb_type, or any byte) for messages: "set", "stream", …;
 * NULL when it is unknown. Static text. */
const char *rdb_type_name(unsigned type);

/* Skips a value of a type that no type_format reads: a module's. Returns false when the
 * reader fails, for types whose form does not show where they end, and for all others. Decompresses
 * and keeps nothing. O(value). */
bool rdb_skip_value(struct rdb_reader *reader, unsigned type);

/* Skips `groups` consumer groups, which follow a stream of this enum rdb_type. */
bool rdb_skip_groups(struct rdb_reader *reader, unsigned type, uint64_t groups);

/* The same for items that are not keys: functions, data of modules and of slots. */
const char *rdb_foreign_name(unsigned opcode);
bool rdb_skip_foreign(struct rdb_reader *reader, unsigned opcode);

#endif
