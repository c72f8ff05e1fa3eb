/* aof_manifest: which files the append-only file consists of, and in what order they are read.
 *
 *      file appendonly.aof.2.base.rdb seq 2 type b         the data at some time, at most one
 *      file appendonly.aof.1.incr.aof seq 1 type h         history: not needed any more
 *      file appendonly.aof.2.incr.aof seq 2 type i         the commands since, oldest first
 *
 * A line for each file, pairs of key and value separated by blanks, in this order; names with
 * blanks or bytes that cannot be printed stand in double quotes with escapes; lines that begin with
 * # are skipped, and pairs that are not known ("startoffset 12" of Redis 8) are ignored. The format
 * is the one of Redis since 7.0, whose tools read it.
 *
 * Pure: text in, struct out. Private to callers are only the allocations. */
#ifndef PACKLIST_PERSIST_AOF_MANIFEST_H
#define PACKLIST_PERSIST_AOF_MANIFEST_H

#include "base/sds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum aof_file_type { AOF_FILE_BASE, AOF_FILE_HISTORY, AOF_FILE_INCR };

struct aof_file {
    sds name; /* within the folder of the append-only file: never a path */
    int64_t seq;
    enum aof_file_type type;
};

/* Sequence numbers that are read are no higher, so that there are always some left to be given. */
#define AOF_MANIFEST_SEQ_MAX (INT64_MAX / 2)

/* All zero at first. The files stand in the order of their lines: base, history, increments by
 * ascending sequence number. */
struct aof_manifest {
    struct aof_file *files;
    size_t count;
    size_t capacity;
    int64_t base_seq; /* none that was given out is higher, also in the history; 0: none */
    int64_t incr_seq;
};

/* Reads a manifest into one that is all zero. False when it makes no sense: then it is empty again
 * and *error (the caller's) says why, and in which line. O(text). */
bool aof_manifest_parse(struct aof_manifest *manifest, struct slice text, sds *error);

/* The text; the caller's. */
sds aof_manifest_format(const struct aof_manifest *manifest);

void aof_manifest_copy(struct aof_manifest *copy, const struct aof_manifest *manifest);
void aof_manifest_free(struct aof_manifest *manifest);

/* The base, or the last increment; NULL when there is none. */
const struct aof_file *aof_manifest_base(const struct aof_manifest *manifest);
const struct aof_file *aof_manifest_last(const struct aof_manifest *manifest);

/* Adds a file at its place with the given sequence number, which must be the next one of its type,
 * or, for a base, any: "<prefix>.<seq>.base.rdb" (or .aof, in which the base holds commands), or
 * "<prefix>.<seq>.incr.aof". A base that was there becomes history. */
const struct aof_file *aof_manifest_add_base(struct aof_manifest *manifest, const char *prefix,
                                             bool is_rdb);
const struct aof_file *aof_manifest_add_incr(struct aof_manifest *manifest, const char *prefix);

/* The same for a base that has a name of its own already (an append-only file from before there
 * were manifests). */
const struct aof_file *aof_manifest_adopt_base(struct aof_manifest *manifest, const char *name);

/* Makes history of all increments but the last `keep`. */
void aof_manifest_retire_incrs(struct aof_manifest *manifest, size_t keep);

/* Forgets the history. */
void aof_manifest_drop_history(struct aof_manifest *manifest);

#endif
