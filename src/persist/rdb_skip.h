/* rdb_skip: what is in RDB files that we have no type for: what it is called, and how to get past
 * it. */
#ifndef PACKLIST_PERSIST_RDB_SKIP_H
#define PACKLIST_PERSIST_RDB_SKIP_H

#include "persist/rdb_reader.h"

/* What the type (an enum rdb_type, or any byte) is called in messages: "set", "stream", …; NULL
 * when it is unknown. Static. */
const char *rdb_type_name(unsigned type);

/* Leaves a value out; any type that has a name. `valkey`: the file is one of Valkey's own version,
 * where RDB_HASH_2 has another form. False when the reader has failed: also for types whose form
 * does not tell where it ends. O(value); nothing is unpacked or kept. */
bool rdb_skip_value(struct rdb_reader *reader, unsigned type, bool valkey);

/* The same for what is no key: functions, data of modules, of slots. */
const char *rdb_foreign_name(unsigned opcode);
bool rdb_skip_foreign(struct rdb_reader *reader, unsigned opcode);

#endif
