/* Lists: chooses and converts layouts and encodings; the work on elements is done in
 * list_embedded.c and ds/quicklist.
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

#include "base/alloc.h"
#include "base/checked.h"
#include "base/number.h"
#include "base/prefetch.h"
#include "ds/quicklist_capture.h"
#include "types/list_embedded.h"
#include "types/type_operations.h"
#include "types/value.h"

/* The limits of an out-of-line list shown as listpack: its one node may be as large as possible. */
static const struct quicklist_limits one_node_limits = {.fill = QUICKLIST_FILL_WHOLE};

static struct quicklist *out_of_line(const struct entry *entry) {
    return entry_pointer(entry);
}

/* Bytes of a list of one node as one serialized listpack. */
static size_t serialized_size(const struct entry *entry) {
    return list_is_embedded(entry) ? list_embedded_size(entry) + LISTPACK_OVERHEAD
                                   : quicklist_serialized_size(out_of_line(entry));
}

/* --- Conversions --- */

/* Makes the value of the entry one pointer to `list`. */
static void set_out_of_line_list(struct keyref *ref, struct quicklist *list,
                                 enum list_encoding encoding) {
    struct entry *entry =
        entry_resize(ref->entry, list_value_size(ref->entry), sizeof(struct quicklist *));
    entry_set_pointer(entry, list);
    entry_set_type(entry, VALUE_LIST, encoding);
    entry_set_byte(entry, 0);
    if (entry != ref->entry) keyref_moved(ref, entry);
}

static void move_out_of_line(struct keyref *ref, enum list_encoding encoding,
                             struct quicklist_limits limits) {
    const uint8_t *first = list_embedded_first(ref->entry);
    size_t count = list_embedded_count(ref->entry);
    struct quicklist *list =
        count ? quicklist_from_body(limits, first, first + list_embedded_size(ref->entry), count)
              : quicklist_new(limits);
    set_out_of_line_list(ref, list, encoding);
}

/* Moves an out-of-line list of one raw node, whose body fits, into the entry. */
static void embed(struct keyref *ref) {
    struct quicklist *list = out_of_line(ref->entry);
    const uint8_t *first, *end;
    if (!quicklist_single_body(list, &first, &end)) return;
    size_t size = (size_t)(end - first);
    struct entry *entry =
        entry_resize(ref->entry, sizeof(struct quicklist *), LIST_EMBEDDED_OFFSET + size);
    entry_set_type(entry, VALUE_LIST, LIST_EMBEDDED);
    list_embedded_set_size_and_count(entry, size, quicklist_count(list));
    memcpy(list_embedded_first(entry), first, size);
    if (entry != ref->entry) keyref_moved(ref, entry);
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
        quicklist_count(list) <= LIST_EMBEDDED_COUNT_MAX)
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
        size_t size = list_embedded_size(ref->entry);
        size_t length = list_embedded_count(ref->entry) + batch.count;
        if (!list_embedded_fits(size + batch.size, length)) {
            move_out_of_line(ref, LIST_LISTPACK, one_node_limits);
            break;
        }
        size_t at = end == LIST_HEAD ? 0 : size;
        batch_write(&batch, list_embedded_splice(ref, at, 0, batch.size, length), end);
        elements += batch.count;
        count -= batch.count;
    }
    if (count == 0) return list_length(ref->entry);
    uint64_t length = push_out_of_line(out_of_line(ref->entry), end, elements, count);
    choose_encoding(ref, limits);
    return length;
}

static struct entry *out_of_line_new(struct slice key, struct quicklist *list,
                                     enum list_encoding encoding) {
    struct entry *entry = entry_new(key, VALUE_LIST, encoding, sizeof(struct quicklist *));
    entry_set_pointer(entry, list);
    return entry;
}

void list_create(struct keyref *ref, struct slice key, enum list_end end,
                 const struct slice *elements, size_t count,
                 const struct quicklist_limits *limits) {
    CHECKED_ASSERT(count > 0);
    struct batch batch;
    batch_prepare(&batch, elements, count);
    bool large = outgrows(LISTPACK_OVERHEAD, 0, elements, count, limits);
    if (!large && list_embedded_fits(batch.size, batch.count)) {
        struct entry *entry = list_embedded_new(key, batch.size, batch.count);
        batch_write(&batch, list_embedded_first(entry), end);
        keyspace_add(ref, entry);
        if (batch.count == count) return;
        push_listpack(ref, end, elements + batch.count, count - batch.count, limits);
        keyspace_resized(ref, batch.count, count);
        return;
    }
    struct quicklist *list = quicklist_new(large ? *limits : one_node_limits);
    push_out_of_line(list, end, elements, count);
    keyspace_add(ref, out_of_line_new(key, list, large ? LIST_QUICKLIST : LIST_LISTPACK));
    if (!large) choose_encoding(ref, limits);
}

