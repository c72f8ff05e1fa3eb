/* rdb_digest: what the fuzz targets of values compare: one number per key. */
#ifndef PACKLIST_TESTS_FUZZ_RDB_DIGEST_H
#define PACKLIST_TESTS_FUZZ_RDB_DIGEST_H

#include "store/entry.h"

/* Aborts, naming what does not hold. Not assert: this must hold in every build. */
void require(bool holds, const char *what);

/* Adds a word or bytes to a digest; the order counts. */
uint64_t digest_word(uint64_t digest, uint64_t word);
uint64_t digest_bytes(uint64_t digest, struct slice bytes);

/* The digest of key, expiry, type and value, whatever its layout: how the elements of a list are
 * spread over nodes, and which of these are compressed, is not in it. Aborts when the entry's
 * invariant does not hold. */
uint64_t digest_entry(const struct entry *entry);

#endif
