/* lzf: any text comes back, from this codec and from liblzf; both accept the same streams.
 * First byte: bit 0, what the rest is; the others, with the second, a length. */
#include "base/lzf/lzf.h"
#include "base/memory/alloc.h"

#include <liblzf/lzf.h>
#include <stdlib.h>

/* Not assert: this must hold in every build. */
static void require(bool condition) {
    if (!condition) abort();
}

/* Bytes in memory of their exact size, so that the sanitizer sees what goes beyond. */
static uint8_t *copy_of(const uint8_t *bytes, size_t len) {
    uint8_t *copy = mem_alloc(len);
    if (len > 0) memcpy(copy, bytes, len);
    return copy;
}

static void check_compressing(struct slice text, size_t room) {
    size_t most = 2 * text.len + 16;
    uint8_t *out = mem_alloc(most), *tight = mem_alloc(room), *back = mem_alloc(text.len);
    size_t size = lzf_compress_text(text, out, most);
    require((size > 0) == (text.len >= LZF_TEXT_MIN));
    require(lzf_compress_text(text, tight, room) == (size <= room ? size : 0));
    if (size > 0) {
        uint8_t *stream = copy_of(out, size);
        require(lzf_decompress_text(slice_make(stream, size), back, text.len));
        require(memcmp(back, text.ptr, text.len) == 0);
        memset(back, 0, text.len);
        require(lzf_decompress(stream, (unsigned)size, back, (unsigned)text.len) == text.len);
        require(memcmp(back, text.ptr, text.len) == 0);
        mem_free(stream);
    }
    mem_free(out);
    mem_free(tight);
    mem_free(back);
}

static void check_decompressing(struct slice stream, size_t len) {
    uint8_t *ours = mem_alloc(len), *theirs = mem_alloc(len);
    bool taken = lzf_decompress_text(stream, ours, len);
    if (stream.len > 0 && len > 0) {
        size_t size = lzf_decompress(stream.ptr, (unsigned)stream.len, theirs, (unsigned)len);
        require(taken == (size == len));
    }
    require(!taken || memcmp(ours, theirs, len) == 0);
    for (size_t front = 1; front < len && front <= 7; front += 2) {
        uint8_t begin[7], *rest = mem_alloc(len - front);
        if (lzf_decompress_split(stream, begin, front, rest, len - front)) {
            require(taken && memcmp(begin, ours, front) == 0);
            require(memcmp(rest, ours + front, len - front) == 0);
        }
        mem_free(rest);
    }
    mem_free(ours);
    mem_free(theirs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    size_t len = (size_t)(data[0] >> 1) << 8 | data[1];
    uint8_t *bytes = copy_of(data + 2, size - 2);
    struct slice rest = slice_make(bytes, size - 2);
    if (data[0] & 1)
        check_decompressing(rest, len);
    else
        check_compressing(rest, len);
    mem_free(bytes);
    return 0;
}
