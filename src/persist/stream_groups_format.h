/* stream_groups_format: the consumer groups of streams in RDB files and as commands, for
 * persist/stream_format.c, which has the form of a stream around them.
 *
 *      groups       [groups] group …
 *      group        name [last id] [entries read] [pending] pending … [consumers] consumer …
 *      pending      [ms 8 BE] [seq 8 BE] [delivered 8 LE] [deliveries]
 *      consumer     name [seen 8 LE] [active 8 LE] [ids] ([ms 8 BE] [seq 8 BE]) …
 *
 * In RDB_STREAM_LISTPACKS_5 the ids that nobody has follow the consumers, as those of a consumer.
 *
 * Here entries that nobody has (XNACK) are written as those of a consumer without a name, which was
 * never seen (0) nor active (-1): other servers show it.
 *
 * Entries read are there from RDB_STREAM_LISTPACKS_2 on, and -1 is the greatest length; when a
 * consumer was active, from RDB_STREAM_LISTPACKS_3 on. Deliveries and entries read may be beyond
 * INT64_MAX in files of other servers: they are read as INT64_MAX. Source: DUMP and files of Redis
 * 7.0 to 8.10 and Valkey 9.1. */
#ifndef PACKLIST_PERSIST_STREAM_GROUPS_FORMAT_H
#define PACKLIST_PERSIST_STREAM_GROUPS_FORMAT_H

#include "ds/streams/streamlog.h"
#include "persist/digest.h"
#include "persist/rdb_reader.h"
#include "persist/rdb_writer.h"

/* Writes the groups as in a stream of this enum rdb_type. O(groups). */
void stream_groups_write(struct rdb_writer *writer, unsigned type,
                         const struct consumer_groups *groups);

/* Writes the commands that create the groups of a stream that exists. O(groups). */
void stream_groups_write_commands(struct rdb_writer *writer, struct slice key,
                                  const struct consumer_groups *groups);

/* Mixes the groups into a digest: for each, in the order of names, its name, last id and entries
 * read; its pending entries with the names of their consumers and their deliveries; and the names
 * of its consumers. The times of deliveries and consumers are left out. Pending entries that belong
 * to no consumer count as those of a consumer without a name, as in files. O(groups). */
void stream_groups_digest(struct digest *digest, uint8_t to[DIGEST_SIZE],
                          const struct consumer_groups *groups);

/* Reads the groups of a stream of this enum rdb_type into a log without groups. Returns false when
 * the reader has failed: each pending entry must belong to one consumer, and nothing may be there
 * twice. O(groups). */
bool stream_groups_read(struct rdb_reader *reader, unsigned type, struct streamlog *log);

#endif
