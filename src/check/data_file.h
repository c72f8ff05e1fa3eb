/* data_file: reads a file with data from its beginning to its end, or to where it is wrong:
 *
 *      [snapshot, in RDB form] [commands of an append-only file]            either, or both     */
#ifndef PACKLIST_CHECK_DATA_FILE_H
#define PACKLIST_CHECK_DATA_FILE_H

#include "base/text/sds.h"
#include "check/progress.h"

#include <stdbool.h>
#include <stdint.h>

/* The most keys and other things named in `foreign_names`. */
enum { FINDING_NAMES_MAX = 10 };

/* What was found. */
struct finding {
    bool has_snapshot;
    unsigned version; /* of its format */
    uint64_t databases;
    uint64_t keys;
    uint64_t expiring;  /* of them */
    uint64_t empty;     /* keys without elements, which a Packlist server leaves out */
    uint64_t libraries; /* of functions */
    uint64_t foreign; /* keys of types, and other things, that a Packlist server does not have … */
    uint64_t others;  /* … the latter of them … */
    sds foreign_names;         /* … in words, the first few */
    uint64_t foreign_commands; /* that a Packlist server does not run from a file … */
    sds foreign_command;       /* … the first one, and where it stands */
    uint64_t commands;         /* those of transactions included */
    uint64_t transactions;
    uint64_t whole;    /* the file is whole up to here */
    bool can_be_cut;   /* there: it holds commands after that */
    sds wrong;         /* NULL: nothing; else what, and near which key of which database … */
    uint64_t wrong_at; /* … and at which byte */
};

/* Reads the file from its beginning. The caller ends with finding_free. Needs memory only for the
 * largest value or command. O(bytes). */
void data_file_read(int fd, struct progress *progress, struct finding *finding);
void finding_free(struct finding *finding);

#endif
