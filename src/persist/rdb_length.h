/* rdb_length: how many bytes a value takes in an RDB file, with rdbcompression on: what DEBUG
 * OBJECT shows as serializedlength. The type byte, the key and an expiry are not counted.
 *
 * Format: RDB version 11 (Redis 7.2): a list is of type LIST_QUICKLIST_2, whatever its encoding in
 * memory:
 *
 *      list      [nodes] node …
 *      node      [1 = plain | 2 = packed] string       the element's text; the listpack
 *      string    [length] bytes                        length: 1, 2, 5 or 9 bytes
 *                [0xC0 | width] integer                a text that is a 32-bit integer
 *                [0xC3] [packed length] [length] LZF   over 20 bytes, where LZF gains 4
 *
 * The figures are exact; where they are made by LZF, another implementation of it may pack a byte
 * more or less. */
#ifndef PACKLIST_PERSIST_RDB_LENGTH_H
#define PACKLIST_PERSIST_RDB_LENGTH_H

#include "base/slice.h"
#include "store/entry.h"

/* Bytes of a text as an RDB string. O(text): it is packed to see how far it shrinks. */
size_t rdb_length_string(struct slice text);

/* Bytes of the entry's value. O(value): every node is packed. */
size_t rdb_length_value(const struct entry *entry);

#endif