struct entry *list_from_body(struct slice key, const uint8_t *first, const uint8_t *end,
                             size_t count, const struct quicklist_limits *limits) {
    size_t size = (size_t)(end - first);
    CHECKED_ASSERT(listpack_body_check(first, end, count));
    if (!list_embedded_fits(size, count) ||
        quicklist_exceeds_fill(limits->fill, size + LISTPACK_OVERHEAD, count))
        return list_from_quicklist(key, quicklist_from_body(*limits, first, end, count), limits);
    struct entry *entry = list_embedded_new(key, size, count);
    memcpy(list_embedded_first(entry), first, size);
    return entry;
}

struct entry *list_from_quicklist(struct slice key, struct quicklist *list,
                                  const struct quicklist_limits *limits) {
    const uint8_t *first, *end;
    size_t count = quicklist_count(list);
    CHECKED_ASSERT(count > 0 && quicklist_limits_of(list).fill == limits->fill);
    if (!quicklist_single_body(list, &first, &end) ||
        quicklist_exceeds_fill(limits->fill, (size_t)(end - first) + LISTPACK_OVERHEAD, count))
        return out_of_line_new(key, list, LIST_QUICKLIST);
    if (list_embedded_fits((size_t)(end - first), count)) {
        struct entry *entry = list_from_body(key, first, end, count, limits);
        quicklist_free(list);
        return entry;
    }
    quicklist_set_limits(list, one_node_limits);
    return out_of_line_new(key, list, LIST_LISTPACK);
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
        size_t count = list_embedded_count(ref->entry) + 1;
        if (list_embedded_fits(list_embedded_size(ref->entry) + element.size, count)) {
            size_t at = list_embedded_offset(ref->entry, index + after);
            listpack_write(list_embedded_splice(ref, at, 0, element.size, count), &element);
            return;
        }
        move_out_of_line(ref, LIST_LISTPACK, one_node_limits);
    }
    if (after) {
        quicklist_insert_after(out_of_line(ref->entry), index, &element);
    } else {
        quicklist_insert_before(out_of_line(ref->entry), index, &element);
    }
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
    struct list_iter iter;
    list_iter_start(&iter, entry, index, LIST_FORWARD);
    size_t size = listpack_size(list_iter_next(&iter));
    list_iter_end(&iter);
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
        size_t at = list_embedded_offset(ref->entry, index);
        size_t old_size = listpack_size(list_embedded_first(ref->entry) + at);
        size_t count = list_embedded_count(ref->entry);
        if (list_embedded_fits(list_embedded_size(ref->entry) - old_size + element.size, count)) {
            listpack_write(list_embedded_splice(ref, at, old_size, element.size, count), &element);
            return;
        }
        move_out_of_line(ref, LIST_LISTPACK, one_node_limits);
    }
    quicklist_replace(out_of_line(ref->entry), index, &element);
    if (entry_encoding(ref->entry) == LIST_LISTPACK) choose_encoding(ref, limits);
    shrink(ref, limits);
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
        list_embedded_rotate(ref->entry, from);
        return;
    }
    rotate_out_of_line(out_of_line(ref->entry), from, text);
    if (entry_encoding(ref->entry) == LIST_LISTPACK) choose_encoding(ref, limits);
    shrink(ref, limits);
}

/* --- Removing --- */

