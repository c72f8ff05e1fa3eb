/* digest: what a value or a whole dataset is, in 20 bytes: the same on every server, whatever the
 * order of keys and the encodings.
 *
 *      mix(d, bytes)   SHA-1 (d xor SHA-1 (bytes))
 *      value(d)        d mixed with the type (4 BE), then with each text of the value in order;
 *                      xor SHA-1 ("!!expire!!") when the key has an expiry
 *      key             value (mix (0, key))
 *      dataset         from 0 on, for each database that has keys: mixed with its number (4 BE),
 *                      then xor SHA-1 (key) for each key
 *
 * Source: what DEBUG DIGEST and DEBUG DIGEST-VALUE of Redis 7.0 and 8.0 and Valkey 9.1 answer. */
#ifndef PACKLIST_PERSIST_DIGEST_H
#define PACKLIST_PERSIST_DIGEST_H

#include "base/sds.h"
#include "store/entry.h"

#include <stdbool.h>

enum { DIGEST_SIZE = 20 };

/* The digest of a dataset while it is made. Lives on the caller's stack. */
struct digest {
    uint8_t bytes[DIGEST_SIZE];
    void *sha1;
};

/* Begins with that of no data. False when the system's library refuses to compute SHA-1. */
bool digest_start(struct digest *digest);

/* Frees what the digest holds. `bytes` stay. */
void digest_end(struct digest *digest);

/* The keys that follow are those of this database, which has some. Databases come in the order of
 * their numbers. O(1). */
void digest_add_database(struct digest *digest, unsigned number);

/* A key with its value. O(value). */
void digest_add_entry(struct digest *digest, const struct entry *entry);

/* The digest of a value alone, by which keys are compared that have different names. What `digest`
 * has so far is not changed. O(value). */
void digest_value(struct digest *digest, const struct entry *entry, uint8_t bytes[DIGEST_SIZE]);

/* --- For the formats of types --- */

/* Mixes bytes into `to`, of which all that follows depends: for members that have an order.
 * O(bytes). */
void digest_mix(struct digest *digest, uint8_t to[DIGEST_SIZE], struct slice bytes);

/* Adds bytes to `to`; the order of several such calls does not matter: for members that have none.
 * O(bytes). */
void digest_add(struct digest *digest, uint8_t to[DIGEST_SIZE], struct slice bytes);

/* Appends a digest in hexadecimal digits. */
sds digest_append(sds out, const uint8_t bytes[DIGEST_SIZE]);

#endif
