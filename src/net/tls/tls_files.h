/* tls_files: the files from which a TLS context is made. */
#ifndef PACKLIST_NET_TLS_TLS_FILES_H
#define PACKLIST_NET_TLS_TLS_FILES_H

#include "net/tls/tls_context.h"

/* Returns a number that tells the state of all files that the options name: another one when a file
 * was changed, replaced, added or removed, or a symbolic link leads elsewhere; the same otherwise.
 * Looks at inodes, sizes and times, not into files, and at no more than 1024 of those in ca_dir.
 * Blocks; any thread. */
uint64_t tls_files_state(const struct tls_options *options);

/* Copies the options with their texts, for another thread. */
struct tls_options tls_options_copy(const struct tls_options *options);

/* Frees the texts of such a copy, and overwrites the password. */
void tls_options_free(struct tls_options *options);

#endif
