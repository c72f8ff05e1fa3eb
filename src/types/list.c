/* Lists: chooses and converts layouts and encodings. The work on elements is done here for a list
 * in its entry, whose body types/packed.h draws, and in ds/lists/quicklist for any other.
 *
 *      EMBEDDED --- the body outgrows the entry --> LISTPACK (out-of-line, one raw node)
 *         ^                                              |      ^
 *         +--- the body falls to half of what fits ------+      |
 *                                                               |
 *      either of them --- a command exceeds the limits --> QUICKLIST
 *                    <--- one node of half the limits ---
 *
 * Invariants: only a list of one raw node that is not plain is labelled LISTPACK; its quicklist has
 * the widest limits possible, so that the node is split only when it exceeds even those, and then
 * the list becomes a QUICKLIST. A QUICKLIST has the limits of the configuration at the time it
 * became one. Each function that changes the length of a list reports it to the keyspace. */
#include "types/list.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/prefetch.h"
#include "base/text/number.h"
#include "ds/lists/quicklist_build.h"
#include "types/packed.h"
#include "types/type_operations.h"
#include "types/value.h"

/* The encoding nibble of a list's entry. */
enum list_encoding {
    LIST_EMBEDDED, /* a body in the entry */
    /* A pointer to a quicklist, shown as listpack if it is one raw node, and as quicklist. */
    LIST_LISTPACK = ENTRY_OUT_OF_LINE,
    LIST_QUICKLIST
};

/* The limits of an out-of-line list shown as listpack: its one node may be as large as possible. */
static const struct quicklist_limits one_node_limits = {.fill = QUICKLIST_FILL_WHOLE};

static bool list_is_embedded(const struct entry *entry) {
    CHECKED_ASSERT(entry_type(entry) == VALUE_LIST);
    return entry_encoding(entry) == LIST_EMBEDDED;
}

/* Returns whether a body of this size may be inside an entry. Its header is then the small one. */
static bool fits_entry(size_t size, size_t count) {
    return size <= LIST_EMBEDDED_MAX && count <= PACKED_SMALL_COUNT_MAX;
}
_Static_assert(LIST_EMBEDDED_MAX <= PACKED_SMALL_SIZE_MAX, "an entry has the small header");

/* The start of element `index` (== count: the end). O(body). */
static const uint8_t *seek(struct packed body, uint64_t index) {
    CHECKED_ASSERT(index <= body.count);
    return listpack_seek_in(body.first, body.end, body.count, (size_t)index);
}

static struct quicklist *out_of_line(const struct entry *entry) {
    return entry_pointer(entry);
}

/* Bytes of a list of one node as one serialized listpack. */
static size_t serialized_size(const struct entry *entry) {
    return list_is_embedded(entry) ? packed_size(packed_view(entry)) + LISTPACK_OVERHEAD
                                   : quicklist_serialized_size(out_of_line(entry));
}

/* --- Conversions --- */

static void move_out_of_line(struct keyref *ref, enum list_encoding encoding,
                             struct quicklist_limits limits) {
    struct entry *entry = ref->entry;
    struct packed body = packed_view(entry);
    packed_move_out(&entry, encoding,
                    body.count ? quicklist_from_body(limits, body.first, body.end, body.count)
                               : quicklist_new(limits));
    keyref_moved(ref, entry);
}

/* Moves an out-of-line list of one raw node, whose body fits, into the entry. */
static void embed(struct keyref *ref) {
    struct entry *entry = ref->entry;
    struct quicklist *list = out_of_line(entry);
    const uint8_t *first, *end;
    if (!quicklist_single_body(list, &first, &end)) return;
    size_t size = (size_t)(end - first);
    memcpy(packed_move_in(&entry, LIST_EMBEDDED, size, quicklist_count(list)), first, size);
    keyref_moved(ref, entry);
    quicklist_free(list);
}

static void become_quicklist(struct keyref *ref, const struct quicklist_limits *limits) {
    if (list_is_embedded(ref->entry)) {
        move_out_of_line(ref, LIST_QUICKLIST, *limits);
    } else {
        quicklist_set_limits(out_of_line(ref->entry), *limits);
        entry_set_type(ref->entry, VALUE_LIST, LIST_QUICKLIST);
    }
}

/* To be called after growth: a list shown as listpack that no longer has one raw node becomes a
 * quicklist. */
