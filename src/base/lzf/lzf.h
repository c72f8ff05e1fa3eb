/* lzf: streams of the LZF format, as RDB files and compressed list nodes hold them.
 *
 *      000nnnnn            n + 1 literal bytes follow
 *      llldddddd [1]       copy of l + 2 bytes (l = 1 … 6) …
 *      111ddddd [l 1] [1]  copy of l + 9 bytes that begin d + 1 bytes back in the text; d has 13
 *                          bits, the lower 8 in the last byte
 *
 * Source: the format of liblzf (http://liblzf.plan9.de), which reads what is compressed here.
 *
 * lzf_compress_text, lzf_decompress_text and lzf_decompress_split are those of lzf_own.c or, in a
 * build with LZF=system, of liblzf (lzf_system.c). The others are the same in either build. */
#ifndef PACKLIST_BASE_LZF_LZF_H
#define PACKLIST_BASE_LZF_LZF_H

#include "base/slice.h"

#include <stdint.h>

/* Most bytes of text that a byte of a stream can become: a copy of 264 takes 3. */
enum { LZF_EXPANSION_MAX = 88 };

/* Most bytes of a literal run. */
enum { LZF_LITERALS_MAX = 32 };

/* The shortest text that can be compressed. */
enum { LZF_TEXT_MIN = 4 };

/* Which codec this build uses: "packlist" or "liblzf". */
const char *lzf_name(void);

/* The longest text and stream that this build can decompress: liblzf knows 32-bit lengths. */
extern const size_t lzf_text_max;

/* Compresses a text of LZF_TEXT_MIN to UINT32_MAX bytes; returns the bytes of the stream, or 0 when
 * they would be more than `room`. liblzf may also return 0 when they would just fit, and another
 * stream when it compresses the same text again. O(len). */
size_t lzf_compress_text(struct slice text, uint8_t *out, size_t room);

/* The same by Packlist's own codec: 0 only when the stream would be more than `room`, and the
 * stream depends on the text alone. O(len). */
size_t lzf_compress_repeatably(struct slice text, uint8_t *out, size_t room);

/* The most bytes that lzf_compress_part writes for `len` bytes. */
#define LZF_PART_SIZE_MAX(len) ((len) + (len) / LZF_LITERALS_MAX + 1)

/* Compresses, repeatably, a part (1 to UINT32_MAX bytes) of a longer text: the streams of all
 * parts, one after the other, are a stream of the whole text. `out` has room for LZF_PART_SIZE_MAX
 * bytes. Returns the bytes written, which depend on the part alone and may be more than the part
 * has. O(len). */
size_t lzf_compress_part(struct slice part, uint8_t *out);

/* Decompresses an untrusted stream that must give exactly `len` bytes; otherwise returns false, and
 * `out`, which has room for `len`, has undefined contents. O(len). */
bool lzf_decompress_text(struct slice stream, uint8_t *out, size_t len);

/* The same for a text whose first `front_len` bytes go to `front`, and the other `len` (> 0) to
 * `out`. Also false when the first ones are not all in the literal run that begins the stream, or
 * when copies refer to them. */
bool lzf_decompress_split(struct slice stream, void *front, size_t front_len, uint8_t *out,
                          size_t len);

/* From a stream that lzf_decompress_text accepts, makes the stream of the same text without its
 * first `front` and last `back` bytes. Returns the bytes written to `out`, which has room for as
 * many as the stream has, or 0 when these bytes are not literals of their own, or copies refer to
 * them. O(stream). */
size_t lzf_trim(struct slice stream, size_t front, size_t back, uint8_t *out);

#endif
