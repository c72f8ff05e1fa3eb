#include "admin/debug_digest.h"

#include "engine/engine.h"
#include "persist/entry_digest.h"
#include "resp/reply.h"

static bool start(struct call *call, struct digest *digest) {
    if (digest_start(digest)) return true;
    return reply_error(call->reply, "ERR the system's library does not compute SHA-1");
}

static void answer(struct call *call, const uint8_t bytes[DIGEST_SIZE]) {
    sds text = digest_append(sds_new(SLICE("")), bytes);
    reply_status(call->reply, sds_slice(text));
    sds_free(text);
}

static void add_keys(struct digest *digest, const struct keyspace *keyspace) {
    struct keyspace_iter iter;
    const struct entry *entry;
    keyspace_iter_start(&iter, keyspace);
    while ((entry = keyspace_iter_next(&iter))) entry_digest_add(digest, entry);
}

void debug_digest(struct call *call) {
    struct engine *engine = call->engine;
    struct digest digest;
    if (!start(call, &digest)) return;
    for (int i = 0; i < engine->config.databases; i++) {
        if (keyspace_count(engine->keyspaces[i]) == 0) continue;
        entry_digest_add_database(&digest, (unsigned)i);
        add_keys(&digest, engine->keyspaces[i]);
    }
    digest_end(&digest);
    answer(call, digest.bytes);
}

void debug_digest_value(struct call *call) {
    struct digest digest;
    if (!start(call, &digest)) return;
    reply_array(call->reply, call->argc - 2);
    for (size_t i = 2; i < call->argc; i++) {
        uint8_t bytes[DIGEST_SIZE] = {0};
        const struct entry *entry = keyspace_find(call->keyspace, call->argv[i]).entry;
        if (entry) entry_digest_of_value(&digest, entry, bytes);
        answer(call, bytes);
    }
    digest_end(&digest);
}
