/* repair: cuts off the bytes after the last whole command of a file. */
#ifndef PACKLIST_CHECK_REPAIR_H
#define PACKLIST_CHECK_REPAIR_H

#include "check/check.h"

#include <stdint.h>

/* Cuts the file of `size` bytes to its first `whole`, after asking on the terminal unless
 * options->yes. Prints what it does on standard output. Returns whether that is done and has
 * reached the disk. */
bool repair_cut(const struct check_options *options, const char *path, uint64_t size,
                uint64_t whole);

#endif
