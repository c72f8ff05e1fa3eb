/* rdb_mutate: mutations of RDB files and payloads that stay well formed around what they change.
 *
 * The first length or checksum refuses most random changes. So half of the mutations change one of
 * the strings inside, found by iterating over the file: the string is decompressed if it was
 * compressed, changed by libFuzzer, given right lengths again if it was a listpack or ziplist, and
 * stored in its place with its new length. The id of a pending entry changes in its place, mostly to
 * another one of the input. */
#ifndef PACKLIST_TESTS_FUZZ_RDB_MUTATE_H
#define PACKLIST_TESTS_FUZZ_RDB_MUTATE_H

#include "persist/rdb_reader.h"

#include <stddef.h>
#include <stdint.h>

/* An id is that of a pending entry of a stream: 16 bytes as they are. */
enum rdb_string_kind { RDB_KIND_TEXT, RDB_KIND_LISTPACK, RDB_KIND_ZIPLIST, RDB_KIND_ID };

/* A string's place. */
struct rdb_string_place {
    size_t start;
    size_t end;
    enum rdb_string_kind kind;
};

/* The strings of a file or payload up to the first error; if there are many, the first ones. */
enum { RDB_STRINGS_MAX = 256 };
struct rdb_strings {
    struct rdb_string_place places[RDB_STRINGS_MAX];
    size_t count;
    size_t end; /* where the iteration ended: behind EOF in a valid file */
};

/* libFuzzer's own mutations: changes the bytes, returns their new number, 0 < it <= max_size. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* Notes the strings of what the reader reads, from where it stands: a value of this type, or all
 * that is behind a file's magic. */
void rdb_find_in_value(struct rdb_reader *reader, unsigned type, struct rdb_strings *strings);
void rdb_find_in_file(struct rdb_reader *reader, struct rdb_strings *strings);

/* Changes the bytes (there is room for `room`): anywhere, or in one of the strings, at random.
 * Returns the new size. */
size_t rdb_mutate(uint8_t *bytes, size_t size, size_t room, const struct rdb_strings *strings,
                  unsigned seed);

#endif
