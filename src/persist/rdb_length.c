#include "persist/rdb_length.h"

#include "base/alloc.h"
#include "base/number.h"
#include "types/list.h"
#include "types/string.h"

#include <liblzf/lzf.h>

enum {
    LZF_MIN_TEXT = 21, /* shorter texts are never packed */
    LZF_MIN_GAIN = 4,
    INTEGER_TEXT_MAX = 11 /* "-2147483648" */
};

/* Memory that is reused from node to node. */
struct scratch {
    uint8_t *bytes;
    size_t size;
};

/* Room for `size` bytes, or NULL when there is not so much memory. */
static uint8_t *scratch_room(struct scratch *scratch, size_t size) {
    if (size <= scratch->size) return scratch->bytes;
    mem_free(scratch->bytes);
    scratch->bytes = mem_try_alloc(size);
    scratch->size = scratch->bytes ? size : 0;
    return scratch->bytes;
}

/* --- Strings --- */

static size_t length_of_length(size_t length) {
    if (length < 1u << 6) return 1;
    if (length < 1u << 14) return 2;
    return length <= UINT32_MAX ? 5 : 9;
}

/* Bytes of a text that is stored as an integer; 0 when it is not one of 32 bits. */
static size_t integer_length(struct slice text) {
    int64_t value;
    if (text.len > INTEGER_TEXT_MAX || !number_parse_int64(text, &value)) return 0;
    if (value >= INT8_MIN && value <= INT8_MAX) return 2;
    if (value >= INT16_MIN && value <= INT16_MAX) return 3;
    return value >= INT32_MIN && value <= INT32_MAX ? 5 : 0;
}

/* Bytes of the text's LZF form; 0 when it is to be stored as it is. */
static size_t packed_length(struct slice text, struct scratch *scratch) {
    if (text.len < LZF_MIN_TEXT || text.len > UINT32_MAX) return 0;
    size_t room = text.len - LZF_MIN_GAIN;
    uint8_t *out = scratch_room(scratch, room);
    if (!out) return 0;
    size_t packed = lzf_compress(text.ptr, (unsigned)text.len, out, (unsigned)room);
    return packed ? 1 + length_of_length(packed) + length_of_length(text.len) + packed : 0;
}

static size_t text_length(struct slice text, struct scratch *scratch) {
    size_t length = integer_length(text);
    if (!length) length = packed_length(text, scratch);
    return length ? length : length_of_length(text.len) + text.len;
}

size_t rdb_length_string(struct slice text) {
    struct scratch scratch = {0};
    size_t length = text_length(text, &scratch);
    mem_free(scratch.bytes);
    return length;
}

/* --- Lists --- */

struct list_walk {
    struct list_iter iter; /* gives each node's body unpacked, in step with the visit */
    struct scratch serialized;
    struct scratch packed;
    size_t length;
};

static void add_packed_node(struct list_walk *walk, const uint8_t *first, const uint8_t *end,
                            size_t count) {
    size_t body = (size_t)(end - first);
    size_t size = body + LISTPACK_OVERHEAD;
    uint8_t *bytes = scratch_room(&walk->serialized, size);
    walk->length++;
    if (!bytes) { /* no memory to try: as if it did not shrink */
        walk->length += length_of_length(size) + size;
        return;
    }
    listpack_write_header(bytes, body, count);
    if (body) memcpy(bytes + LISTPACK_HEADER_SIZE, first, body);
    bytes[size - 1] = LISTPACK_END;
    walk->length += text_length(slice_make(bytes, size), &walk->packed);
}

static void add_plain_node(struct list_walk *walk, const uint8_t *element) {
    char digits[INT64_TEXT_MAX];
    struct listpack_value value;
    listpack_get(element, &value);
    walk->length += 1 + text_length(listpack_value_text(&value, digits), &walk->packed);
}

static void add_node(const struct quicklist_node_info *info, void *arg) {
    struct list_walk *walk = arg;
    struct quicklist_run run;
    if (!list_iter_run(&walk->iter, &run)) return;
    if (info->plain)
        add_plain_node(walk, run.first);
    else
        add_packed_node(walk, run.first, run.end, run.count);
}

static size_t list_rdb_length(const struct entry *entry) {
    struct list_walk walk = {0};
    const struct quicklist *list = list_quicklist(entry);
    walk.length = length_of_length(list ? quicklist_node_count(list) : 1);
    if (list) {
        list_iter_start(&walk.iter, entry, 0, LIST_FORWARD);
        quicklist_visit_nodes(list, add_node, &walk);
        list_iter_end(&walk.iter);
    } else {
        const uint8_t *first, *end;
        list_single_body(entry, &first, &end);
        add_packed_node(&walk, first, end, list_length(entry));
    }
    mem_free(walk.serialized.bytes);
    mem_free(walk.packed.bytes);
    return walk.length;
}

size_t rdb_length_value(const struct entry *entry) {
    if (entry_type(entry) == VALUE_LIST) return list_rdb_length(entry);
    char digits[INT64_TEXT_MAX];
    return rdb_length_string(string_text(entry, digits));
}
