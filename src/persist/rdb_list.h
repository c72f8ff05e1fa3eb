/* rdb_list: lists in RDB form. For rdb_value.c. */
#ifndef PACKLIST_PERSIST_RDB_LIST_H
#define PACKLIST_PERSIST_RDB_LIST_H

#include "persist/rdb_value.h"

/* As rdb_write_value, of a list. */
void rdb_write_list(struct rdb_writer *writer, const struct entry *entry);

/* As rdb_read_value, of the four types that lists have had. */
struct entry *rdb_read_list(struct rdb_reader *reader, unsigned type, struct slice key,
                            const struct rdb_load_options *options);

#endif
