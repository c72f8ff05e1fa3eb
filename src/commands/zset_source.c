#include "commands/zset_source.h"

bool zset_source_find(struct call *call, struct slice key, struct zset_source *source) {
    struct keyref ref;
    source->weight = 1;
    source->entry = NULL;
    if (!call_find_typed_read(call, key, VALUE_ZSET, &ref)) return false;
    source->entry = ref.entry;
    return true;
}

uint64_t zset_source_length(const struct zset_source *source) {
    return source->entry ? zset_length(source->entry) : 0;
}

bool zset_source_get(const struct zset_source *source, struct slice member, double *score) {
    if (!source->entry) return false;
    struct zset_place place = zset_find(source->entry, member);
    *score = place.score;
    return place.found;
}

void zset_source_start(const struct zset_source *source, struct zset_iter *iter) {
    *iter = (struct zset_iter){.left = 0};
    if (source->entry) zset_iter_start(iter, source->entry, 0, true);
}

bool zset_source_next(struct zset_iter *iter, struct zset_member *member) {
    return zset_iter_next(iter, member);
}
