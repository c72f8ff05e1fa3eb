/* aof_manifest: which files an append-only file consists of, and in what order they are read.
 *
 *      file appendonly.aof.2.base.rdb seq 2 type b         all data at some time, at most one
 *      file appendonly.aof.1.incr.aof seq 1 type h         history: about to be deleted
 *      file appendonly.aof.2.incr.aof seq 2 type i         the commands since, oldest first
 *
 * Each file has one line, with pairs of key and value, separated by spaces. Names with spaces or
 * unprintable bytes are in double quotes, with escapes. The parser skips lines that begin with #,
 * and ignores unknown pairs ("startoffset 12" of Redis 8). The format is that of Redis since 7.0,
 * and its tools can read it.
 *
 * Pure: text in, struct out. */
#ifndef PACKLIST_PERSIST_AOF_MANIFEST_H
#define PACKLIST_PERSIST_AOF_MANIFEST_H

#include "base/text/sds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum aof_file_type { AOF_FILE_BASE, AOF_FILE_HISTORY, AOF_FILE_INCR };

struct aof_file {
    sds name; /* a name in the folder of the append-only file, never a path */
    int64_t seq;
    enum aof_file_type type;
};

/* The highest sequence number that is accepted, so that higher ones remain for new files. */
#define AOF_MANIFEST_SEQ_MAX (INT64_MAX / 2)

/* Must be all zero before the first call. The files have the order of their lines: base, history,
 * increments by ascending sequence number. */
struct aof_manifest {
    struct aof_file *files;
    size_t count;
    size_t capacity;
    int64_t base_seq; /* highest number used so far, also by the history; 0: none */
    int64_t incr_seq;
};

/* Parses a manifest into one that is all zero. On an error returns false, leaves the manifest
 * empty, and sets *error to a text with the line number, which the caller frees. O(text). */
bool aof_manifest_parse(struct aof_manifest *manifest, struct slice text, sds *error);

/* Returns the text of the manifest; the caller frees it. O(files). */
sds aof_manifest_format(const struct aof_manifest *manifest);

void aof_manifest_copy(struct aof_manifest *copy, const struct aof_manifest *manifest);
void aof_manifest_free(struct aof_manifest *manifest);

/* Return the base, and the last increment; NULL if there is none. Views into the manifest. */
const struct aof_file *aof_manifest_base(const struct aof_manifest *manifest);
const struct aof_file *aof_manifest_last(const struct aof_manifest *manifest);

/* Returns whether the manifest has a file of this name, in any role. O(files). */
bool aof_manifest_names(const struct aof_manifest *manifest, struct slice name);

/* Returns the name of a base: "<prefix>.<seq>.base.rdb", or .aof if it holds commands. The caller
 * frees it. */
sds aof_manifest_base_name(const char *prefix, int64_t seq, bool is_rdb);

/* Add a file with the next sequence number of its type, and return it: a base, named by
 * aof_manifest_base_name, or an increment "<prefix>.<seq>.incr.aof". A former base becomes history.
 * O(files). */
const struct aof_file *aof_manifest_add_base(struct aof_manifest *manifest, const char *prefix,
                                             bool is_rdb);
const struct aof_file *aof_manifest_add_incr(struct aof_manifest *manifest, const char *prefix);

/* Adds a base that has a name already: the append-only file of Redis before 7. */
const struct aof_file *aof_manifest_adopt_base(struct aof_manifest *manifest, const char *name);

/* Makes all increments history, except for the last `keep`. */
void aof_manifest_retire_incrs(struct aof_manifest *manifest, size_t keep);

/* Removes the history from the manifest. */
void aof_manifest_drop_history(struct aof_manifest *manifest);

#endif