static void choose_encoding(struct keyref *ref, const struct quicklist_limits *limits) {
    const uint8_t *first, *end;
    if (!quicklist_single_body(out_of_line(ref->entry), &first, &end))
        become_quicklist(ref, limits);
}

/* Returns whether a quicklist has fallen to half of what a listpack may be. A limit of count or
 * bytes is halved as Redis does, rounding down. */
static bool fell_to_half(const struct quicklist *list, const struct quicklist_limits *limits) {
    const uint8_t *first, *end;
    size_t count = quicklist_count(list);
    if (!quicklist_single_body(list, &first, &end)) return false;
    /* When the limit is a number of elements, bytes do not matter. */
    if (limits->fill >= 0) return count <= (size_t)limits->fill / 2;
    return !quicklist_exceeds_fill(limits->fill, 2 * quicklist_serialized_size(list), count);
}

/* To be called after a removal or replacement. */
static void shrink(struct keyref *ref, const struct quicklist_limits *limits) {
    unsigned encoding = entry_encoding(ref->entry);
    if (encoding == LIST_EMBEDDED) return;
    struct quicklist *list = out_of_line(ref->entry);
    if (quicklist_node_count(list) != 1) return;
    if (encoding == LIST_QUICKLIST) {
        if (!fell_to_half(list, limits)) return;
        quicklist_set_limits(list, one_node_limits);
        entry_set_type(ref->entry, VALUE_LIST, LIST_LISTPACK);
    }
    if (quicklist_serialized_size(list) <= LIST_EMBEDDED_MAX / 2 + LISTPACK_OVERHEAD &&
        quicklist_count(list) <= PACKED_SMALL_COUNT_MAX)
        embed(ref);
}

/* --- Growing --- */

/* Returns whether a listpack of `size` serialized bytes and `count` elements would exceed the
 * limits with `more` elements in it. Counts the length of the texts, not of the encoded elements,
 * as Redis does. */
static bool outgrows(size_t size, size_t count, const struct slice *elements, size_t more,
                     const struct quicklist_limits *limits) {
    for (size_t i = 0; i < more; i++) size += elements[i].len;
    return quicklist_exceeds_fill(limits->fill, size, count + more);
}

/* A few prepared elements at a time. */
struct batch {
    struct listpack_element items[16];
    size_t count;
    size_t size; /* of all of them as a body */
};

static void batch_prepare(struct batch *batch, const struct slice *elements, size_t count) {
    size_t max = sizeof(batch->items) / sizeof(batch->items[0]);
    batch->count = count < max ? count : max;
    batch->size = 0;
    for (size_t i = 0; i < batch->count; i++) {
        listpack_prepare(&batch->items[i], elements[i]);
        batch->size += batch->items[i].size;
    }
}

/* Writes the batch as a body at `dst`: in reverse when it is pushed at the head. */
static void batch_write(const struct batch *batch, uint8_t *dst, enum list_end end) {
    for (size_t i = 0; i < batch->count; i++) {
        const struct listpack_element *item =
            &batch->items[end == LIST_TAIL ? i : batch->count - 1 - i];
        listpack_write(dst, item);
        dst += item->size;
    }
}

/* Returns the new length. */
static uint64_t push_out_of_line(struct quicklist *list, enum list_end end,
                                 const struct slice *elements, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct listpack_element element;
        listpack_prepare(&element, elements[i]);
        quicklist_push(list, end, &element);
    }
    return quicklist_count(list);
}

/* Pushes to a list that stays a listpack, in batches as long as it stays embedded. Returns the new
 * length. */
static uint64_t push_listpack(struct keyref *ref, enum list_end end, const struct slice *elements,
                              size_t count, const struct quicklist_limits *limits) {
    while (count && list_is_embedded(ref->entry)) {
        struct batch batch;
        batch_prepare(&batch, elements, count);
        struct packed body = packed_view(ref->entry);
        size_t size = packed_size(body), length = body.count + batch.count;
        if (!fits_entry(size + batch.size, length)) {
            move_out_of_line(ref, LIST_LISTPACK, one_node_limits);
            break;
        }
        size_t at = end == LIST_HEAD ? 0 : size;
        batch_write(&batch, packed_splice_key(ref, at, 0, batch.size, length), end);
        elements += batch.count;
        count -= batch.count;
    }
    if (count == 0) return list_length(ref->entry);
    uint64_t length = push_out_of_line(out_of_line(ref->entry), end, elements, count);
    choose_encoding(ref, limits);
    return length;
}

