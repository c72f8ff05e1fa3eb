/* Slicing by eight: eight bytes are taken at once, each through a table of its own. */
#include "base/hash/crc16.h"

/* tables[n][byte]: the checksum of the byte with n zero bytes after it. */
static uint16_t tables[8][256];

static __attribute__((constructor)) void make_tables(void) {
    for (unsigned byte = 0; byte < 256; byte++) {
        unsigned crc = byte << 8;
        for (unsigned bit = 0; bit < 8; bit++) crc = crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0);
        tables[0][byte] = (uint16_t)crc;
    }
    for (unsigned n = 1; n < 8; n++)
        for (unsigned byte = 0; byte < 256; byte++) {
            unsigned crc = tables[n - 1][byte];
            tables[n][byte] = (uint16_t)(crc << 8 ^ tables[0][crc >> 8]);
        }
}

uint16_t crc16(const void *bytes, size_t len) {
    const uint8_t *p = bytes;
    unsigned crc = 0;
    for (; len >= 8; len -= 8, p += 8) {
        crc = tables[7][p[0] ^ crc >> 8] ^ tables[6][p[1] ^ (crc & 0xFF)] ^ tables[5][p[2]] ^
              tables[4][p[3]] ^ tables[3][p[4]] ^ tables[2][p[5]] ^ tables[1][p[6]] ^
              tables[0][p[7]];
    }
    for (; len > 0; len--) crc = (crc << 8 & 0xFFFF) ^ tables[0][crc >> 8 ^ *p++];
    return (uint16_t)crc;
}
