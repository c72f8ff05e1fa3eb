/* listpack: any bytes are refused, or can be iterated, searched, changed and written as a reply. */
#include "base/memory/alloc.h"
#include "resp/reply.h"

#include <stdlib.h>

/* Not assert: this must hold in every build. */
static void require(bool condition) {
    if (!condition) abort();
}

/* Iterates both ways: the elements fill the body without gaps. */
static void iterate(const uint8_t *first, const uint8_t *end, size_t count) {
    const uint8_t *p = first, *q = end;
    for (size_t i = 0; i < count; i++) {
        struct listpack_value value;
        require(listpack_get(p, &value) == listpack_size(p));
        require(value.ptr == NULL || (const uint8_t *)value.ptr + value.len < end);
        p += listpack_size(p);
        q -= listpack_size_before(q);
    }
    require(p == end && q == first);
    if (count > 0) {
        require(listpack_seek(first, count - 1) == end - listpack_size_before(end));
        require(listpack_seek_back(end, count - 1) == first);
    }
}

/* Replies of the body in both directions are of one length. */
static void reply_both_ways(const uint8_t *first, const uint8_t *end, size_t count) {
    struct reply forward, backward;
    reply_init(&forward, 0);
    reply_init(&backward, 0);
    require(reply_listpack_run(&forward, first, count, end, end) == end);
    require(reply_listpack_run_back(&backward, end, count, first, end) == first);
    require(forward.len == backward.len);
    reply_free(&forward);
    reply_free(&backward);
}

/* Removes all elements that equal the one at `index`: of a canonical body, at least that one. */
static void remove_one(uint8_t *first, uint8_t *end, size_t count, size_t index, bool from_end) {
    struct listpack_value value;
    char buffer[32];
    listpack_get(listpack_seek(first, index), &value);
    struct slice text = listpack_value_text(&value, buffer);
    char *copy = mem_alloc(text.len + 1);
    if (text.len > 0) memcpy(copy, text.ptr, text.len);
    struct listpack_element needle;
    listpack_prepare(&needle, slice_make(copy, text.len));
    size_t skipped, removed;
    const uint8_t *found = listpack_find(first, end, &needle, SIZE_MAX, &skipped);
    require(found != NULL && skipped <= index && listpack_equal(found, &needle));
    found = listpack_find_back(first, end, &needle, SIZE_MAX, &skipped);
    require(found != NULL && skipped <= count - 1 - index && listpack_equal(found, &needle));
    end = listpack_remove_matching(first, end, &needle, SIZE_MAX, from_end, &removed);
    require(removed > 0 && listpack_body_check(first, end, count - removed));
    require(listpack_find(first, end, &needle, SIZE_MAX, &skipped) == NULL);
    mem_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    uint8_t choice = data[0];
    bool fix_frame = data[1] & 1;
    size -= 2;
    /* An allocation of its own, so that the sanitizer sees a read past its end. */
    uint8_t *bytes = mem_alloc(size);
    memcpy(bytes, data + 2, size);
    if (fix_frame && size >= LISTPACK_OVERHEAD) {
        listpack_write_header(bytes, size - LISTPACK_OVERHEAD, 65535);
        bytes[size - 1] = LISTPACK_END;
    }
    size_t count;
    bool canonical;
    if (listpack_validate(bytes, size, &count, &canonical)) {
        uint8_t *first = bytes + LISTPACK_HEADER_SIZE, *end = bytes + size - 1;
        iterate(first, end, count);
        reply_both_ways(first, end, count);
        require(listpack_body_check(first, end, count) == canonical);
        if (canonical && count > 0) remove_one(first, end, count, choice % count, choice & 128);
    }
    mem_free(bytes);
    return 0;
}