/* Returns the body of a list in an entry of its own. */
static struct entry *embedded_from_body(struct slice key, const uint8_t *first, size_t size,
                                        size_t count) {
    uint8_t *body;
    struct entry *entry = packed_new(key, VALUE_LIST, LIST_EMBEDDED, size, count, &body);
    memcpy(body, first, size);
    return entry;
}

/* Returns a list that is shown as listpack if it has one raw node, and whose limits are those of
 * one; takes ownership of it. */
static struct entry *from_one_node(struct slice key, struct quicklist *list,
                                   const struct quicklist_limits *limits) {
    const uint8_t *first, *end;
    size_t count = quicklist_count(list);
    if (!quicklist_single_body(list, &first, &end)) {
        quicklist_set_limits(list, *limits);
        return entry_new_pointer(key, VALUE_LIST, LIST_QUICKLIST, list);
    }
    if (!fits_entry((size_t)(end - first), count))
        return entry_new_pointer(key, VALUE_LIST, LIST_LISTPACK, list);
    struct entry *entry = embedded_from_body(key, first, (size_t)(end - first), count);
    quicklist_free(list);
    return entry;
}

struct entry *list_new(struct slice key, enum list_end end, const struct slice *elements,
                       size_t count, const struct quicklist_limits *limits) {
    CHECKED_ASSERT(count > 0);
    struct batch batch;
    batch_prepare(&batch, elements, count);
    bool large = outgrows(LISTPACK_OVERHEAD, 0, elements, count, limits);
    if (!large && batch.count == count && fits_entry(batch.size, count)) {
        uint8_t *first;
        struct entry *entry = packed_new(key, VALUE_LIST, LIST_EMBEDDED, batch.size, count, &first);
        batch_write(&batch, first, end);
        return entry;
    }
    struct quicklist *list = quicklist_new(large ? *limits : one_node_limits);
    push_out_of_line(list, end, elements, count);
    if (large) return entry_new_pointer(key, VALUE_LIST, LIST_QUICKLIST, list);
    return from_one_node(key, list, limits);
}

void list_create(struct keyref *ref, struct slice key, enum list_end end,
                 const struct slice *elements, size_t count,
                 const struct quicklist_limits *limits) {
    keyspace_add(ref, list_new(key, end, elements, count, limits));
}

struct entry *list_from_body(struct slice key, const uint8_t *first, const uint8_t *end,
                             size_t count, const struct quicklist_limits *limits) {
    size_t size = (size_t)(end - first);
    CHECKED_ASSERT(listpack_body_check(first, end, count));
    if (!fits_entry(size, count) ||
        quicklist_exceeds_fill(limits->fill, size + LISTPACK_OVERHEAD, count))
        return list_from_quicklist(key, quicklist_from_body(*limits, first, end, count), limits);
    return embedded_from_body(key, first, size, count);
}

struct entry *list_from_quicklist(struct slice key, struct quicklist *list,
                                  const struct quicklist_limits *limits) {
    const uint8_t *first, *end;
    size_t count = quicklist_count(list);
    CHECKED_ASSERT(count > 0 && quicklist_limits_of(list).fill == limits->fill);
    if (!quicklist_single_body(list, &first, &end) ||
        quicklist_exceeds_fill(limits->fill, (size_t)(end - first) + LISTPACK_OVERHEAD, count))
        return entry_new_pointer(key, VALUE_LIST, LIST_QUICKLIST, list);
    quicklist_set_limits(list, one_node_limits);
    return from_one_node(key, list, limits);
}

/* Returns the new length. */
static uint64_t push(struct keyref *ref, enum list_end end, const struct slice *elements,
                     size_t count, const struct quicklist_limits *limits) {
    if (entry_encoding(ref->entry) != LIST_QUICKLIST) {
        if (!outgrows(serialized_size(ref->entry), list_length(ref->entry), elements, count,
                      limits))
            return push_listpack(ref, end, elements, count, limits);
        become_quicklist(ref, limits);
    }
    return push_out_of_line(out_of_line(ref->entry), end, elements, count);
}

void list_push(struct keyref *ref, enum list_end end, const struct slice *elements, size_t count,
               const struct quicklist_limits *limits) {
    CHECKED_ASSERT(count > 0 && !value_entry_overlaps(ref->entry, elements[0]));
    uint64_t length = push(ref, end, elements, count, limits);
    CHECKED_ASSERT(list_length(ref->entry) == length && length >= count);
    keyspace_resized(ref, length - count, length);
}

