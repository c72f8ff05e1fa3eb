/* Lists in files:
 *
 *      RDB_LIST              [count] string …                          Redis before 2.6, long ones
 *      RDB_LIST_ZIPLIST      string              one ziplist           2.6 … 3.0, short ones
 *      RDB_LIST_QUICKLIST    [nodes] string …    ziplists              3.2 … 6.2
 *      RDB_LIST_QUICKLIST_2  [nodes] node …                            7.0 on
 *      node                  [1 = plain] string  the element
 *                            [2 = packed] string a listpack
 *
 * Lists are written in the last form, node by node. The streams of compressed nodes are copied.
 *
 * The back length of an element with 16383 bytes of header and text takes 3 bytes in a listpack of
 * Redis and 2 in one of Valkey from 9.1 on, and each rejects the other's. Such an element is
 * written as a plain node, which all can read. (The next such lengths, beyond 2 MB, are in plain
 * nodes anyway.) */
#include "base/lzf/lzf.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "ds/lists/quicklist_build.h"
#include "persist/rdb_body.h"
#include "persist/rdb_format.h"
#include "persist/type_format.h"
#include "types/list.h"

#include <assert.h>

/* --- Writing --- */

static void write_plain_element(struct rdb_writer *writer, const uint8_t *element) {
    struct listpack_value value;
    listpack_get(element, &value);
    if (value.ptr)
        rdb_write_string(writer, slice_make(value.ptr, value.len));
    else
        rdb_write_integer(writer, value.integer);
}

/* Returns the decompressed body of a node; the caller frees it. */
static uint8_t *decompress_node(const struct quicklist_node_info *node) {
    uint8_t *bytes = mem_alloc(node->body_size);
    bool good =
        lzf_decompress_text(slice_make(node->data, node->compressed_size), bytes, node->body_size);
    assert(good);
    (void)good;
    return bytes;
}

static void write_node(struct rdb_writer *writer, const struct quicklist_node_info *node) {
    rdb_write_byte(writer, node->plain ? RDB_CONTAINER_PLAIN : RDB_CONTAINER_PACKED);
    if (node->plain && node->compressed_size) {
        uint8_t *element = decompress_node(node); /* compressed with the element's headers */
        write_plain_element(writer, element);
        mem_free(element);
    } else if (node->plain) {
        write_plain_element(writer, node->data);
    } else if (node->compressed_size) {
        rdb_write_compressed_listpack(writer, slice_make(node->data, node->compressed_size),
                                      node->body_size, node->count);
    } else {
        rdb_write_listpack(writer, node->data, node->data + node->body_size, node->count);
    }
}

enum { DISPUTED_SIZE = 16383 + 3 }; /* size of an element that is read differently */

/* Returns the first such element of the body, or its end. *count gets the number of elements before
 * it. */
static const uint8_t *find_disputed(const uint8_t *first, const uint8_t *end, size_t *count) {
    *count = 0;
    while (first < end) {
        size_t size = listpack_size(first);
        if (size == DISPUTED_SIZE) break;
        first += size;
        ++*count;
    }
    return first;
}

/* Writes nodes, or only counts them if there is no writer. */
struct list_writer {
    struct rdb_writer *out;
    uint64_t nodes;
};

/* Writes a body that has disputed elements, in pieces. */
static void write_pieces(struct list_writer *list, const uint8_t *first, const uint8_t *end) {
    while (first < end) {
        struct quicklist_node_info piece = {.data = first};
        const uint8_t *stop = find_disputed(first, end, &piece.count);
        piece.plain = stop == first;
        if (piece.plain) stop += DISPUTED_SIZE;
        piece.body_size = (size_t)(stop - first);
        list->nodes++;
        if (list->out) write_node(list->out, &piece);
        first = stop;
    }
}

/* Writes the node in pieces if it has disputed elements. Returns whether it did. */
static bool write_disputed_node(struct list_writer *list, const struct quicklist_node_info *node) {
    if (node->plain || node->body_size < DISPUTED_SIZE) return false;
    uint8_t *decompressed = node->compressed_size ? decompress_node(node) : NULL;
    const uint8_t *first = decompressed ? decompressed : node->data, *end = first + node->body_size;
    size_t before;
    bool disputed = find_disputed(first, end, &before) < end;
    if (disputed) write_pieces(list, first, end);
    mem_free(decompressed);
    return disputed;
}

static void visit_node(const struct quicklist_node_info *node, void *arg) {
    struct list_writer *list = arg;
    if (write_disputed_node(list, node)) return;
    list->nodes++;
    if (list->out) write_node(list->out, node);
}

/* NULL: the list is in its entry. */
static const struct quicklist *quicklist_of(struct value_source source) {
    return source.entry ? list_quicklist(source.entry) : quicklist_captured(source.capture);
}

static void visit_nodes(struct value_source source,
                        void (*visit)(const struct quicklist_node_info *node, void *arg),
                        void *arg) {
    const struct quicklist *quicklist = quicklist_of(source);
    if (quicklist) {
        quicklist_visit_nodes(quicklist, visit, arg);
        return;
    }
    const uint8_t *first, *end;
    list_single_body(source.entry, &first, &end);
    struct quicklist_node_info node = {
        .data = first, .body_size = (size_t)(end - first), .count = list_length(source.entry)};
    visit(&node, arg);
}

