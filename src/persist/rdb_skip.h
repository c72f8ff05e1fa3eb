/* rdb_skip: which type of value each form in RDB files holds; skips those that this server does
 * not support. */
#ifndef PACKLIST_PERSIST_RDB_SKIP_H
#define PACKLIST_PERSIST_RDB_SKIP_H

#include "persist/rdb_reader.h"

/* Returns the enum value_type of values in this form (an enum rdb_type, or any byte); VALUE_TYPES
 * when there is none. */
unsigned rdb_type_holds(unsigned type);

/* Returns the name of that type, or of one that only other servers have, for messages: "set",
 * "stream", …; NULL when it is unknown. Static text. */
const char *rdb_type_name(unsigned type);

/* Returns whether values of this type, which no type_format reads, can be skipped: those of
 * modules. Others do not show where they end. */
bool rdb_can_skip_value(unsigned type);

/* Skips such a value. Returns false when the reader fails. Decompresses and keeps nothing.
 * O(value). */
bool rdb_skip_value(struct rdb_reader *reader, unsigned type);

/* The same for items that are not keys: functions, data of modules and of slots. What some opcodes
 * mean depends on whether a Valkey has written the file. */
const char *rdb_foreign_name(unsigned opcode, bool is_valkey);
bool rdb_can_skip_foreign(unsigned opcode, bool is_valkey);
bool rdb_skip_foreign(struct rdb_reader *reader, unsigned opcode, bool is_valkey);

/* Skips what follows RDB_SLOT_INFO: a slot, and how many keys it has. */
bool rdb_skip_slot_info(struct rdb_reader *reader);

#endif
