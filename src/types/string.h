/* string: what a string value can do.
 *
 *      layout      value                          entry's own byte   OBJECT ENCODING
 *      integer     1 to 8 bytes, little-endian,   number of bytes    int
 *                  two's complement
 *      embedded    the text, of at most           its length         embstr up to 44 bytes,
 *                  STRING_EMBEDDED_MAX bytes                         else raw
 *      hanging     one pointer to an sds          0                  raw
 *
 * A text that number_parse_int64 accepts is an integer, so no text has two layouts. The names are
 * those that Redis gives to texts of that length. */
#ifndef PACKLIST_TYPES_STRING_H
#define PACKLIST_TYPES_STRING_H

#include "base/number.h"
#include "base/slice.h"
#include "store/keyspace.h"

/* Texts up to this length live inside their entry; 255 is the most that one byte can tell. */
#ifdef TINY_LIMITS
#define STRING_EMBEDDED_MAX 60
#else
#define STRING_EMBEDDED_MAX 255
#endif

/* Texts up to this length are called embstr. */
enum { STRING_EMBSTR_MAX = 44 };

/* Gives `key`, which `ref` looked up, the string `text`: adds it when it is not there, else
 * overwrites its value, of whatever type, and takes its expiry away. `text` must not lie in the
 * value. May move the entry. O(text + old value). */
void string_set(struct keyref *ref, struct slice key, struct slice text);

/* The text: a view into the value until it changes, or, for integers, written to `buffer`. O(1). */
struct slice string_text(const struct entry *entry, char buffer[INT64_TEXT_MAX]);

/* Is it an integer? Then *value is set. O(1). */
bool string_integer(const struct entry *entry, int64_t *value);

/* "int", "embstr" or "raw". */
const char *string_encoding_name(const struct entry *entry);

/* Bytes of the value inside the entry, and of what hangs off it. O(1). */
size_t string_value_size(const struct entry *entry);
size_t string_allocated(const struct entry *entry);

/* Frees what hangs off the entry (not the entry). */
void string_free_value(struct entry *entry);

/* The executable invariant. O(1). */
bool string_check(const struct entry *entry);

#endif
