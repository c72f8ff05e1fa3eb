/* stream_producers_format: what streams know of their producers, in RDB files and as commands, for
 * persist/stream_format.c, which has the form of a stream before it.
 *
 *      producers    [seconds] [iids] [producers] producer … [added] [duplicates]
 *      producer     name [iids] (iid [ms] [seq]) …                       the oldest iid first
 *
 * The first two numbers are the limits. Source: DUMP of Redis 8.6 and 8.10. */
#ifndef PACKLIST_PERSIST_STREAM_PRODUCERS_FORMAT_H
#define PACKLIST_PERSIST_STREAM_PRODUCERS_FORMAT_H

#include "ds/streamlog.h"
#include "persist/rdb_reader.h"
#include "persist/rdb_writer.h"

/* Writes the producers. O(iids). */
void stream_producers_write(struct rdb_writer *writer, const struct producers_image *image);

/* Writes the commands that make them; `image` NULL: none. The counters are lost. O(iids). */
void stream_producers_write_commands(struct rdb_writer *writer, struct slice key,
                                     const struct producers_image *image);

/* Reads the producers into a log that has none; it still has none if nothing says more than these
 * limits. Returns false when the reader has failed: no producer and no iid of one may be there
 * twice, none may be empty, and the limits must be within their bounds. O(iids), and for each
 * O(iids of its producer). */
bool stream_producers_read(struct rdb_reader *reader, struct streamlog *log,
                           struct producers_limits limits);

#endif
