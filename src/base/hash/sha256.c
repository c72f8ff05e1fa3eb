#include "base/hash/sha256.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>

static const char digits[] = "0123456789abcdef";

void sha256(uint8_t digest[SHA256_SIZE], struct slice bytes) {
    if (!EVP_Digest(bytes.ptr, bytes.len, digest, NULL, EVP_sha256(), NULL)) abort();
}

sds sha256_append_hex(sds out, const uint8_t digest[SHA256_SIZE]) {
    char text[SHA256_HEX];
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15];
    }
    return sds_append(out, slice_make(text, sizeof(text)));
}

bool sha256_parse_hex(uint8_t digest[SHA256_SIZE], struct slice text) {
    if (text.len != SHA256_HEX) return false;
    for (size_t i = 0; i < SHA256_HEX; i++) {
        const char *at = memchr(digits, text.ptr[i], sizeof(digits) - 1);
        if (!at) return false;
        uint8_t digit = (uint8_t)(at - digits);
        digest[i / 2] = (uint8_t)(i % 2 ? digest[i / 2] | digit : digit << 4);
    }
    return true;
}

bool sha256_equal(const uint8_t a[SHA256_SIZE], const uint8_t b[SHA256_SIZE]) {
    return CRYPTO_memcmp(a, b, SHA256_SIZE) == 0;
}