static void insert(struct keyref *ref, uint64_t index, bool after, struct slice text,
                   const struct quicklist_limits *limits) {
    if (entry_encoding(ref->entry) != LIST_QUICKLIST &&
        outgrows(serialized_size(ref->entry), list_length(ref->entry), &text, 1, limits))
        become_quicklist(ref, limits);
    struct listpack_element element;
    listpack_prepare(&element, text);
    if (list_is_embedded(ref->entry)) {
        struct packed body = packed_view(ref->entry);
        if (fits_entry(packed_size(body) + element.size, body.count + 1)) {
            size_t at = (size_t)(seek(body, index + after) - body.first);
            listpack_write(packed_splice_key(ref, at, 0, element.size, body.count + 1), &element);
            return;
        }
        move_out_of_line(ref, LIST_LISTPACK, one_node_limits);
    }
    quicklist_insert(out_of_line(ref->entry), index, after, &element);
    if (entry_encoding(ref->entry) == LIST_LISTPACK) choose_encoding(ref, limits);
}

void list_insert(struct keyref *ref, uint64_t index, bool after, struct slice text,
                 const struct quicklist_limits *limits) {
    uint64_t old_length = list_length(ref->entry);
    CHECKED_ASSERT(index < old_length && !value_entry_overlaps(ref->entry, text));
    insert(ref, index, after, text, limits);
    CHECKED_ASSERT(list_length(ref->entry) == old_length + 1);
    keyspace_resized(ref, old_length, old_length + 1);
}

/* --- Replacing and moving --- */

/* Bytes of the element at `index` of a list that is one listpack. */
static size_t element_size(const struct entry *entry, uint64_t index) {
    struct quicklist_iter iter;
    list_iter_start(&iter, entry, index, LIST_FORWARD);
    size_t size = listpack_size(quicklist_iter_next(&iter));
    quicklist_iter_end(&iter);
    return size;
}

/* Returns whether a list that is one listpack would exceed the limits with `element` at `index`.
 * Exact: a list that still fits stays a listpack. */
static bool outgrows_by_set(const struct entry *entry, uint64_t index,
                            const struct listpack_element *element,
                            const struct quicklist_limits *limits) {
    size_t size = serialized_size(entry) + element->size;
    uint64_t count = list_length(entry);
    return quicklist_exceeds_fill(limits->fill, size, count) &&
           quicklist_exceeds_fill(limits->fill, size - element_size(entry, index), count);
}

void list_set(struct keyref *ref, uint64_t index, struct slice text,
              const struct quicklist_limits *limits) {
    CHECKED_ASSERT(index < list_length(ref->entry) && !value_entry_overlaps(ref->entry, text));
    struct listpack_element element;
    listpack_prepare(&element, text);
    if (entry_encoding(ref->entry) != LIST_QUICKLIST &&
        outgrows_by_set(ref->entry, index, &element, limits))
        become_quicklist(ref, limits);
    if (list_is_embedded(ref->entry)) {
        struct packed body = packed_view(ref->entry);
        const uint8_t *old = seek(body, index);
        size_t at = (size_t)(old - body.first), old_size = listpack_size(old);
        if (fits_entry(packed_size(body) - old_size + element.size, body.count)) {
            listpack_write(packed_splice_key(ref, at, old_size, element.size, body.count),
                           &element);
            return;
        }
        move_out_of_line(ref, LIST_LISTPACK, one_node_limits);
    }
    quicklist_replace(out_of_line(ref->entry), index, &element);
    if (entry_encoding(ref->entry) == LIST_LISTPACK) choose_encoding(ref, limits);
    shrink(ref, limits);
}

/* Moves an end element of a body to its other end. O(body). */
static void rotate_embedded(struct packed body, enum list_end from) {
    uint8_t moved[LIST_EMBEDDED_MAX];
    size_t size = from == LIST_HEAD ? listpack_size(body.first) : listpack_size_before(body.end);
    size_t rest = packed_size(body) - size;
    if (from == LIST_HEAD) {
        memcpy(moved, body.first, size);
        memmove(body.first, body.first + size, rest);
        memcpy(body.end - size, moved, size);
    } else {
        memcpy(moved, body.end - size, size);
        memmove(body.first + size, body.first, rest);
        memcpy(body.first, moved, size);
    }
}

