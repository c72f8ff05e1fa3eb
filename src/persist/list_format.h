/* list_format: captured lists in RDB form. */
#ifndef PACKLIST_PERSIST_LIST_FORMAT_H
#define PACKLIST_PERSIST_LIST_FORMAT_H

#include "ds/quicklist_frozen.h"
#include "persist/rdb_writer.h"

/* As rdb_write_value, of a list that was frozen. In any thread. */
void rdb_write_frozen_list(struct rdb_writer *writer, const struct quicklist_frozen *frozen);

#endif
