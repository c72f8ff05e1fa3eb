#include "commands/zset_source.h"

static const double score_in_a_set = 1;

static bool is_set(const struct entry *entry) {
    return entry_type(entry) == VALUE_SET;
}

bool zset_source_find(struct call *call, struct slice key, struct zset_source *source) {
    source->weight = 1;
    source->entry = call_find_read(call, key, NULL);
    return !source->entry || is_set(source->entry) ||
           call_check_type(call, source->entry, VALUE_ZSET);
}

uint64_t zset_source_length(const struct zset_source *source) {
    if (!source->entry) return 0;
    return is_set(source->entry) ? set_length(source->entry) : zset_length(source->entry);
}

bool zset_source_get(const struct zset_source *source, struct slice member, double *score) {
    if (!source->entry) return false;
    if (is_set(source->entry)) {
        *score = score_in_a_set;
        return set_contains(source->entry, member);
    }
    struct zset_place place = zset_find(source->entry, member);
    *score = place.score;
    return place.found;
}

void zset_source_start(const struct zset_source *source, struct zset_source_iter *iter) {
    *iter = (struct zset_source_iter){.type = VALUE_ZSET, .zset = {.left = 0}};
    if (!source->entry) return;
    iter->type = entry_type(source->entry);
    if (is_set(source->entry))
        set_iter_start(&iter->set, source->entry);
    else
        zset_iter_start(&iter->zset, source->entry, 0, true);
}

bool zset_source_next(struct zset_source_iter *iter, struct zset_member *member) {
    if (iter->type == VALUE_ZSET) return zset_iter_next(&iter->zset, member);
    member->score = score_in_a_set;
    return set_iter_next(&iter->set, &member->text);
}
