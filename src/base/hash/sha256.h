/* sha256: SHA-256 (FIPS 180-4), by which passwords are kept. */
#ifndef PACKLIST_BASE_HASH_SHA256_H
#define PACKLIST_BASE_HASH_SHA256_H

#include "base/text/sds.h"

enum { SHA256_SIZE = 32, SHA256_HEX = 2 * SHA256_SIZE };

/* Writes the digest of `bytes`. Aborts if the library refuses, which it does not: a caller that
 * compares digests never compares with garbage. O(bytes). */
void sha256(uint8_t digest[SHA256_SIZE], struct slice bytes);

/* Appends the digest's lower-case hexadecimal digits. */
sds sha256_append_hex(sds out, const uint8_t digest[SHA256_SIZE]);

/* Reads such digits. False, leaving *digest undefined, when the text is anything else: another
 * length, or a capital. */
bool sha256_parse_hex(uint8_t digest[SHA256_SIZE], struct slice text);

/* Returns whether both are equal, in a time that does not depend on where they differ. */
bool sha256_equal(const uint8_t a[SHA256_SIZE], const uint8_t b[SHA256_SIZE]);

#endif
