/* rdb_list: lists in RDB form. For rdb_value.c. */
#ifndef PACKLIST_PERSIST_RDB_LIST_H
#define PACKLIST_PERSIST_RDB_LIST_H

#include "ds/quicklist_frozen.h"
#include "persist/rdb_value.h"

/* As rdb_write_value, of a list. */
void rdb_write_list(struct rdb_writer *writer, const struct entry *entry);

/* The same of one that was frozen. In any thread. */
void rdb_write_frozen_list(struct rdb_writer *writer, const struct quicklist_frozen *frozen);

/* As rdb_read_value, of the four types that lists have had. */
struct entry *rdb_read_list(struct rdb_reader *reader, unsigned type, struct slice key,
                            const struct rdb_load_options *options);

#endif
