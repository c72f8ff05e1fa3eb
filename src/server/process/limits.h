/* limits: limits that the system sets for this process. */
#ifndef PACKLIST_SERVER_PROCESS_LIMITS_H
#define PACKLIST_SERVER_PROCESS_LIMITS_H

#include "base/text/sds.h"

#include <stdbool.h>
#include <stdint.h>

/* Raises the limit of open files to fit *clients connections and the server's own files. Returns
 * false when the system allows fewer: the limit is then as high as possible, *clients is the number
 * that fits (at least 1), and *why says so in one line (the caller frees it). Never lowers the
 * limit. */
bool limits_raise_files(int64_t *clients, sds *why);

#endif
