/* quicklist_edits: all edits of a quicklist, each encoded in a few bytes, so that chance or a fuzzer
 * may choose; and lists that are captured now and then while they are edited, each beside a twin that
 * is never captured. For such a pair must hold at any time:
 *
 *   - the capture gives the bytes that the list had when it was captured;
 *   - list and twin have the same nodes, byte for byte, in buffers of the same size;
 *   - memory that the list takes beyond quicklist_allocated has been left to the capture: the release
 *     of the capture returns so many bytes, and freeing the capture frees them. */
#ifndef PACKLIST_TESTS_UNIT_QUICKLIST_EDITS_H
#define PACKLIST_TESTS_UNIT_QUICKLIST_EDITS_H

#include "base/lzf/lzf.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "ds/lists/quicklist.h"
#include "ds/lists/quicklist_build.h"
#include "ds/lists/quicklist_place.h"

#include <stdio.h>
#include <stdlib.h>

/* For unit tests and fuzzers alike, in every build. */
#define edits_require(condition)                                                                   \
    ((condition) ? (void)0 : edits_broken(__FILE__, __LINE__, #condition))

static inline _Noreturn void edits_broken(const char *file, int line, const char *condition) {
    fprintf(stderr, "%s:%d: Assertion failed: %s\n", file, line, condition);
    abort();
}

/* --- Pictures: what a list's nodes hold --- */

struct picture {
    uint8_t *bytes;
    size_t used;
    size_t room;
    bool of_buffers; /* how large they are, too */
};

static inline void picture_add(struct picture *picture, const void *bytes, size_t size) {
    if (picture->room - picture->used < size) {
        picture->room = (picture->used + size) * 2;
        picture->bytes = mem_realloc(picture->bytes, picture->room);
    }
    memcpy(picture->bytes + picture->used, bytes, size);
    picture->used += size;
}

static inline void picture_add_node(const struct quicklist_node_info *info, void *arg) {
    struct picture *picture = arg;
    size_t facts[] = {info->count, info->size, info->compressed_size, info->body_size, info->plain};
    picture_add(picture, facts, sizeof(facts));
    if (picture->of_buffers) picture_add(picture, &info->allocated, sizeof(info->allocated));
    picture_add(picture, info->data,
                info->compressed_size ? info->compressed_size : info->body_size);
}

static inline void picture_of_list(struct picture *picture, const struct quicklist *list) {
    picture->used = 0;
    quicklist_visit_nodes(list, picture_add_node, picture);
}

static inline void picture_of_capture(struct picture *picture, const struct capture *captured) {
    picture->used = 0;
    quicklist_visit_nodes(quicklist_captured(captured), picture_add_node, picture);
}

static inline bool picture_equal(const struct picture *a, const struct picture *b) {
    return a->used == b->used && (a->used == 0 || memcmp(a->bytes, b->bytes, a->used) == 0);
}

/* --- Edits --- */

enum { EDIT_SIZE = 6, EDIT_TEXT_MAX = 9008 };

struct quicklist_edit {
    uint8_t kind;
    uint8_t text;
    uint16_t at;
    uint16_t size;
};

static inline struct quicklist_edit edit_of_bytes(const uint8_t bytes[static EDIT_SIZE]) {
    struct quicklist_edit edit = {.kind = bytes[0], .text = bytes[1]};
    memcpy(&edit.at, bytes + 2, sizeof(edit.at));
    memcpy(&edit.size, bytes + 4, sizeof(edit.size));
    return edit;
}

/* One of some fifty texts, few enough to be found again: integers, short ones, longer ones that compress
 * well or not at all, some of them tenfold. */
static inline struct slice edit_text(uint8_t number, char text[static EDIT_TEXT_MAX]) {
    static const int64_t integers[] = {0, 1, -5, 200, -3000, 70000, 1 << 30, -(1ll << 45)};
    static const uint16_t lengths[] = {48, 64, 100, 128, 200, 300, 500, 900};
    unsigned id = number & 31, times = number & 32 && number & 64 && number & 128 ? 10 : 1;
    if (id < 8) return slice_make(text, number_format_int64(text, integers[id]));
    if (id < 16) {
        size_t len = (id - 8) * 5 + 1;
        memset(text, (int)('a' + id), len);
        return slice_make(text, len);
    }
    size_t len = (size_t)lengths[id & 7] * times;
    uint32_t noise = id * 2654435761u;
    for (size_t i = 0; i < len; i++) {
        noise ^= noise << 13, noise ^= noise >> 17, noise ^= noise << 5;
        text[i] = id < 24 ? (char)('a' + i / 7 % 5) : (char)noise;
    }
    text[0] = (char)id;
    return slice_make(text, len);
}

static inline struct quicklist_limits edit_limits(const struct quicklist_edit *edit) {
    static const int16_t fills[] = {1, 2, 3, 5, 16, 128, -1, -2};
    static const size_t thresholds[] = {0, 70, 6, 1000};
    return (struct quicklist_limits){.fill = fills[edit->at & 7],
                                     .compress_depth = edit->size & 3,
                                     .plain_threshold = thresholds[edit->at >> 3 & 3]};
}

/* The list made anew from its nodes, as it would be by a file of it. */
static inline void edit_rebuild_node(const struct quicklist_node_info *info, void *arg) {
    struct quicklist_builder *builder = arg;
    struct slice stream = slice_make(info->data, info->compressed_size);
    if (stream.len && !info->plain && quicklist_build_is_deep(builder) &&
        quicklist_build_compressed(builder, stream, info->body_size, info->count))
        return;
    uint8_t *body = mem_alloc(info->body_size);
    if (stream.len)
        edits_require(lzf_decompress_text(stream, body, info->body_size));
    else
        memcpy(body, info->data, info->body_size);
    if (info->plain) {
        struct listpack_value value;
        struct listpack_element element;
        char digits[INT64_TEXT_MAX];
        listpack_get(body, &value);
        listpack_prepare(&element, listpack_value_text(&value, digits));
        quicklist_build_plain(builder, &element);
    } else {
        quicklist_build_body(builder, body, body + info->body_size, info->count);
    }
    mem_free(body);
}

static inline struct quicklist *edit_rebuilt(const struct quicklist *list) {
    struct quicklist_builder builder;
    quicklist_build_start(&builder, quicklist_limits_of(list), quicklist_node_count(list));
    quicklist_visit_nodes(list, edit_rebuild_node, &builder);
    return quicklist_build_finish(&builder);
}

/* From the tail to the head, as LMOVE does. */
static inline void edit_rotate(struct quicklist *list) {
    char text[EDIT_TEXT_MAX], digits[INT64_TEXT_MAX];
    struct listpack_value value;
    struct listpack_element element;
    listpack_get(quicklist_peek(list, LIST_TAIL), &value);
    struct slice found = listpack_value_text(&value, digits);
    memcpy(text, found.ptr, found.len);
    listpack_prepare(&element, slice_make(text, found.len));
    quicklist_drop(list, LIST_TAIL, 1);
    quicklist_push(list, LIST_HEAD, &element);
}

static inline void edit_push(struct quicklist *list, enum list_end end, uint8_t text) {
    char bytes[EDIT_TEXT_MAX];
    struct listpack_element element;
    listpack_prepare(&element, edit_text(text, bytes));
    quicklist_push(list, end, &element);
}

static inline void edit_at(struct quicklist *list, const struct quicklist_edit *edit, int way) {
    char bytes[EDIT_TEXT_MAX];
    struct listpack_element element;
    uint64_t count = quicklist_count(list);
    uint64_t max = edit->size & 4 ? UINT64_MAX : 1 + (edit->size & 3u);
    listpack_prepare(&element, edit_text(edit->text, bytes));
    switch (way) {
    case 0: quicklist_insert(list, edit->at % count, false, &element); break;
    case 1: quicklist_insert(list, edit->at % count, true, &element); break;
    case 2: quicklist_replace(list, edit->at % count, &element); break;
    case 3: quicklist_remove_matching(list, &element, max, LIST_FORWARD); break;
    default: quicklist_remove_matching(list, &element, max, LIST_BACKWARD);
    }
}

/* Keeps a range (LTRIM). */
static inline void edit_trim(struct quicklist *list, const struct quicklist_edit *edit) {
    uint64_t front = edit->at % (quicklist_count(list) + 1);
    quicklist_drop(list, LIST_HEAD, front);
    quicklist_drop(list, LIST_TAIL, edit->size % (quicklist_count(list) + 1));
}

static inline void edit_exchange(struct quicklist **list, struct quicklist *other) {
    quicklist_free(*list);
    *list = other;
}

enum { EDIT_KINDS = 32, EDIT_CAPTURE = EDIT_KINDS - 2, EDIT_RELEASE, EDIT_COUNT_MAX = 2000 };
enum { EDIT_BYTES_MAX = 32 * 1024 };

/* Edits that only take away are those of full lists. */
static inline void edit_quicklist(struct quicklist **at, const struct quicklist_edit *edit) {
    struct quicklist *list = *at;
    unsigned kind = edit->kind % EDIT_KINDS;
    uint64_t count = quicklist_count(list);
    bool full = count >= EDIT_COUNT_MAX || quicklist_serialized_size(list) >= EDIT_BYTES_MAX;
    if (full && kind < 14) kind = 20;
    if (count == 0) kind = kind < 14 ? 0 : 26;
    switch (kind) {
    case 0:
    case 1:
    case 2: edit_push(list, LIST_HEAD, edit->text); break;
    case 3:
    case 4:
    case 5: edit_push(list, LIST_TAIL, edit->text); break;
    case 6:
    case 7:
        for (unsigned i = 0; i <= edit->size % 16u; i++)
            edit_push(list, edit->at & 1 ? LIST_HEAD : LIST_TAIL, (uint8_t)(edit->text + i));
        break;
    case 8:
    case 9: edit_at(list, edit, 0); break;
    case 10:
    case 11: edit_at(list, edit, 1); break;
    case 12:
    case 13:
    case 14: edit_at(list, edit, 2); break;
    case 15:
    case 16: quicklist_drop(list, LIST_HEAD, edit->at % (count < 8 ? count : 8)); break;
    case 17:
    case 18: quicklist_drop(list, LIST_TAIL, edit->at % (count < 8 ? count : 8)); break;
    case 19: edit_at(list, edit, 3); break;
    case 20:
        edit_at(list, edit, 4);
        if (full) edit_trim(list, edit);
        break;
    case 21: edit_trim(list, edit); break;
    case 22: quicklist_drop(list, LIST_HEAD, edit->size & 7 ? 1 : count); break;
    case 23:
    case 24: edit_rotate(list); break;
    case 25: quicklist_set_limits(list, edit_limits(edit)); break;
    case 26:
        quicklist_set_limits(list, edit_limits(edit));
        quicklist_nodes_compress_all(list);
        break;
    case 27: edit_exchange(at, quicklist_copy(list)); break;
    case 28: edit_exchange(at, edit_rebuilt(list)); break;
    default: edit_push(list, LIST_TAIL, edit->text);
    }
}

/* --- Pairs --- */

struct list_pair {
    struct quicklist *list; /* is captured at times */
    struct quicklist *twin; /* never is */
    struct capture *captured;
    struct picture then;       /* what the list was */
    struct picture now, twins; /* workspace */
    size_t own;                /* bytes that the capture took */
    size_t left;               /* bytes that the list has left to it since */
    size_t reported;           /* the same, as the list counts it */
};

static inline void pair_begin(struct list_pair *pair, struct quicklist_limits limits) {
    *pair = (struct list_pair){.list = quicklist_new(limits), .twin = quicklist_new(limits)};
}

static inline void pair_capture(struct list_pair *pair) {
    if (pair->captured || quicklist_count(pair->list) == 0) return;
    size_t allocated = quicklist_allocated(pair->list);
    picture_of_list(&pair->then, pair->list);
    size_t used = mem_used();
    pair->captured = quicklist_capture_begin(pair->list, &pair->reported);
    pair->own = mem_used() - used;
    edits_require(quicklist_allocated(pair->list) == allocated &&
                  quicklist_is_captured(pair->list));
}

static inline void pair_release(struct list_pair *pair) {
    if (!pair->captured) return;
    size_t used = mem_used(), allocated = quicklist_allocated(pair->list);
    size_t left = capture_release(pair->captured);
    edits_require(left == pair->left && mem_used() == used && !quicklist_is_captured(pair->list));
    edits_require(pair->reported == 0);
    capture_free(pair->captured);
    pair->captured = NULL;
    edits_require(used - mem_used() == pair->own + left);
    edits_require(quicklist_allocated(pair->list) == allocated);
    pair->left = 0;
}

static inline void pair_edit(struct list_pair *pair, const struct quicklist_edit *edit) {
    if (edit->kind % EDIT_KINDS == EDIT_CAPTURE) {
        pair_capture(pair);
        return;
    }
    if (edit->kind % EDIT_KINDS == EDIT_RELEASE) {
        pair_release(pair);
        return;
    }
    size_t used = mem_used(), allocated = quicklist_allocated(pair->list);
    edit_quicklist(&pair->list, edit);
    size_t more = mem_used() - used, counted = quicklist_allocated(pair->list) - allocated;
    pair->left += more - counted;
    edits_require(pair->left < SIZE_MAX / 2 && (pair->captured || pair->left == 0));
    edits_require(pair->reported == pair->left);
    edit_quicklist(&pair->twin, edit);
}

/* Every byte that readers may read can be read (LRANGE reads beyond the end of a body). */
static inline void pair_read(struct list_pair *pair, enum list_direction direction) {
    struct quicklist_iter iter;
    struct quicklist_run run;
    uint64_t count = quicklist_count(pair->list);
    if (count == 0) return;
    quicklist_iter_start(&iter, pair->list, direction == LIST_FORWARD ? 0 : count - 1, direction);
    while (quicklist_iter_run(&iter, &run)) {
        edits_require(run.readable_end >= run.end);
        pair->now.used = 0;
        picture_add(&pair->now, run.first, (size_t)(run.readable_end - run.first));
    }
    quicklist_iter_end(&iter);
}

static inline void pair_check(struct list_pair *pair) {
    edits_require(quicklist_check(pair->list) && quicklist_check(pair->twin));
    edits_require(quicklist_count(pair->list) == quicklist_count(pair->twin));
    edits_require(quicklist_allocated(pair->list) == quicklist_allocated(pair->twin));
    pair->now.of_buffers = pair->twins.of_buffers = true;
    picture_of_list(&pair->now, pair->list);
    picture_of_list(&pair->twins, pair->twin);
    edits_require(picture_equal(&pair->now, &pair->twins));
    pair_read(pair, LIST_FORWARD);
    pair_read(pair, LIST_BACKWARD);
    if (!pair->captured) return;
    edits_require(quicklist_capture_check(pair->captured, pair->list));
    pair->now.of_buffers = false;
    picture_of_capture(&pair->now, pair->captured);
    edits_require(picture_equal(&pair->now, &pair->then));
}

/* `release_first`, or the list is freed while it is captured. */
static inline void pair_end(struct list_pair *pair, bool release_first) {
    if (release_first) pair_release(pair);
    size_t used = mem_used(), allocated = quicklist_allocated(pair->list);
    quicklist_free(pair->list);
    if (pair->captured) {
        pair->now.of_buffers = false;
        picture_of_capture(&pair->now, pair->captured);
        edits_require(picture_equal(&pair->now, &pair->then));
        edits_require(quicklist_capture_check(pair->captured, NULL));
        edits_require(capture_release(pair->captured) >= pair->left);
        capture_free(pair->captured);
    }
    edits_require(used - mem_used() == allocated + (pair->captured ? pair->own + pair->left : 0));
    quicklist_free(pair->twin);
    mem_free(pair->then.bytes);
    mem_free(pair->now.bytes);
    mem_free(pair->twins.bytes);
}

#endif
