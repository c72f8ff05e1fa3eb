/* check: files are read, what was found is printed, and, where that is wanted and possible, a file
 * of commands that is damaged is cut where it is still whole. */
#ifndef PACKLIST_CHECK_CHECK_H
#define PACKLIST_CHECK_CHECK_H

#include <stdbool.h>

struct check_options {
    bool fix;
    bool yes;               /* without asking */
    bool for_other_servers; /* what only Packlist cannot load is good */
};

/* Checks a snapshot, an append-only file, or the manifest of one with all the files that it names.
 * Prints lines about it on standard output. True when a Packlist server will load it, now: all is
 * well, and there is nothing in it that the server does not have (but see for_other_servers). */
bool check_path(const struct check_options *options, const char *path);

#endif
