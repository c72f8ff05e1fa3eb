/* entry_digest: 20 bytes that identify a value or a whole dataset. They are the same on every
 * server, whatever the order of keys and the encodings.
 *
 *      value(d)        d mixed (digest.h) with the type (4 BE), then with each text of the value in
 *                      order; SHA-1 ("!!expire!!") added when the key has an expiry
 *      key             value (mix (0, key))
 *      dataset         from 0 on, for each database that has keys: mixed with its number (4 BE),
 *                      then each key added
 *
 * Source: the replies of DEBUG DIGEST and DEBUG DIGEST-VALUE of Redis 7.0 and 8.0 and Valkey
 * 9.1. */
#ifndef PACKLIST_PERSIST_ENTRY_DIGEST_H
#define PACKLIST_PERSIST_ENTRY_DIGEST_H

#include "persist/digest.h"
#include "store/entry.h"

/* Begins a database of a dataset, which must have keys; its keys follow. Call in the order of the
 * numbers. O(1). */
void entry_digest_add_database(struct digest *digest, unsigned number);

/* Adds a key with its value. O(value). */
void entry_digest_add(struct digest *digest, const struct entry *entry);

/* Computes the digest of a value alone, which compares values of keys with different names. Does
 * not change the bytes of `digest`. O(value). */
void entry_digest_of_value(struct digest *digest, const struct entry *entry,
                           uint8_t bytes[DIGEST_SIZE]);

#endif
