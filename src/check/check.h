/* check: files are read, what was found is printed, and, where that is wanted and possible, a file
 * of commands that is damaged is cut where it is still whole. */
#ifndef PACKLIST_CHECK_CHECK_H
#define PACKLIST_CHECK_CHECK_H

#include <stdbool.h>

struct check_options {
    bool fix;
    bool yes; /* without asking */
};

/* Checks a snapshot, an append-only file, or the manifest of one with all the files that it names.
 * Prints lines about it on standard output. True when all is well, or is so now. */
bool check_path(const struct check_options *options, const char *path);

#endif
