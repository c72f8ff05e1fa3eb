#include "users/pattern.h"

#include "base/memory/alloc.h"
#include "base/text/glob.h"

enum form {
    FORM_WHOLE,     /* a name without special characters */
    FORM_BEGINNING, /* the same with a '*' behind it */
    FORM_GLOB
};

static enum form form_of(struct slice text) {
    for (size_t i = 0; i < text.len; i++) {
        if (!memchr("*?[\\", text.ptr[i], 4)) continue;
        return text.ptr[i] == '*' && i + 1 == text.len ? FORM_BEGINNING : FORM_GLOB;
    }
    return FORM_WHOLE;
}

bool pattern_is_beginning(const struct pattern *pattern) {
    return pattern->form == FORM_BEGINNING && sds_len(pattern->text) > 1;
}

static bool matches(const struct pattern *pattern, struct slice name) {
    struct slice text = sds_slice(pattern->text);
    switch ((enum form)pattern->form) {
    case FORM_WHOLE: return slice_equal(name, text);
    case FORM_BEGINNING:
        return name.len > 0 && slice_begins(name, slice_make(text.ptr, text.len - 1));
    case FORM_GLOB: break;
    }
    return glob_match(text, name, false);
}

static void append(struct pattern_list *list, struct pattern pattern) {
    MEM_RESERVE(list->items, list->capacity, list->count + 1);
    list->items[list->count++] = pattern;
}

void pattern_list_add(struct pattern_list *list, struct slice text, unsigned rights) {
    for (size_t i = 0; i < list->count; i++) {
        if (!slice_equal(sds_slice(list->items[i].text), text)) continue;
        list->items[i].rights |= (uint8_t)rights;
        return;
    }
    append(list, (struct pattern){sds_new(text), (uint8_t)rights, (uint8_t)form_of(text)});
}

void pattern_list_copy(struct pattern_list *to, const struct pattern_list *from) {
    *to = (struct pattern_list){0};
    for (size_t i = 0; i < from->count; i++) {
        struct pattern copy = from->items[i];
        copy.text = sds_new(sds_slice(copy.text));
        append(to, copy);
    }
}

bool pattern_list_is_same(const struct pattern_list *a, const struct pattern_list *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->items[i].rights != b->items[i].rights ||
            !slice_equal(sds_slice(a->items[i].text), sds_slice(b->items[i].text)))
            return false;
    return true;
}

void pattern_list_clear(struct pattern_list *list) {
    for (size_t i = 0; i < list->count; i++) sds_free(list->items[i].text);
    mem_free(list->items);
    *list = (struct pattern_list){0};
}

bool pattern_list_covers(const struct pattern_list *list, struct slice name, unsigned rights) {
    for (size_t i = 0; i < list->count; i++) {
        const struct pattern *at = &list->items[i];
        if ((at->rights & rights) == rights && matches(at, name)) return true;
    }
    return false;
}

bool pattern_list_has(const struct pattern_list *list, struct slice text, unsigned rights) {
    for (size_t i = 0; i < list->count; i++) {
        const struct pattern *at = &list->items[i];
        if ((at->rights & rights) == rights && slice_equal(sds_slice(at->text), text)) return true;
    }
    return false;
}