void list_drop(struct keyref *ref, enum list_end end, uint64_t count,
               const struct quicklist_limits *limits) {
    uint64_t old_length = list_length(ref->entry), length = old_length - count;
    CHECKED_ASSERT(count <= old_length);
    if (list_is_embedded(ref->entry)) {
        list_embedded_delete(ref, end == LIST_HEAD ? 0 : (size_t)length, (size_t)count);
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
        list_embedded_delete(ref, (size_t)(from + count), (size_t)behind);
        list_embedded_delete(ref, 0, (size_t)from);
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
    uint64_t length = list_embedded_count(ref->entry);
    return list_embedded_remove(ref, needle, (size_t)(max < length ? max : length),
                                direction == LIST_BACKWARD);
}

static uint64_t remove_out_of_line(struct keyref *ref, const struct listpack_element *needle,
                                   uint64_t max, enum list_direction direction,
                                   const struct quicklist_limits *limits) {
    uint64_t removed = quicklist_remove_matching(out_of_line(ref->entry), needle, max, direction);
    if (removed) shrink(ref, limits);
    return removed;
}

uint64_t list_remove(struct keyref *ref, struct slice text, uint64_t max,
                     enum list_direction direction, const struct quicklist_limits *limits) {
    struct listpack_element needle;
    CHECKED_ASSERT(!value_entry_overlaps(ref->entry, text));
    listpack_prepare(&needle, text);
    uint64_t old_length = list_length(ref->entry);
    uint64_t removed = list_is_embedded(ref->entry)
                           ? remove_from_embedded(ref, &needle, max, direction)
                           : remove_out_of_line(ref, &needle, max, direction, limits);
    keyspace_resized(ref, old_length, old_length - removed);
    return removed;
}

/* --- Looking --- */

uint64_t list_length(const struct entry *entry) {
    return list_is_embedded(entry) ? list_embedded_count(entry)
                                   : quicklist_count(out_of_line(entry));
}

const uint8_t *list_peek(const struct entry *entry, enum list_end end) {
    CHECKED_ASSERT(list_length(entry) > 0);
    if (!list_is_embedded(entry)) return quicklist_peek(out_of_line(entry), end);
    const uint8_t *first = list_embedded_first(entry);
    if (end == LIST_HEAD) return first;
    const uint8_t *behind = first + list_embedded_size(entry);
    return behind - listpack_size_before(behind);
}

const char *list_encoding_name(const struct entry *entry) {
    return entry_encoding(entry) == LIST_QUICKLIST ? "quicklist" : "listpack";
}

size_t list_value_size(const struct entry *entry) {
    return list_is_embedded(entry) ? LIST_EMBEDDED_OFFSET + list_embedded_size(entry)
                                   : sizeof(struct quicklist *);
}

size_t list_allocated(const struct entry *entry) {
    return list_is_embedded(entry) ? 0 : quicklist_allocated(out_of_line(entry));
}

static uint64_t list_value_length(const struct entry *entry) {
    return list_length(entry);
}

static size_t list_free_effort(const struct entry *entry) {
    if (list_is_embedded(entry)) return 1;
    const struct quicklist *list = out_of_line(entry);
    return type_free_effort(quicklist_node_count(list), quicklist_allocated(list));
}

static bool list_prefetch(struct value_lookup *lookup, unsigned step) {
    (void)step;
    prefetch(out_of_line(lookup->entry));
    return false;
}

static void list_free_value(struct entry *entry) {
    if (!list_is_embedded(entry)) quicklist_free(out_of_line(entry));
}

static void list_own_value(struct entry *entry) {
    if (!list_is_embedded(entry)) entry_set_pointer(entry, quicklist_copy(out_of_line(entry)));
}

const struct quicklist *list_quicklist(const struct entry *entry) {
    return list_is_embedded(entry) ? NULL : out_of_line(entry);
}

bool list_single_body(const struct entry *entry, const uint8_t **first, const uint8_t **end) {
    if (!list_is_embedded(entry)) return quicklist_single_body(out_of_line(entry), first, end);
    *first = list_embedded_first(entry);
    *end = *first + list_embedded_size(entry);
    return true;
}

bool list_check(const struct entry *entry) {
    if (!entry_check(entry) || entry_type(entry) != VALUE_LIST) return false;
    if (list_is_embedded(entry)) return list_embedded_check(entry);
    const struct quicklist *list = out_of_line(entry);
    const uint8_t *first, *end;
    if (entry_encoding(entry) == LIST_LISTPACK && quicklist_count(list) != 0 &&
        !quicklist_single_body(list, &first, &end))
        return false;
    return entry_encoding(entry) <= LIST_QUICKLIST && quicklist_check(list);
}

/* --- Captures: a list shares its nodes with its capture, and copies those that it changes --- */

/* A shorter list is copied: that costs less than a capture. */
#ifdef TINY_LIMITS
enum { LIST_CAPTURE_MIN = 256 };
#else
enum { LIST_CAPTURE_MIN = 64 * 1024 };
#endif

static void *list_capture_begin(struct entry *entry, size_t *left) {
    if (list_is_embedded(entry)) return NULL;
    struct quicklist *list = out_of_line(entry);
    return quicklist_serialized_size(list) < LIST_CAPTURE_MIN ? NULL
                                                              : quicklist_capture_begin(list, left);
}

static bool list_is_captured(const struct entry *entry) {
    return !list_is_embedded(entry) && quicklist_is_captured(out_of_line(entry));
}

static size_t list_capture_allocated(const void *state) {
    return quicklist_capture_allocated(state);
}

static size_t list_capture_release(void *state) {
    return quicklist_capture_release(state);
}

static void list_capture_free(void *state) {
    quicklist_capture_free(state);
}

const struct type_operations list_operations = TYPE_OPERATIONS(list);
