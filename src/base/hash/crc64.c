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

/* The checksum is linear: that of a byte is the sum of those of its bits. So a table is made of
 * eight numbers, from bit 0 to bit 7. */
#define SUMS_2(x, a)                 x, (x) ^ (a)
#define SUMS_4(x, a, b)              SUMS_2(x, a), SUMS_2((x) ^ (b), a)
#define SUMS_8(x, a, b, c)           SUMS_4(x, a, b), SUMS_4((x) ^ (c), a, b)
#define SUMS_16(x, a, b, c, d)       SUMS_8(x, a, b, c), SUMS_8((x) ^ (d), a, b, c)
#define SUMS_32(x, a, b, c, d, e)    SUMS_16(x, a, b, c, d), SUMS_16((x) ^ (e), a, b, c, d)
#define SUMS_64(x, a, b, c, d, e, f) SUMS_32(x, a, b, c, d, e), SUMS_32((x) ^ (f), a, b, c, d, e)
#define SUMS_128(x, a, b, c, d, e, f, g)                                                           \
    SUMS_64(x, a, b, c, d, e, f), SUMS_64((x) ^ (g), a, b, c, d, e, f)
#define TABLE(a, b, c, d, e, f, g, h)                                                              \
    SUMS_128(0, a, b, c, d, e, f, g), SUMS_128(h, a, b, c, d, e, f, g)

/* tables[n][byte]: the checksum of the byte with n zero bytes after it. */
// clang-format off
static const uint64_t tables[8][256] = {
    {TABLE(0x7AD870C830358979, 0xF5B0E190606B12F2, 0xC038E5739841B68F, 0xAB28ECB46814FE75,
           0x7D08FF3B88BE6F81, 0xFA11FE77117CDF02, 0xDF7ADABD7A6E2D6F, 0x95AC9329AC4BC9B5)},
    {TABLE(0x89E99FFD73BDDF69, 0x388A19A9BFEC2DB9, 0x711433537FD85B72, 0xE22866A6FFB0B6E4,
           0xEF09EB1EA7F6FEA3, 0xF54AF06E177A6E2D, 0xC1CCC68F76634F31, 0xA8C0AB4DB4510D09)},
    {TABLE(0xF4125129CE4038BE, 0xC37D8400C417E217, 0xADA22E52D0B85745, 0x701D7AF6F9E73DE1,
           0xE03AF5EDF3CE7BC2, 0xEB2CCD88BF0B64EF, 0xFD00BD4226815AB5, 0xD1585CD715952601)},
    {TABLE(0x8CE168638C796306, 0x329BF69440655567, 0x6537ED2880CAAACE, 0xCA6FDA510195559C,
           0xBF8692F15BBD3853, 0x545403B1EFEDE3CD, 0xA8A80763DFDBC79A, 0x7A092894E7201C5F)},
    {TABLE(0x3504E58B9BA6DD1E, 0x6A09CB17374DBA3C, 0xD413962E6E9B7478, 0x837E0A0F85A17B9B,
           0x2DA5324C53D5645D, 0x5B4A6498A7AAC8BA, 0xB694C9314F559174, 0x4670B431C63CB183)},
    {TABLE(0xE39D1389931B9354, 0xEC6301407EA0B5C3, 0xF39F24D3A5D6F8ED, 0xCC676FF4133A62B1,
           0xB397F9BB7EE35609, 0x4C76D525A5513F79, 0x98EDAA4B4AA27EF2, 0x1A8272C5CDD36E8F)},
    {TABLE(0x62A95DE6E302EFF2, 0xC552BBCDC605DFE4, 0xA1FC51C8D49C2CA3, 0x68A185C2F1AFCA2D,
           0xD1430B85E35F945A, 0x89DF31589E28BBDF, 0x38E744E264C6E4D5, 0x71CE89C4C98DC9AA)},
    {TABLE(0x381D0015C96F4444, 0x703A002B92DE8888, 0xE074005725BD1110, 0xEBB126FD13EDB14B,
           0xFC3B6BA97F4CF1FD, 0xD32FF101A60E7091, 0x8D06C450148B7249, 0x3154AEF3718177F9)},
};
// clang-format on

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
