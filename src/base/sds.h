/* sds: length-prefixed, binary-safe dynamic strings with five header classes.
 *
 *      class   header (before the characters)                     bytes   lengths
 *      5       [len:5 bits | class:3 bits]                        1       0 … 31
 *      8       [len 1][capacity 1][class 1]                       3       … 2^8-1
 *      16      [len 2][capacity 2][class 1]                       5       … 2^16-1
 *      32      [len 4][capacity 4][class 1]                       9       … 2^32-1
 *      64      [len 8][capacity 8][class 1]                       17      … 2^64-1
 *
 * The pointer is to the first character; the byte before it always holds the class in its low three
 * bits. A *standalone* sds is an allocation of its own and has a NUL after its last character, so
 * it can be printed; growing one never leaves it in class 5, which has no room for a capacity. An
 * *embedded* sds (sds_write_embedded) lives inside somebody else's memory, is exactly as long as
 * its text, has no NUL and cannot grow.
 *
 * The layout is the one of Redis since 3.2. */
#ifndef PACKLIST_BASE_SDS_H
#define PACKLIST_BASE_SDS_H

#include "base/slice.h"

#include <stdarg.h>
#include <stdint.h>

typedef char *sds;

enum sds_class { SDS_5, SDS_8, SDS_16, SDS_32, SDS_64 };

/* --- Any sds, standalone or embedded ------------------------------------------------------- */

/* Length in bytes. O(1). */
size_t sds_len(const char *s);

/* The text as a view, valid until the sds is changed or freed. */
static inline struct slice sds_slice(const char *s) {
    return slice_make(s, sds_len(s));
}

/* --- Embedded ------------------------------------------------------------------------------- */

/* The class that a text of `len` bytes gets when embedded, and its header size in bytes (1, 3, 5,
 * 9, 17). */
enum sds_class sds_embedded_class(size_t len);
size_t sds_header_size(enum sds_class class);

/* Bytes that sds_write_embedded takes for a text of `len` bytes: header plus text. */
size_t sds_embedded_size(size_t len);

/* Writes header and text at `dst` (unaligned is fine) and returns the sds, which lies inside. */
sds sds_write_embedded(char *dst, struct slice text);

/* --- Standalone: each takes and returns ownership; the old pointer dies when a new one is returned
 * --- */

/* A new string with a copy of `text`. Freed with sds_free. */
sds sds_new(struct slice text);

/* A new string of `len` bytes, uninitialised (for reading into); NULL when that much memory can't
 * be had. */
sds sds_try_new_uninit(size_t len);

/* NULL is allowed. */
void sds_free(sds s);

/* Bytes of the whole allocation: header, capacity and terminator, as the allocator rounds it. O(1).
 */
size_t sds_allocated(const char *s);

/* Bytes that can be appended before the next reallocation. */
size_t sds_available(const char *s);

/* Makes room for `more` bytes after the text. Growth is geometric (doubling below 1 MB, then 1 MB
 * steps), so that n appends cost O(n). */
sds sds_reserve(sds s, size_t more);

/* Appends. `text` must not lie inside `s`. Amortised O(text.len). */
sds sds_append(sds s, struct slice text);
sds sds_append_cstr(sds s, const char *cstr);
sds sds_append_format(sds s, const char *format, ...) __attribute__((format(printf, 2, 3)));
sds sds_append_vformat(sds s, const char *format, va_list args);

/* Appends `text` in double quotes, with \n \r \t \a \b \" \\ and \xHH escapes: the form in which
 * Redis prints arguments (MONITOR, SLOWLOG, DEBUG, CONFIG REWRITE). */
sds sds_append_quoted(sds s, struct slice text);

/* Sets the length to `len`, at most the capacity: after writing into reserved room, or to cut.
 * O(1). */
void sds_set_len(sds s, size_t len);

/* Gives spare capacity back. */
sds sds_trim(sds s);

#endif
