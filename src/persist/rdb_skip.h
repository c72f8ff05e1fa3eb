/* rdb_skip: names and skips values of RDB files whose type this server does not support. */
#ifndef PACKLIST_PERSIST_RDB_SKIP_H
#define PACKLIST_PERSIST_RDB_SKIP_H

#include "persist/rdb_reader.h"

/* Returns the name of the type (an enum rdb_type, or any byte) for messages: "set", "stream", …;
 * NULL when it is unknown. Static text. */
const char *rdb_type_name(unsigned type);

/* Skips a value of any type that has a name. `valkey`: the file has Valkey's own version, in which
 * RDB_HASH_2 has another form. Returns false when the reader fails, and for types whose form does
 * not show where they end. Decompresses and keeps nothing. O(value). */
bool rdb_skip_value(struct rdb_reader *reader, unsigned type, bool valkey);

/* The same for items that are no keys: functions, data of modules and of slots. */
const char *rdb_foreign_name(unsigned opcode);
bool rdb_skip_foreign(struct rdb_reader *reader, unsigned opcode);

#endif
