/* string: what a string value can do.
 *
 *      layout        value                          entry's own byte   OBJECT ENCODING
 *      integer       1 to 8 bytes, little-endian,   number of bytes    int
 *                    two's complement
 *      embedded      the text, of at most           its length         embstr up to 44 bytes,
 *                    STRING_EMBEDDED_MAX bytes                         else raw
 *      embedded raw  the same                       its length         raw
 *      hanging       one pointer to an sds          0                  raw
 *      shared        one pointer to a struct        0                  raw
 *                    shared_text
 *
 * A snapshot makes a large hanging text a shared one, to capture it (ds/shared_text.h); it stays
 * shared until it is next stored. Where nothing else is said, "hanging" includes such texts.
 *
 * What string_set stores has the layout that its text asks for: integer when number_parse_int64
 * accepts it, hanging when it is long, else embedded. What was edited in place is raw, whatever its
 * text, and what string_set_text stores is no integer. The names are those that Redis gives to
 * values with the same past. */
#ifndef PACKLIST_TYPES_STRING_H
#define PACKLIST_TYPES_STRING_H

#include "base/number.h"
#include "base/sds.h"
#include "base/slice.h"
#include "ds/shared_text.h"
#include "store/keyspace.h"

/* Texts up to this length live inside their entry; 255 is the most that one byte can tell. */
#ifdef TINY_LIMITS
#define STRING_EMBEDDED_MAX 60
#else
#define STRING_EMBEDDED_MAX 255
#endif

/* Texts up to this length are called embstr. */
enum { STRING_EMBSTR_MAX = 44 };

/* No string grows beyond this: 4 GB. */
#define STRING_LENGTH_MAX ((size_t)UINT32_MAX)

/* The encoding nibble of a string's entry; for this module alone. */
enum string_encoding {
    STRING_INTEGER,
    STRING_EMBEDDED,
    STRING_EMBEDDED_RAW,
    STRING_OUT_OF_LINE,
    STRING_SHARED
};

/* --- Storing --- */

/* `key` is the one that `ref` looked up; texts must not lie in the value. Each function may move
 * the entry, and costs O(text + old value). */

/* Gives `key` the string `text`: adds it when it is not there, else overwrites its value, of
 * whatever type, and takes its expiry away. */
void string_set(struct keyref *ref, struct slice key, struct slice text);

/* The same, but the key keeps its expiry. */
void string_set_keep_expiry(struct keyref *ref, struct slice key, struct slice text);

/* The same, keeping the expiry, for a text that is to stay a text even where it reads as an
 * integer. */
void string_set_text(struct keyref *ref, struct slice key, struct slice text);

/* The same, keeping the expiry, for an integer: nothing is formatted. */
void string_set_integer(struct keyref *ref, struct slice key, int64_t value);

/* As string_set and string_set_keep_expiry, for a text built elsewhere; they take ownership of it.
 * The value is raw. O(old value). */
void string_set_raw(struct keyref *ref, struct slice key, sds text);
void string_set_raw_keep_expiry(struct keyref *ref, struct slice key, sds text);

/* If the string, which must exist, is a raw one of just `len` bytes that hang off its entry, and is
 * not captured: takes the expiry away and returns the bytes, to be overwritten. Else NULL, with
 * nothing changed. For results that replace one of the same size, large ones above all. O(1). */
uint8_t *string_overwrite(struct keyref *ref, size_t len);

/* A new entry under `key` with the string `text`, as string_set would store it, for a key that
 * comes from elsewhere than a command. O(text). */
struct entry *string_new(struct slice key, struct slice text);

/* --- Editing in place --- */

/* The value becomes raw and the key keeps its expiry. Each function may move the entry, and returns
 * false (NULL) with nothing changed when the memory can't be had. `len` and the sum of the lengths
 * are at most STRING_LENGTH_MAX. Growth is geometric: n small steps cost O(n). */

/* Adds `text`, which must not lie in the value, at the end. Amortised O(text). */
bool string_append(struct keyref *ref, struct slice text);

/* Makes the string, which need not exist, at least `to` bytes long, new ones being zero, and
 * returns all of its bytes, of which those in [from, to) may be written until the key is touched
 * otherwise. Amortised O(new bytes), O(old ones) where it was not raw, and O(to - from) where a
 * snapshot still needs these bytes. */
uint8_t *string_open(struct keyref *ref, struct slice key, size_t from, size_t to);

/* --- Captures: a large text that is read by another thread while it goes on changing --- */

/* The text as one that can be captured. It must be hanging; nothing that is seen of the string
 * changes, and the entry does not move. O(1). */
struct shared_text *string_share(struct entry *entry);

/* Does the text lie outside the entry, where it may be large? O(1). */
static inline bool string_is_out_of_line(const struct entry *entry) {
    return entry_encoding(entry) >= STRING_OUT_OF_LINE;
}

/* Does another thread read what the text was at an earlier moment? Then only the loop's thread may
 * free it. O(1). */
bool string_is_captured(const struct entry *entry);

/* The bytes [from, to) are about to be written, too: for those that string_open did not name. */
void string_before_shared_write(struct entry *entry, size_t from, size_t to);
static inline void string_before_write(struct entry *entry, size_t from, size_t to) {
    if (entry_encoding(entry) == STRING_SHARED) string_before_shared_write(entry, from, to);
}

/* --- Reading --- */

/* The text: a view into the value until it changes, or, for integers, written to `buffer`. O(1). */
struct slice string_text(const struct entry *entry, char buffer[INT64_TEXT_MAX]);

/* Length of the text. O(1). */
size_t string_length(const struct entry *entry);

/* Is it of the integer layout? Then *value is set. O(1). */
bool string_integer(const struct entry *entry, int64_t *value);

/* Does its text read as an integer, whatever the layout? Then *value is set. O(1). */
bool string_parse_integer(const struct entry *entry, int64_t *value);

/* "int", "embstr" or "raw". */
const char *string_encoding_name(const struct entry *entry);

/* Bytes of the value inside the entry, and of what hangs off it. O(1). */
size_t string_value_size(const struct entry *entry);
size_t string_allocated(const struct entry *entry);

/* The executable invariant. O(1). */
bool string_check(const struct entry *entry);

#endif
