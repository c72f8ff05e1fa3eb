/* string: what a string value can do.
 *
 *      layout        value                          entry's own byte   OBJECT ENCODING
 *      integer       1 to 8 bytes, little-endian,   number of bytes    int
 *                    two's complement
 *      embedded      the text, of at most           its length         embstr up to 44 bytes,
 *                    STRING_EMBEDDED_MAX bytes                         else raw
 *      embedded raw  the same                       its length         raw
 *      out-of-line   one pointer to an sds          0                  raw
 *      shared        one pointer to a struct        0                  raw
 *                    shared_text
 *
 * A snapshot, or a reply that refers to it, turns a large out-of-line text into a shared one, to
 * capture it (ds/strings/shared_text.h); it stays shared until it is next stored. Elsewhere
 * "out-of-line" includes shared texts.
 *
 * string_set chooses the layout by the text: integer when number_parse_int64 accepts it,
 * out-of-line when it is long, else embedded. A string that was edited in place is raw, whatever
 * its text; string_set_text never stores an integer. The encoding names are those that Redis shows
 * for values with the same history. */
#ifndef PACKLIST_TYPES_STRING_H
#define PACKLIST_TYPES_STRING_H

#include "base/slice.h"
#include "base/text/number.h"
#include "base/text/sds.h"
#include "ds/strings/shared_text.h"
#include "store/keyspace.h"

/* Texts up to this length live inside their entry; 255 is the most that one byte can hold. */
#ifdef TINY_LIMITS
#define STRING_EMBEDDED_MAX 60
#else
#define STRING_EMBEDDED_MAX 255
#endif

/* Texts up to this length are called embstr. */
enum { STRING_EMBSTR_MAX = 44 };

/* No string grows beyond this. */
#define STRING_LENGTH_MAX TEXT_LENGTH_MAX

/* The encoding nibble of a string's entry; private to this module. */
enum string_encoding {
    STRING_INTEGER,
    STRING_EMBEDDED,
    STRING_EMBEDDED_RAW,
    STRING_OUT_OF_LINE = ENTRY_OUT_OF_LINE,
    STRING_SHARED
};

/* --- Storing --- */

/* `key` is the one that `ref` looked up; texts must not lie in the value. Each function may move
 * the entry, and costs O(text + old value) unless its comment says otherwise. */

/* Sets `key` to the string `text`: adds the key, or overwrites its value of any type and removes
 * its expiry. */
void string_set(struct keyref *ref, struct slice key, struct slice text);

/* The same, but keeps the expiry. */
void string_set_keep_expiry(struct keyref *ref, struct slice key, struct slice text);

/* The same, keeping the expiry, for a text that stays a text even where it reads as an
 * integer. */
void string_set_text(struct keyref *ref, struct slice key, struct slice text);

/* The same, keeping the expiry, for a text that is built in place: the value is raw. */
void string_set_built(struct keyref *ref, struct slice key, struct slice text);

/* The same, keeping the expiry, for an integer: nothing is formatted. */
void string_set_integer(struct keyref *ref, struct slice key, int64_t value);

/* As string_set and string_set_keep_expiry, for a text built elsewhere; they take ownership of it.
 * The value is raw. O(old value). */
void string_set_raw(struct keyref *ref, struct slice key, sds text);
void string_set_raw_keep_expiry(struct keyref *ref, struct slice key, sds text);

/* For results that replace one of the same size, large ones above all: if the string, which must
 * exist, is a raw out-of-line one of exactly `len` bytes and is not captured, removes the expiry
 * and returns the bytes, which the caller overwrites. Otherwise NULL, and nothing changes. O(1). */
uint8_t *string_overwrite(struct keyref *ref, size_t len);

/* A new entry under `key` with the string `text`, stored as string_set does, for a key that no
 * command built. O(text). */
struct entry *string_new(struct slice key, struct slice text);

/* As value_copy, of an out-of-line text, but with this text of the same length in its place, which
 * may be uninitialised. Takes ownership of it. O(1). */
struct entry *string_copy_with(const struct entry *entry, struct slice key, sds text);

/* --- Editing in place --- */

/* The value becomes raw and the key keeps its expiry. Each function may move the entry, and returns
 * false (NULL) and changes nothing when the memory can't be had. `len` and the sum of the lengths
 * are at most STRING_LENGTH_MAX. Growth is geometric: n small steps cost O(n). */

/* Adds `text`, which must not lie in the value, at the end. Amortised O(text). */
bool string_append(struct keyref *ref, struct slice text);

/* Makes the string, which need not exist, at least `to` bytes long, fills new bytes with zeros, and
 * returns all of its bytes. Those in [from, to) may be written until the key is next used.
 * Amortised O(new bytes), O(old bytes) where it was not raw, and O(to - from) where a capture
 * still needs these bytes. */
uint8_t *string_open(struct keyref *ref, struct slice key, size_t from, size_t to);

/* --- Captures: another thread reads a large text as it was, while the text goes on changing --- */

/* Makes the text, which must be out-of-line, one that can be captured, and returns it. Nothing
 * visible of the string changes, and the entry does not move. O(1). */
struct shared_text *string_share(struct entry *entry);

/* To be called before bytes [from, to) are written that string_open did not name. O(to - from). */
void string_before_shared_write(struct entry *entry, size_t from, size_t to);
static inline void string_before_write(struct entry *entry, size_t from, size_t to) {
    if (entry_encoding(entry) == STRING_SHARED) string_before_shared_write(entry, from, to);
}

/* --- Reading --- */

/* The text: a view into the value until it changes, or, for integers, written to `buffer`. O(1). */
struct slice string_text(const struct entry *entry, char buffer[INT64_TEXT_MAX]);

/* Length of the text. O(1). */
size_t string_length(const struct entry *entry);

/* Returns whether it has the integer layout; if so, sets *value. O(1). */
bool string_integer(const struct entry *entry, int64_t *value);

/* Returns whether its text reads as an integer, in any layout; if so, sets *value. O(1). */
bool string_parse_integer(const struct entry *entry, int64_t *value);

#endif
