#include "store/key_slot.h"

#include "base/hash/crc16.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct slice key_slot_part(struct slice key) {
    const char *open = key.len ? memchr(key.ptr, '{', key.len) : NULL;
    if (!open) return key;
    const char *begin = open + 1, *end = key.ptr + key.len;
    const char *close = memchr(begin, '}', (size_t)(end - begin));
    if (!close || close == begin) return key;
    return (struct slice){begin, (size_t)(close - begin)};
}

unsigned key_slot(struct slice key) {
    struct slice part = key_slot_part(key);
    return crc16(part.ptr, part.len) % KEY_SLOTS;
}

/* --- Texts for slots --- */

/* Returns the start value with which two zero bytes have this checksum: takes back the 16 steps of
 * crc16, each of which shifts by one bit. */
static uint16_t take_back_two_bytes(uint16_t crc) {
    enum { POLYNOMIAL = 0x1021, HIGHEST = 0x8000 };
    for (int i = 0; i < 16; i++) {
        bool was_set = crc & 1; /* only the polynomial sets the lowest bit */
        if (was_set) crc ^= POLYNOMIAL;
        crc = (uint16_t)(crc >> 1 | (was_set ? HIGHEST : 0));
    }
    return crc;
}

static bool is_letter_or_digit(unsigned c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Two bytes are added to a checksum by XOR with its 16 bits, and then shifted: so for any first two
 * letters there is one pair of bytes that gives a certain checksum. A pair of letters or digits is
 * found after a few tries: 6% of all pairs are, and four checksums have the same slot. */
void key_slot_tag(unsigned slot, char tag[KEY_SLOT_TAG]) {
    for (unsigned i = 0;; i++) {
        tag[0] = (char)('a' + i / 26 % 26);
        tag[1] = (char)('a' + i % 26);
        for (unsigned high = 0; high < 4; high++) {
            uint16_t wanted = (uint16_t)(high * KEY_SLOTS + slot);
            unsigned pair = take_back_two_bytes(wanted) ^ crc16(tag, 2);
            if (!is_letter_or_digit(pair >> 8) || !is_letter_or_digit(pair & 0xff)) continue;
            tag[2] = (char)(pair >> 8);
            tag[3] = (char)(pair & 0xff);
            return;
        }
    }
}
