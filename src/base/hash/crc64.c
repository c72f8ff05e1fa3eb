/* crc64: bit-reflected, so the first bit of a message is the lowest of its first byte.
 *
 * Portable: slicing by eight: eight bytes are taken at once, each through a table of its own.
 *
 * By carry-less multiplication: "Fast CRC computation for generic polynomials using PCLMULQDQ",
 * V. Gopal et al., Intel (2009). A 128-bit remainder of what was read is moved over the next D bits
 * by multiplying its halves with x^(D+64) and x^D modulo the polynomial and adding what stands
 * there. Four remainders, 16 bytes apart, keep the multiplier busy. */
#include "base/hash/crc64.h"

#include "base/processor.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are read as they are");

/* --- Tables --- */

/* tables[n][byte]: the checksum of the byte with n zero bytes after it. */
static uint64_t tables[8][256];

static __attribute__((constructor)) void make_tables(void) {
    const uint64_t polynomial = 0x95AC9329AC4BC9B5; /* reflected */
    for (unsigned byte = 0; byte < 256; byte++) {
        uint64_t crc = byte;
        for (unsigned bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
        tables[0][byte] = crc;
    }
    for (unsigned n = 1; n < 8; n++)
        for (unsigned byte = 0; byte < 256; byte++)
            tables[n][byte] = tables[0][tables[n - 1][byte] & 0xFF] ^ tables[n - 1][byte] >> 8;
}

uint64_t crc64_portable(uint64_t crc, const void *bytes, size_t len) {
    const uint8_t *p = bytes;
    for (; len >= 8; len -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        word ^= crc;
        crc = 0;
        for (unsigned i = 0; i < 8; i++) crc ^= tables[7 - i][word >> 8 * i & 0xFF];
    }
    for (; len > 0; len--) crc = tables[0][(crc ^ *p++) & 0xFF] ^ crc >> 8;
    return crc;
}

/* --- Multiplication without carries --- */

#ifdef PROCESSOR_X86_64
#include <immintrin.h>

enum { FOLD_MIN = 128 };

#define TARGET __attribute__((target("pclmul,sse2")))

/* x^(D+63) and x^(D-1) modulo the polynomial, reflected: a reflected product is one bit short. */
TARGET static __m128i factors_128(void) {
    return _mm_set_epi64x(0x381D0015C96F4444, (long long)0xD9D7BE7D505DA32C);
}

TARGET static __m128i factors_512(void) {
    return _mm_set_epi64x((long long)0xF49784A634F014E4, (long long)0xAF86EFB16D9AB4FB);
}

TARGET static inline __m128i load_block(const uint8_t *p) {
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* The remainder moved on to where `next` stands, and added to it. */
TARGET static inline __m128i fold(__m128i remainder, __m128i factors, __m128i next) {
    __m128i low = _mm_clmulepi64_si128(remainder, factors, 0x00);
    __m128i high = _mm_clmulepi64_si128(remainder, factors, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

TARGET static uint64_t crc64_folded(uint64_t crc, const uint8_t *p, size_t len) {
    __m128i a = _mm_xor_si128(load_block(p), _mm_cvtsi64_si128((long long)crc));
    __m128i b = load_block(p + 16), c = load_block(p + 32), d = load_block(p + 48);
    const __m128i far = factors_512(), near = factors_128();
    for (p += 64, len -= 64; len >= 64; p += 64, len -= 64) {
        a = fold(a, far, load_block(p));
        b = fold(b, far, load_block(p + 16));
        c = fold(c, far, load_block(p + 32));
        d = fold(d, far, load_block(p + 48));
    }
    d = fold(fold(fold(a, near, b), near, c), near, d);
    uint8_t remainder[16];
    memcpy(remainder, &d, sizeof(remainder));
    crc = crc64_portable(0, remainder, sizeof(remainder));
    return crc64_portable(crc, p, len);
}

uint64_t crc64(uint64_t crc, const void *bytes, size_t len) {
    if (len >= FOLD_MIN && __builtin_cpu_supports("pclmul")) return crc64_folded(crc, bytes, len);
    return crc64_portable(crc, bytes, len);
}
#else
uint64_t crc64(uint64_t crc, const void *bytes, size_t len) {
    return crc64_portable(crc, bytes, len);
}
#endif
