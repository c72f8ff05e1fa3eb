/* stream_references: see stream_references.h. */
#include "commands/streams/stream_references.h"

bool stream_is_references(struct slice text, enum stream_references *references) {
    if (slice_is(text, "keepref"))
        *references = STREAM_KEEP_REFERENCES;
    else if (slice_is(text, "delref"))
        *references = STREAM_DROP_REFERENCES;
    else if (slice_is(text, "acked"))
        *references = STREAM_ONLY_ACKNOWLEDGED;
    else
        return false;
    return true;
}

/* Returns whether anything is to be propagated. */
static bool propagates(const struct propagation *to) {
    return to->call ? to->call->propagates : to->made != NULL;
}

void stream_propagate_ids(const struct propagation *to, struct slice name, struct slice key,
                          const struct consumer_group *group, const struct id_batch *batch) {
    struct slice argv[3 + STREAM_BATCH];
    char texts[STREAM_BATCH][STREAM_ID_TEXT_MAX];
    size_t argc = 0;
    if (batch->count == 0 || !propagates(to)) return;
    argv[argc++] = name;
    argv[argc++] = key;
    if (group) argv[argc++] = group->name;
    for (size_t i = 0; i < batch->count; i++)
        argv[argc++] = stream_id_text(texts[i], batch->ids[i]);
    if (to->call)
        call_propagate_as(to->call, argv, argc);
    else
        made_commands_add(to->made, argv, argc);
}

void stream_drop_references(const struct propagation *to, const struct entry *entry,
                            struct slice key, const struct id_batch *batch) {
    struct consumer_groups *groups = stream_groups(entry);
    for (size_t i = 0; i < consumer_groups_count(groups); i++) {
        struct consumer_group *group = consumer_groups_at(groups, i);
        struct pending_entry acknowledged[STREAM_BATCH];
        struct id_batch dropped;
        dropped.count = consumer_groups_acknowledge_all(stream_pieces(entry), group, batch->ids,
                                                        batch->count, acknowledged);
        for (size_t d = 0; d < dropped.count; d++) dropped.ids[d] = acknowledged[d].id;
        stream_propagate_ids(to, SLICE("XACK"), key, group, &dropped);
    }
}
