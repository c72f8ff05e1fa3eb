#include "persist/digest.h"

#include <openssl/evp.h>

/* --- SHA-1 --- */

/* The library's functions cannot fail once SHA-1 has been chosen. */
static void sha1(struct digest *digest, const void *bytes, size_t len, uint8_t out[DIGEST_SIZE]) {
    EVP_DigestInit_ex(digest->sha1, NULL, NULL);
    EVP_DigestUpdate(digest->sha1, bytes, len);
    EVP_DigestFinal_ex(digest->sha1, out, NULL);
}

bool digest_start(struct digest *digest) {
    *digest = (struct digest){.sha1 = EVP_MD_CTX_new()};
    if (digest->sha1 && EVP_DigestInit_ex(digest->sha1, EVP_sha1(), NULL)) return true;
    digest_end(digest);
    return false;
}

void digest_sum_piece(struct digest *digest, struct slice piece) {
    EVP_DigestUpdate(digest->sha1, piece.ptr, piece.len);
}

void digest_sum_end(struct digest *digest) {
    EVP_DigestFinal_ex(digest->sha1, digest->bytes, NULL);
}

void digest_end(struct digest *digest) {
    EVP_MD_CTX_free(digest->sha1);
    digest->sha1 = NULL;
}

/* --- Adding --- */

void digest_add(struct digest *digest, uint8_t to[DIGEST_SIZE], struct slice bytes) {
    uint8_t hash[DIGEST_SIZE];
    sha1(digest, bytes.ptr, bytes.len, hash);
    for (size_t i = 0; i < DIGEST_SIZE; i++) to[i] ^= hash[i];
}

void digest_mix(struct digest *digest, uint8_t to[DIGEST_SIZE], struct slice bytes) {
    digest_add(digest, to, bytes);
    sha1(digest, to, DIGEST_SIZE, to);
}

void digest_mix_number(struct digest *digest, uint8_t to[DIGEST_SIZE], uint32_t number) {
    const uint8_t bytes[4] = {(uint8_t)(number >> 24), (uint8_t)(number >> 16),
                              (uint8_t)(number >> 8), (uint8_t)number};
    digest_mix(digest, to, slice_make(bytes, sizeof(bytes)));
}

sds digest_append(sds out, const uint8_t bytes[DIGEST_SIZE]) {
    for (size_t i = 0; i < DIGEST_SIZE; i++) out = sds_append_format(out, "%02x", bytes[i]);
    return out;
}
