#include "ds/records/intset.h"

#include "base/checked.h"

#include <assert.h>

static uint32_t read_uint32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static void write_header(uint8_t *set, size_t width, size_t count) {
    uint32_t header[2] = {(uint32_t)width, (uint32_t)count};
    memcpy(set, header, sizeof(header));
}

static size_t width_of(const uint8_t *set) {
    return read_uint32(set);
}

static size_t width_for(int64_t value) {
    if (value >= INT16_MIN && value <= INT16_MAX) return 2;
    return value >= INT32_MIN && value <= INT32_MAX ? 4 : 8;
}

static int64_t get(const uint8_t *set, size_t width, size_t index) {
    const uint8_t *at = set + INTSET_HEADER_SIZE + index * width;
    int16_t value16;
    int32_t value32;
    int64_t value64;
    switch (width) {
    case 2: memcpy(&value16, at, 2); return value16;
    case 4: memcpy(&value32, at, 4); return value32;
    default: memcpy(&value64, at, 8); return value64;
    }
}

/* Little-endian: the low bytes come first. */
static void put(uint8_t *set, size_t width, size_t index, int64_t value) {
    memcpy(set + INTSET_HEADER_SIZE + index * width, &value, width);
}

void intset_init(uint8_t *set) {
    write_header(set, 2, 0);
}

size_t intset_count(const uint8_t *set) {
    return read_uint32(set + 4);
}

size_t intset_size(const uint8_t *set) {
    return INTSET_HEADER_SIZE + width_of(set) * intset_count(set);
}

int64_t intset_get(const uint8_t *set, size_t index) {
    CHECKED_ASSERT(index < intset_count(set));
    return get(set, width_of(set), index);
}

bool intset_find(const uint8_t *set, int64_t value, size_t *index) {
    size_t width = width_of(set), low = 0, high = intset_count(set);
    if (high > 0 && value > get(set, width, high - 1)) low = high; /* numbers often come in order */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (get(set, width, middle) < value)
            low = middle + 1;
        else
            high = middle;
    }
    *index = low;
    return low < intset_count(set) && get(set, width, low) == value;
}

static size_t width_with(const uint8_t *set, int64_t value) {
    size_t width = width_of(set), needed = width_for(value);
    return needed > width ? needed : width;
}

size_t intset_size_with(const uint8_t *set, int64_t value) {
    return INTSET_HEADER_SIZE + width_with(set, value) * (intset_count(set) + 1);
}

void intset_insert(uint8_t *set, size_t index, int64_t value) {
    size_t old_width = width_of(set), width = width_with(set, value), count = intset_count(set);
    uint8_t *first = set + INTSET_HEADER_SIZE;
    CHECKED_ASSERT(index <= count && (index == 0 || get(set, old_width, index - 1) < value) &&
                   (index == count || value < get(set, old_width, index)));
    if (width == old_width) {
        memmove(first + (index + 1) * width, first + index * width, (count - index) * width);
    } else {
        /* From the last one on, as each gets longer. */
        for (size_t i = count; i-- > 0;) put(set, width, i + (i >= index), get(set, old_width, i));
    }
    put(set, width, index, value);
    write_header(set, width, count + 1);
    CHECKED_ASSERT(intset_get(set, index) == value);
}

void intset_delete(uint8_t *set, size_t index) {
    size_t width = width_of(set), count = intset_count(set);
    uint8_t *at = set + INTSET_HEADER_SIZE + index * width;
    assert(index < count);
    memmove(at, at + width, (count - index - 1) * width);
    write_header(set, width, count - 1);
}

void intset_keep(uint8_t *set, size_t to, size_t from) {
    size_t width = width_of(set);
    CHECKED_ASSERT(from <= to && to < intset_count(set));
    put(set, width, to, get(set, width, from));
}

void intset_keep_last(uint8_t *set, size_t count) {
    size_t width = width_of(set), left_out = intset_count(set) - count;
    uint8_t *first = set + INTSET_HEADER_SIZE;
    assert(count <= intset_count(set));
    memmove(first, first + left_out * width, count * width);
    write_header(set, width, count);
}

bool intset_validate(struct slice bytes) {
    const uint8_t *set = (const uint8_t *)bytes.ptr;
    if (bytes.len < INTSET_HEADER_SIZE) return false;
    size_t width = width_of(set), count = intset_count(set);
    if ((width != 2 && width != 4 && width != 8) || count == 0) return false;
    if ((bytes.len - INTSET_HEADER_SIZE) % width != 0 ||
        (bytes.len - INTSET_HEADER_SIZE) / width != count)
        return false;
    for (size_t i = 1; i < count; i++)
        if (get(set, width, i - 1) >= get(set, width, i)) return false;
    return true;
}
