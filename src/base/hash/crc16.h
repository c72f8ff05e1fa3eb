/* crc16: the checksum from which clusters make the slot of a key (store/key_slot.h).
 *
 * Polynomial 0x1021, highest bit first, start 0, no inversion: crc16("123456789") is 0x31C3.
 * Source: CRC-16/XMODEM. */
#ifndef PACKLIST_BASE_HASH_CRC16_H
#define PACKLIST_BASE_HASH_CRC16_H

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of these bytes. O(len): some 5 ns for 16 bytes. */
uint16_t crc16(const void *bytes, size_t len);

#endif
