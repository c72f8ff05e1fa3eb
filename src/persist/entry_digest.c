#include "persist/entry_digest.h"

#include "persist/type_format.h"

#include <string.h>

static void mix_value(struct digest *digest, uint8_t to[DIGEST_SIZE], const struct entry *entry) {
    static const struct slice expiring = SLICE("!!expire!!");
    digest_mix_number(digest, to, entry_type(entry));
    type_format_of_entry(entry)->digest(digest, to, entry);
    if (entry_expiry(entry) >= 0) digest_add(digest, to, expiring);
}

void entry_digest_add_database(struct digest *digest, unsigned number) {
    digest_mix_number(digest, digest->bytes, number);
}

void entry_digest_add(struct digest *digest, const struct entry *entry) {
    uint8_t key[DIGEST_SIZE] = {0};
    digest_mix(digest, key, entry_key(entry));
    mix_value(digest, key, entry);
    digest_add(digest, digest->bytes, slice_make(key, sizeof(key)));
}

void entry_digest_of_value(struct digest *digest, const struct entry *entry,
                           uint8_t bytes[DIGEST_SIZE]) {
    memset(bytes, 0, DIGEST_SIZE);
    mix_value(digest, bytes, entry);
}