/* Moves an end element of an out-of-line list. Its text is copied first, because a push may move or
 * free the memory that it lies in. */
static void rotate_out_of_line(struct quicklist *list, enum list_end from, struct slice text) {
    char buffer[1024];
    char *copy = text.len <= sizeof(buffer) ? buffer : mem_alloc(text.len);
    memcpy(copy, text.ptr, text.len);
    struct listpack_element element;
    listpack_prepare(&element, slice_make(copy, text.len));
    quicklist_drop(list, from, 1);
    quicklist_push(list, from == LIST_HEAD ? LIST_TAIL : LIST_HEAD, &element);
    if (copy != buffer) mem_free(copy);
}

void list_rotate(struct keyref *ref, enum list_end from, const struct quicklist_limits *limits) {
    CHECKED_ASSERT(list_length(ref->entry) > 0);
    if (list_length(ref->entry) == 1) return;
    const uint8_t *element = list_peek(ref->entry, from);
    char buffer[INT64_TEXT_MAX];
    struct listpack_value value;
    size_t size = listpack_get(element, &value);
    struct slice text = listpack_value_text(&value, buffer);
    if (entry_encoding(ref->entry) != LIST_QUICKLIST &&
        outgrows(serialized_size(ref->entry) - size, list_length(ref->entry) - 1, &text, 1,
                 limits)) {
        become_quicklist(ref, limits);
        listpack_get(list_peek(ref->entry, from), &value);
        text = listpack_value_text(&value, buffer);
    }
    if (list_is_embedded(ref->entry)) {
        rotate_embedded(packed_view(ref->entry), from);
        return;
    }
    rotate_out_of_line(out_of_line(ref->entry), from, text);
    if (entry_encoding(ref->entry) == LIST_LISTPACK) choose_encoding(ref, limits);
    shrink(ref, limits);
}

/* --- Removing --- */

/* Removes `n` elements of an embedded list from `index` on. O(body). */
static void delete_embedded(struct keyref *ref, uint64_t index, uint64_t n) {
    struct packed body = packed_view(ref->entry);
    const uint8_t *from = seek(body, index), *to = seek(body, index + n);
    packed_splice_key(ref, (size_t)(from - body.first), (size_t)(to - from), 0,
                      body.count - (size_t)n);
}

void list_drop(struct keyref *ref, enum list_end end, uint64_t count,
               const struct quicklist_limits *limits) {
    uint64_t old_length = list_length(ref->entry), length = old_length - count;
    CHECKED_ASSERT(count <= old_length);
    if (list_is_embedded(ref->entry)) {
        delete_embedded(ref, end == LIST_HEAD ? 0 : length, count);
    } else {
        quicklist_drop(out_of_line(ref->entry), end, count);
        shrink(ref, limits);
    }
    keyspace_resized(ref, old_length, length);
}

void list_trim(struct keyref *ref, uint64_t from, uint64_t count,
               const struct quicklist_limits *limits) {
    uint64_t old_length = list_length(ref->entry), behind = old_length - from - count;
    CHECKED_ASSERT(from <= old_length && count <= old_length - from);
    if (list_is_embedded(ref->entry)) {
        delete_embedded(ref, from + count, behind);
        delete_embedded(ref, 0, from);
    } else {
        struct quicklist *list = out_of_line(ref->entry);
        quicklist_drop(list, LIST_TAIL, behind);
        quicklist_drop(list, LIST_HEAD, from);
        shrink(ref, limits);
    }
    keyspace_resized(ref, old_length, count);
}

static uint64_t remove_from_embedded(struct keyref *ref, const struct listpack_element *needle,
                                     uint64_t max, enum list_direction direction) {
    struct packed body = packed_view(ref->entry);
    size_t removed;
    const uint8_t *end = listpack_remove_matching(body.first, body.end, needle,
                                                  max < body.count ? (size_t)max : body.count,
                                                  direction == LIST_BACKWARD, &removed);
    packed_splice_key(ref, (size_t)(end - body.first), (size_t)(body.end - end), 0,
                      body.count - removed);
    return removed;
}

