/* check: reads files, prints what it found, and, on request and where possible, cuts a damaged file
 * of commands after its last whole command. */
#ifndef PACKLIST_CHECK_CHECK_H
#define PACKLIST_CHECK_CHECK_H

#include <stdbool.h>

struct check_options {
    bool fix;
    bool yes;               /* without asking */
    bool for_other_servers; /* accept data that only Packlist cannot load */
};

/* Checks a snapshot, an append-only file, or the manifest of one with all the files that it names.
 * Prints lines about it on standard output. Returns whether a Packlist server can now load it: all
 * is well, and it holds only what the server supports (but see for_other_servers). O(bytes). */
bool check_path(const struct check_options *options, const char *path);

#endif
