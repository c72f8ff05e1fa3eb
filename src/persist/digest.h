/* digest: SHA-1 sums that texts are added to, with or without an order. What identifies a value or
 * a dataset is built of them: type_format.h.
 *
 *      add(d, bytes)   d xor SHA-1 (bytes)
 *      mix(d, bytes)   SHA-1 (add (d, bytes)) */
#ifndef PACKLIST_PERSIST_DIGEST_H
#define PACKLIST_PERSIST_DIGEST_H

#include "base/text/sds.h"

#include <stdbool.h>
#include <stdint.h>

enum { DIGEST_SIZE = 20 };

/* A digest that is being computed. Lives on the caller's stack. */
struct digest {
    uint8_t bytes[DIGEST_SIZE];
    void *sha1;
};

/* Starts with zeros, the digest of an empty dataset. Returns false when the system's library
 * refuses to compute SHA-1. */
bool digest_start(struct digest *digest);

/* The SHA-1 itself of bytes that come in pieces: each piece, then the sum into `bytes`, once after
 * digest_start and before anything else. O(bytes). */
void digest_sum_piece(struct digest *digest, struct slice piece);
void digest_sum_end(struct digest *digest);

/* Frees the digest's memory; `bytes` stays valid. */
void digest_end(struct digest *digest);

/* Mixes bytes into `to`, for members that have an order. O(bytes). */
void digest_mix(struct digest *digest, uint8_t to[DIGEST_SIZE], struct slice bytes);

/* Mixes in the four bytes of a number, the highest one first. O(1). */
void digest_mix_number(struct digest *digest, uint8_t to[DIGEST_SIZE], uint32_t number);

/* Adds bytes to `to`, for members without an order: the order of calls does not matter.
 * O(bytes). */
void digest_add(struct digest *digest, uint8_t to[DIGEST_SIZE], struct slice bytes);

/* Appends a digest as hexadecimal digits. Returns `out`, which may have moved. */
sds digest_append(sds out, const uint8_t bytes[DIGEST_SIZE]);

#endif
