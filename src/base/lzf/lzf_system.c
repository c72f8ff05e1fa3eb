/* The system's liblzf as the codec, in a build with LZF=system. */
#include "base/lzf/lzf.h"
#include "base/memory/alloc.h"

#include <string.h>

#include <liblzf/lzf.h>

const size_t lzf_text_max = UINT32_MAX;

const char *lzf_name(void) {
    return "liblzf";
}

size_t lzf_compress_text(struct slice text, uint8_t *out, size_t room) {
    if (room == 0 || text.len < LZF_TEXT_MIN || text.len > UINT32_MAX) return 0;
    if (room > UINT32_MAX) room = UINT32_MAX;
    return lzf_compress(text.ptr, (unsigned)text.len, out, (unsigned)room);
}

bool lzf_decompress_text(struct slice stream, uint8_t *out, size_t len) {
    if (stream.len < 2 || stream.len > lzf_text_max || len == 0 || len > lzf_text_max) return false;
    return lzf_decompress(stream.ptr, (unsigned)stream.len, out, (unsigned)len) == len;
}

/* liblzf writes to one place only: it gets the stream without the front. */
bool lzf_decompress_split(struct slice stream, void *front, size_t front_len, uint8_t *out,
                          size_t len) {
    if (front_len == 0) return lzf_decompress_text(stream, out, len);
    if (stream.len < 2) return false;
    const uint8_t *bytes = (const uint8_t *)stream.ptr;
    size_t literals = (size_t)bytes[0] + 1;
    if (literals > LZF_LITERALS_MAX || literals > stream.len - 1 || literals < front_len)
        return false;
    memcpy(front, bytes + 1, front_len);
    struct slice rest = slice_make(stream.ptr + 1 + front_len, stream.len - 1 - front_len);
    if (literals == front_len) return lzf_decompress_text(rest, out, len);
    uint8_t *copy = mem_alloc(rest.len + 1);
    copy[0] = (uint8_t)(literals - front_len - 1);
    memcpy(copy + 1, rest.ptr, rest.len);
    bool good = lzf_decompress_text(slice_make(copy, rest.len + 1), out, len);
    mem_free(copy);
    return good;
}