static unsigned list_format_written(const struct entry *entry) {
    (void)entry;
    return RDB_LIST_QUICKLIST_2;
}

static void list_format_write(struct rdb_writer *writer, struct value_source source) {
    struct list_writer list = {.out = NULL};
    visit_nodes(source, visit_node, &list);
    rdb_write_length(writer, list.nodes);
    list.out = writer;
    visit_nodes(source, visit_node, &list);
}

/* --- As commands, and in digests --- */

static void push_elements(const struct quicklist_node_info *node, void *arg) {
    struct value_commands_members *members = arg;
    uint8_t *decompressed = node->compressed_size ? decompress_node(node) : NULL;
    const uint8_t *at = decompressed ? decompressed : node->data, *end = at + node->body_size;
    while (at < end) {
        struct listpack_value element;
        char digits[INT64_TEXT_MAX];
        at += listpack_get(at, &element);
        value_commands_member(members);
        value_commands_text(members->writer, listpack_value_text(&element, digits));
    }
    mem_free(decompressed);
}

static void list_format_write_commands(struct rdb_writer *writer, struct slice key,
                                       struct value_source source) {
    const struct quicklist *quicklist = quicklist_of(source);
    struct value_commands_members members = {
        .writer = writer, .name = "RPUSH", .key = key, .arguments = 1};
    members.left = quicklist ? quicklist_count(quicklist) : list_length(source.entry);
    visit_nodes(source, push_elements, &members);
}

static void list_format_digest(struct digest *digest, uint8_t to[DIGEST_SIZE],
                               const struct entry *entry) {
    struct quicklist_iter iter;
    const uint8_t *element;
    list_iter_start(&iter, entry, 0, LIST_FORWARD);
    while ((element = quicklist_iter_next(&iter))) {
        char digits[INT64_TEXT_MAX];
        struct listpack_value value;
        listpack_get(element, &value);
        digest_mix(digest, to, listpack_value_text(&value, digits));
    }
    quicklist_iter_end(&iter);
}

/* --- Reading --- */

struct list_load {
    struct rdb_reader *reader;
    const struct quicklist_limits *limits;
    struct slice key;
    struct rdb_scratch body;   /* bodies that were encoded anew */
    struct rdb_scratch stream; /* streams without the listpack's frame */
};

/* Sets *body to the body in the string that was read last. */
static bool view_body(struct list_load *load, bool ziplist, const struct rdb_stored_string *string,
                      struct rdb_body *body) {
    struct slice text = string->bytes;
    if (string->compressed && !rdb_decompress_string(load->reader, string, &text)) return false;
    return rdb_view_body(load->reader, text, ziplist, &load->body, body);
}

/* Adds the node with its stored stream, without the listpack's frame, if the list keeps such nodes
 * compressed. The caller has checked that the stream is valid and expands to `body`. Returns
 * whether it did. */
static bool keep_stream(struct list_load *load, struct quicklist_builder *builder,
                        const struct rdb_stored_string *string, const struct rdb_body *body) {
    size_t size = (size_t)(body->end - body->first);
    bool as_stored = body->first != load->body.bytes;
    if (!string->compressed || !as_stored || !quicklist_build_is_deep(builder)) return false;
    if (load->stream.size < string->bytes.len) {
        mem_free(load->stream.bytes);
        load->stream.size = mem_good_size(string->bytes.len);
        load->stream.bytes = mem_alloc(load->stream.size);
    }
    size_t trimmed = lzf_trim(string->bytes, LISTPACK_HEADER_SIZE, 1, load->stream.bytes);
    return trimmed > 0 && quicklist_build_compressed(
                              builder, slice_make(load->stream.bytes, trimmed), size, body->count);
}

/* Decompresses a listpack directly into a new node, which works for most nodes of long lists.
 * Returns false and adds nothing otherwise: view_body() handles bad listpacks and those that must
 * be encoded anew. */
static bool add_decompressed(struct quicklist_builder *builder,
                             const struct rdb_stored_string *string) {
    enum { SIZE_MAX_TAKEN = 1 << 16 }; /* a bad length must not cause a large allocation */
    uint8_t header[LISTPACK_HEADER_SIZE];
    size_t size = string->len - LISTPACK_OVERHEAD, count;
    bool canonical;
    if (!string->compressed || string->len <= LISTPACK_OVERHEAD || size > SIZE_MAX_TAKEN ||
        mem_good_size(size) == size || quicklist_build_is_deep(builder))
        return false;
    uint8_t *body = quicklist_build_room(builder, size); /* including the end byte */
    bool good = lzf_decompress_split(string->bytes, header, sizeof(header), body, size + 1) &&
                listpack_validate_split(header, body, size, &count, &canonical) && canonical;
    return quicklist_build_room_used(builder, good ? count : 0);
}

