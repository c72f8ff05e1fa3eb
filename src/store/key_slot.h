/* key_slot: in a cluster, each key belongs to one of 16,384 slots, and each slot to a node.
 *
 * The slot of a key is crc16 (base/hash/crc16.h) modulo 16,384 of the key, or of its hash tag: what
 * is between its first { and the next } after that, if there are both and anything between them.
 * So "{user:1}:name" and "{user:1}:mail" are in one slot. Source: the Redis cluster
 * specification. */
#ifndef PACKLIST_STORE_KEY_SLOT_H
#define PACKLIST_STORE_KEY_SLOT_H

#include "base/slice.h"

enum { KEY_SLOTS = 16384 };

/* Returns the slot of the key, less than KEY_SLOTS. O(len): some 5 ns for 16 bytes. */
unsigned key_slot(struct slice key);

/* Returns the part of the key that is hashed: its hash tag, or all of it. O(len). */
struct slice key_slot_part(struct slice key);

/* Writes a text whose slot that is: KEY_SLOT_TAG letters and digits, without an end. O(1). */
enum { KEY_SLOT_TAG = 4 };
void key_slot_tag(unsigned slot, char tag[KEY_SLOT_TAG]);

#endif
