#include "store/key_slot.h"

#include "base/hash/crc16.h"

#include <string.h>

static struct slice hashed_part(struct slice key) {
    const char *open = key.len ? memchr(key.ptr, '{', key.len) : NULL;
    if (!open) return key;
    const char *begin = open + 1, *end = key.ptr + key.len;
    const char *close = memchr(begin, '}', (size_t)(end - begin));
    if (!close || close == begin) return key;
    return (struct slice){begin, (size_t)(close - begin)};
}

unsigned key_slot(struct slice key) {
    struct slice part = hashed_part(key);
    return crc16(part.ptr, part.len) % KEY_SLOTS;
}
