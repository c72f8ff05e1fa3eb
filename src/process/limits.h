/* limits: what the system allows this process. */
#ifndef PACKLIST_PROCESS_LIMITS_H
#define PACKLIST_PROCESS_LIMITS_H

#include "base/sds.h"

#include <stdbool.h>
#include <stdint.h>

/* Raises the limit of open files so that *clients connections fit beside the server's own files.
 * False when the system does not allow that many: then the limit is as high as may be, *clients
 * is the number that fits (at least 1) and *why (owned by the caller) says so in one line. Never
 * lowers the limit. */
bool limits_raise_files(int64_t *clients, sds *why);

#endif
