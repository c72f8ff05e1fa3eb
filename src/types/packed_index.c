#include "types/packed_index.h"

void packed_index_make(struct packed_index *index, const uint8_t *first, size_t count,
                       packed_skip *skip, unsigned layout) {
    const uint8_t *at = first;
    index->offsets = mem_alloc((count / PACKED_INDEX_STEP + 1) * sizeof(*index->offsets));
    for (size_t i = 0; i < count; i++) {
        if (i % PACKED_INDEX_STEP == 0)
            index->offsets[i / PACKED_INDEX_STEP] = (uint32_t)(at - first);
        at = skip(at, layout);
    }
}
