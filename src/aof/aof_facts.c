/* aof_facts: the state of the append-only file as other modules see it. */
#include "aof/aof.h"
#include "aof/aof_internal.h"

#include <string.h>

const char *aof_error(struct engine *engine) {
    struct aof *aof = engine->aof;
    int error = aof->write_error ? aof->write_error : aof->sync_error;
    return error ? strerror(error) : NULL;
}

bool aof_is_synced(struct engine *engine, uint64_t position) {
    struct aof *aof = engine->aof;
    return aof->state == AOF_ON && position <= aof->synced_position;
}

/* Returns the bytes that count: a small empty buffer is kept for reuse and does not. */
static size_t size_of_buffer(const struct reply *buffer) {
    return buffer->capacity > AOF_BUFFER_KEEP_MAX ? buffer->capacity : buffer->len;
}

size_t aof_buffer_size(struct engine *engine) {
    struct aof *aof = engine->aof;
    if (aof->state == AOF_OFF) return 0;
    return size_of_buffer(&aof->buffer) + size_of_buffer(&engine->command_log.bytes);
}

size_t aof_buffers_allocated(const struct engine *engine) {
    return engine->aof->buffer.capacity + engine->command_log.bytes.capacity;
}
