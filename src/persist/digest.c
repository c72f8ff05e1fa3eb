#include "persist/digest.h"

#include "types/list.h"
#include "types/string.h"

#include <openssl/evp.h>

/* --- SHA-1 --- */

/* The functions of the library that are called once SHA-1 has been chosen can't fail. */
static void sha1(struct digest *digest, const void *bytes, size_t len, uint8_t out[DIGEST_SIZE]) {
    EVP_DigestInit_ex(digest->sha1, NULL, NULL);
    EVP_DigestUpdate(digest->sha1, bytes, len);
    EVP_DigestFinal_ex(digest->sha1, out, NULL);
}

bool digest_start(struct digest *digest) {
    *digest = (struct digest){.sha1 = EVP_MD_CTX_new()};
    if (digest->sha1 && EVP_DigestInit_ex(digest->sha1, EVP_sha1(), NULL)) return true;
    digest_end(digest);
    return false;
}

void digest_end(struct digest *digest) {
    EVP_MD_CTX_free(digest->sha1);
    digest->sha1 = NULL;
}

/* --- Adding --- */

/* The order in which things are added does not matter. */
static void add(struct digest *digest, uint8_t to[DIGEST_SIZE], const void *bytes, size_t len) {
    uint8_t hash[DIGEST_SIZE];
    sha1(digest, bytes, len, hash);
    for (size_t i = 0; i < DIGEST_SIZE; i++) to[i] ^= hash[i];
}

/* It does. */
static void mix(struct digest *digest, uint8_t to[DIGEST_SIZE], struct slice bytes) {
    add(digest, to, bytes.ptr, bytes.len);
    sha1(digest, to, DIGEST_SIZE, to);
}

static void mix_number(struct digest *digest, uint8_t to[DIGEST_SIZE], uint32_t number) {
    const uint8_t bytes[4] = {(uint8_t)(number >> 24), (uint8_t)(number >> 16),
                              (uint8_t)(number >> 8), (uint8_t)number};
    mix(digest, to, slice_make(bytes, sizeof(bytes)));
}

static void mix_list(struct digest *digest, uint8_t to[DIGEST_SIZE], const struct entry *entry) {
    struct list_iter iter;
    const uint8_t *element;
    list_iter_start(&iter, entry, 0, LIST_FORWARD);
    while ((element = list_iter_next(&iter))) {
        char digits[INT64_TEXT_MAX];
        struct listpack_value value;
        listpack_get(element, &value);
        mix(digest, to, listpack_value_text(&value, digits));
    }
    list_iter_end(&iter);
}

static void mix_value(struct digest *digest, uint8_t to[DIGEST_SIZE], const struct entry *entry) {
    static const struct slice expiring = SLICE("!!expire!!");
    char digits[INT64_TEXT_MAX];
    mix_number(digest, to, entry_type(entry));
    if (entry_type(entry) == VALUE_LIST)
        mix_list(digest, to, entry);
    else
        mix(digest, to, string_text(entry, digits));
    if (entry_expiry(entry) >= 0) add(digest, to, expiring.ptr, expiring.len);
}

void digest_add_database(struct digest *digest, unsigned number) {
    mix_number(digest, digest->bytes, number);
}

void digest_add_entry(struct digest *digest, const struct entry *entry) {
    uint8_t key[DIGEST_SIZE] = {0};
    mix(digest, key, entry_key(entry));
    mix_value(digest, key, entry);
    add(digest, digest->bytes, key, sizeof(key));
}

void digest_value(struct digest *digest, const struct entry *entry, uint8_t bytes[DIGEST_SIZE]) {
    memset(bytes, 0, DIGEST_SIZE);
    mix_value(digest, bytes, entry);
}

sds digest_append(sds out, const uint8_t bytes[DIGEST_SIZE]) {
    for (size_t i = 0; i < DIGEST_SIZE; i++) out = sds_append_format(out, "%02x", bytes[i]);
    return out;
}
