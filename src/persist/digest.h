/* digest: 20 bytes that identify a value or a whole dataset. They are the same on every server,
 * whatever the order of keys and the encodings.
 *
 *      mix(d, bytes)   SHA-1 (d xor SHA-1 (bytes))
 *      value(d)        d mixed with the type (4 BE), then with each text of the value in order;
 *                      xor SHA-1 ("!!expire!!") when the key has an expiry
 *      key             value (mix (0, key))
 *      dataset         from 0 on, for each database that has keys: mixed with its number (4 BE),
 *                      then xor SHA-1 (key) for each key
 *
 * Source: the replies of DEBUG DIGEST and DEBUG DIGEST-VALUE of Redis 7.0 and 8.0 and Valkey
 * 9.1. */
#ifndef PACKLIST_PERSIST_DIGEST_H
#define PACKLIST_PERSIST_DIGEST_H

#include "base/sds.h"
#include "store/entry.h"

#include <stdbool.h>

enum { DIGEST_SIZE = 20 };

/* A digest that is being computed. Lives on the caller's stack. */
struct digest {
    uint8_t bytes[DIGEST_SIZE];
    void *sha1;
};

/* Starts with the digest of an empty dataset. Returns false when the system's library refuses to
 * compute SHA-1. */
bool digest_start(struct digest *digest);

/* Frees the digest's memory; `bytes` stays valid. */
void digest_end(struct digest *digest);

/* Begins a database, which must have keys; its keys follow. Call in the order of the numbers.
 * O(1). */
void digest_add_database(struct digest *digest, unsigned number);

/* Adds a key with its value. O(value). */
void digest_add_entry(struct digest *digest, const struct entry *entry);

/* Computes the digest of a value alone, which compares values of keys with different names. Does
 * not change the bytes of `digest`. O(value). */
void digest_value(struct digest *digest, const struct entry *entry, uint8_t bytes[DIGEST_SIZE]);

/* --- For the formats of types --- */

/* Mixes bytes into `to`, for members that have an order. O(bytes). */
void digest_mix(struct digest *digest, uint8_t to[DIGEST_SIZE], struct slice bytes);

/* Adds bytes to `to`, for members without an order: the order of calls does not matter.
 * O(bytes). */
void digest_add(struct digest *digest, uint8_t to[DIGEST_SIZE], struct slice bytes);

/* Appends a digest as hexadecimal digits. Returns `out`, which may have moved. */
sds digest_append(sds out, const uint8_t bytes[DIGEST_SIZE]);

#endif
