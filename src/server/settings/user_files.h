/* user_files: where users are kept: in the ACL file, or in lines of the configuration. */
#ifndef PACKLIST_SERVER_SETTINGS_USER_FILES_H
#define PACKLIST_SERVER_SETTINGS_USER_FILES_H

#include "base/text/sds.h"

#include <stdbool.h>

struct engine;

/* Makes the users at the start: the default user with requirepass, then those of the
 * configuration's lines or of the ACL file. Returns false with *error (the caller's) when one of
 * them is wrong, or both are there; then there are no users. */
bool user_files_start(struct engine *engine, sds *error);

/* Makes the users those of the ACL file (ACL LOAD), which there must be. Returns false with *error
 * (the caller's), and nothing has changed, when it cannot be read or a line is wrong. Sessions are
 * for the caller to tell. O(file). */
bool user_files_load(struct engine *engine, sds *error);

/* Writes the users to the ACL file (ACL SAVE), which there must be. Returns false when that fails:
 * the log says why, and the old file is still there. Blocks on the disk. */
bool user_files_save(struct engine *engine);

/* config_rewrite_file with the lines of users. Those whose line is in another file are left to
 * it. */
bool user_files_rewrite_config(struct engine *engine, const char *path, bool all);

#endif
