/* rdb_length: the size of a value in an RDB file with rdbcompression on, which DEBUG OBJECT shows
 * as serializedlength. It does not include the type byte, the key and the expiry.
 *
 * Format: RDB version 11 (Redis 7.2): a list has the type LIST_QUICKLIST_2, whatever its encoding
 * in memory:
 *
 *      list      [nodes] node …
 *      node      [1 = plain | 2 = packed] string       the element's text; the listpack
 *      string    [length] bytes                        length: 1, 2, 5 or 9 bytes
 *                [0xC0 | width] integer                a text that is a 32-bit integer
 *                [0xC3] [compressed length] [length] LZF   over 20 bytes, where LZF gains 4
 *
 * The sizes are exact for this implementation of LZF. Another one may compress to a byte more or
 * less. */
#ifndef PACKLIST_PERSIST_RDB_LENGTH_H
#define PACKLIST_PERSIST_RDB_LENGTH_H

#include "base/slice.h"
#include "store/entry.h"

/* Returns the bytes of a text as an RDB string. O(text), as it compresses the text. */
size_t rdb_length_string(struct slice text);

/* Returns the bytes of the entry's value. O(value), as it compresses every node. */
size_t rdb_length_value(const struct entry *entry);

#endif
