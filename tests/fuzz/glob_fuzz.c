/* First byte: the pattern's length; then the pattern; the rest is the text. Both are copied into
 * memory of their exact size, so that the sanitizer finds a read past either end. */
#include "base/memory/alloc.h"
#include "base/text/glob.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *exact_copy(struct slice bytes) {
    char *copy = mem_alloc(bytes.len);
    slice_copy(copy, bytes);
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0 || data[0] > size - 1) return 0;
    struct slice pattern = slice_make(data + 1, data[0]);
    struct slice text = slice_make(data + 1 + data[0], size - 1 - data[0]);
    char *pattern_copy = exact_copy(pattern), *text_copy = exact_copy(text);
    pattern.ptr = pattern_copy;
    text.ptr = text_copy;
    bool exact = glob_match(pattern, text, false);
    glob_match(pattern, text, true);
    if (exact && pattern.len == 0 && text.len != 0) abort();
    if (glob_is_match_all(pattern) && text.len != 0 && !exact) abort();
    mem_free(pattern_copy);
    mem_free(text_copy);
    return 0;
}