uint64_t list_remove(struct keyref *ref, struct slice text, uint64_t max,
                     enum list_direction direction, const struct quicklist_limits *limits) {
    struct listpack_element needle;
    CHECKED_ASSERT(!value_entry_overlaps(ref->entry, text));
    listpack_prepare(&needle, text);
    uint64_t old_length = list_length(ref->entry);
    uint64_t removed;
    if (list_is_embedded(ref->entry)) {
        removed = remove_from_embedded(ref, &needle, max, direction);
    } else {
        removed = quicklist_remove_matching(out_of_line(ref->entry), &needle, max, direction);
        if (removed) shrink(ref, limits);
    }
    keyspace_resized(ref, old_length, old_length - removed);
    return removed;
}

/* --- Looking --- */

uint64_t list_length(const struct entry *entry) {
    return list_is_embedded(entry) ? packed_small_count(entry)
                                   : quicklist_count(out_of_line(entry));
}

const uint8_t *list_peek(const struct entry *entry, enum list_end end) {
    CHECKED_ASSERT(list_length(entry) > 0);
    if (!list_is_embedded(entry)) return quicklist_peek(out_of_line(entry), end);
    struct packed body = packed_view(entry);
    return end == LIST_HEAD ? body.first : body.end - listpack_size_before(body.end);
}

/* --- Reading in order --- */

void list_iter_start(struct quicklist_iter *iter, const struct entry *entry, uint64_t index,
                     enum list_direction direction) {
    CHECKED_ASSERT(index < list_length(entry));
    if (!list_is_embedded(entry)) {
        quicklist_iter_start(iter, out_of_line(entry), index, direction);
        return;
    }
    struct packed body = packed_view(entry);
    const uint8_t *readable_end =
        (const uint8_t *)entry + entry_allocated(entry, packed_value_size(entry));
    quicklist_iter_start_body(iter, body.first, body.end, readable_end, body.count, index,
                              direction);
}

/* --- What every type has --- */

static const char *list_encoding_name(const struct entry *entry) {
    return entry_encoding(entry) == LIST_QUICKLIST ? "quicklist" : "listpack";
}

#define list_value_size packed_value_size

STRUCTURE_OPERATIONS(list, quicklist)

static size_t list_free_effort(const struct entry *entry) {
    const struct quicklist *list = out_of_line(entry);
    return type_free_effort(quicklist_node_count(list), quicklist_allocated(list));
}

static bool list_prefetch(struct value_lookup *lookup, unsigned step) {
    (void)step;
    prefetch(out_of_line(lookup->entry));
    return false;
}

const struct quicklist *list_quicklist(const struct entry *entry) {
    return list_is_embedded(entry) ? NULL : out_of_line(entry);
}

bool list_single_body(const struct entry *entry, const uint8_t **first, const uint8_t **end) {
    if (!list_is_embedded(entry)) return quicklist_single_body(out_of_line(entry), first, end);
    struct packed body = packed_view(entry);
    *first = body.first;
    *end = body.end;
    return true;
}

static bool embedded_check(const struct entry *entry) {
    struct packed body = packed_view(entry);
    return packed_check(entry) && fits_entry(packed_size(body), body.count) &&
           listpack_body_check(body.first, body.end, body.count);
}

static bool list_check(const struct entry *entry) {
    if (!entry_check(entry) || entry_type(entry) != VALUE_LIST) return false;
    if (list_is_embedded(entry)) return embedded_check(entry);
    const struct quicklist *list = out_of_line(entry);
    const uint8_t *first, *end;
    if (entry_encoding(entry) == LIST_LISTPACK && quicklist_count(list) != 0 &&
        !quicklist_single_body(list, &first, &end))
        return false;
    return entry_encoding(entry) <= LIST_QUICKLIST && quicklist_check(list);
}

/* --- Captures: a list shares its nodes with its captures, and copies those that it changes --- */

void list_iter_start_capture(struct quicklist_iter *iter, const struct capture *capture,
                             uint64_t index, enum list_direction direction) {
    quicklist_iter_start(iter, quicklist_captured(capture), index, direction);
}

static struct capture *list_capture(struct entry *entry, size_t *left) {
    struct quicklist *list = out_of_line(entry);
    bool small = quicklist_serialized_size(list) < VALUE_CAPTURE_MIN;
    return small ? NULL : quicklist_capture_begin(list, left);
}

static bool list_is_captured(const struct entry *entry) {
    return quicklist_is_captured(out_of_line(entry));
}

CAPTURED_OPERATIONS(list, quicklist)

const struct type_operations list_operations = TYPE_OPERATIONS(list);