static bool add_packed_node(struct list_load *load, struct quicklist_builder *builder,
                            bool ziplist) {
    struct rdb_stored_string string;
    struct rdb_body body;
    if (!rdb_read_stored_string(load->reader, &string)) return false;
    if (!ziplist && add_decompressed(builder, &string)) return true;
    if (!view_body(load, ziplist, &string, &body)) return false;
    if (body.count == 0) return true;
    if (ziplist || !keep_stream(load, builder, &string, &body))
        quicklist_build_body(builder, body.first, body.end, body.count);
    return true;
}

/* Reads the next element. */
static bool read_element(struct list_load *load, struct listpack_element *element) {
    struct slice text;
    if (!rdb_read_string(load->reader, &text)) return false;
    if (text.len > TEXT_LENGTH_MAX)
        return rdb_reader_fail(load->reader, "an element of a list is too long");
    listpack_prepare(element, text);
    return true;
}

static bool add_plain_node(struct list_load *load, struct quicklist_builder *builder) {
    struct listpack_element element;
    if (!read_element(load, &element)) return false;
    quicklist_build_plain(builder, &element);
    return true;
}

/* Reads the kind of the next node; files from before 7.0 have only packed ones. */
static bool read_container(struct list_load *load, unsigned type, uint64_t *container) {
    *container = RDB_CONTAINER_PACKED;
    if (type != RDB_LIST_QUICKLIST_2) return true;
    if (!rdb_read_length(load->reader, container)) return false;
    return *container == RDB_CONTAINER_PACKED || *container == RDB_CONTAINER_PLAIN ||
           rdb_reader_fail(load->reader, "unknown kind of list node: %llu",
                           (unsigned long long)*container);
}

static bool add_nodes(struct list_load *load, struct quicklist_builder *builder, unsigned type,
                      uint64_t nodes) {
    for (; nodes > 0; nodes--) {
        uint64_t container;
        if (!read_container(load, type, &container)) return false;
        bool added = container == RDB_CONTAINER_PLAIN
                         ? add_plain_node(load, builder)
                         : add_packed_node(load, builder, type != RDB_LIST_QUICKLIST_2);
        if (!added) return false;
    }
    return true;
}

/* Nodes without elements are left out. */
static struct entry *read_nodes(struct list_load *load, unsigned type, uint64_t nodes) {
    struct quicklist_builder builder;
    quicklist_build_start(&builder, *load->limits, nodes);
    if (!add_nodes(load, &builder, type, nodes)) {
        quicklist_build_abort(&builder);
        return NULL;
    }
    struct quicklist *list = quicklist_build_finish(&builder);
    if (quicklist_count(list) > 0) return list_from_quicklist(load->key, list, load->limits);
    quicklist_free(list);
    rdb_reader_fail_empty(load->reader);
    return NULL;
}

/* Reads a list of one node. Most lists are small and need no quicklist. */
static struct entry *read_one_node(struct list_load *load, unsigned type) {
    uint64_t container;
    struct rdb_stored_string string;
    struct rdb_body body;
    if (!read_container(load, type, &container)) return NULL;
    if (container == RDB_CONTAINER_PLAIN) {
        struct quicklist_builder builder;
        quicklist_build_start(&builder, *load->limits, 1);
        if (add_plain_node(load, &builder))
            return list_from_quicklist(load->key, quicklist_build_finish(&builder), load->limits);
        quicklist_build_abort(&builder);
        return NULL;
    }
    if (!rdb_read_stored_string(load->reader, &string)) return NULL;
    if (!view_body(load, type != RDB_LIST_QUICKLIST_2, &string, &body)) return NULL;
    if (body.count > 0)
        return list_from_body(load->key, body.first, body.end, body.count, load->limits);
    rdb_reader_fail_empty(load->reader);
    return NULL;
}

/* Reads the oldest form: element after element. */
static struct entry *read_elements(struct list_load *load, uint64_t count) {
    struct quicklist *list = quicklist_new(*load->limits);
    for (; count > 0; count--) {
        struct listpack_element element;
        if (!read_element(load, &element)) {
            quicklist_free(list);
            return NULL;
        }
        quicklist_push(list, LIST_TAIL, &element);
    }
    return list_from_quicklist(load->key, list, load->limits);
}

static struct entry *list_format_read(struct rdb_reader *reader, unsigned type, struct slice key,
                                      const struct rdb_load_options *options) {
    struct list_load load = {.reader = reader, .limits = &options->limits.list, .key = key};
    struct entry *entry = NULL;
    uint64_t length = 1;
    if (type != RDB_LIST_ZIPLIST && !rdb_read_length(reader, &length)) return NULL;
    if (length == 0)
        rdb_reader_fail_empty(reader);
    else if (type == RDB_LIST)
        entry = read_elements(&load, length);
    else if (length == 1)
        entry = read_one_node(&load, type);
    else
        entry = read_nodes(&load, type, length);
    mem_free(load.body.bytes);
    mem_free(load.stream.bytes);
    return entry;
}

const struct type_format list_format = TYPE_FORMAT(list);
