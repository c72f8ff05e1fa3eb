#include "aof/aof_base_commands.h"

#include "base/number.h"
#include "engine/engine.h"
#include "engine/functions.h"
#include "persist/type_format.h"
#include "resp/reply.h"
#include "snapshot/child.h"
#include "snapshot/disk_file.h"
#include "snapshot/key_delay.h"
#include "store/keyspace.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { WRITE_AT = 64 * 1024, KEYS_PER_NOTE = 1024 /* between two calls of child_note_keys */ };

struct output {
    struct value_commands commands; /* first, as end_command receives its address */
    struct engine *engine;
    struct disk_file file;
    uint64_t keys;
    bool ok;
};

/* Writes the buffered commands. */
static bool flush(struct output *output) {
    struct reply *bytes = &output->commands.bytes;
    output->ok = output->ok && disk_file_write(&output->file, bytes->data, bytes->len);
    bytes->len = 0;
    child_note_keys(output->engine, output->keys);
    return output->ok;
}

/* The `ended` of a struct value_commands. */
static bool end_command(struct value_commands *commands) {
    struct output *output = (struct output *)commands;
    return commands->bytes.len < WRITE_AT ? output->ok : flush(output);
}

static void write_functions(struct engine *engine, struct output *output) {
    const struct function_set *set = engine->functions->set;
    for (size_t i = 0; output->ok && i < set->library_count; i++) {
        value_commands_begin(&output->commands, "FUNCTION", SLICE("LOAD"), 1);
        reply_bulk(&output->commands.bytes, sds_slice(set->libraries[i]->code));
        value_commands_end(&output->commands);
    }
}

static void write_database(struct engine *engine, struct output *output, int number) {
    struct keyspace_iter iter;
    const struct entry *entry;
    char buffer[INT64_TEXT_MAX];
    if (keyspace_count(engine->keyspaces[number]) == 0) return;
    value_commands_begin(&output->commands, "SELECT", number_text(buffer, number), 0);
    keyspace_iter_start(&iter, engine->keyspaces[number]);
    while (output->ok && (entry = keyspace_iter_next(&iter))) {
        key_delay(engine->config.rdb_key_save_delay, output->keys);
        entry_commands_write(&output->commands, entry);
        if (++output->keys % KEYS_PER_NOTE == 0) child_note_keys(engine, output->keys);
    }
}

void aof_base_commands_annotate(struct reply *bytes, int64_t time_s) {
    char line[32];
    int len = snprintf(line, sizeof(line), "#TS:%lld\r\n", (long long)time_s);
    reply_raw(bytes, slice_make(line, (size_t)len));
}

bool aof_base_commands_write_file(struct engine *engine, const char *path, bool sync_in_stretches) {
    struct output output = {.commands = {.ended = end_command}, .engine = engine, .ok = true};
    if (!disk_file_create(&output.file, path, sync_in_stretches)) return false;
    reply_init(&output.commands.bytes, WRITE_AT);
    if (engine->config.aof_timestamps)
        aof_base_commands_annotate(&output.commands.bytes, engine->now_ms / 1000);
    write_functions(engine, &output);
    for (int i = 0; i < engine->config.databases; i++) write_database(engine, &output, i);
    flush(&output);
    reply_free(&output.commands.bytes);
    bool done = disk_file_close(&output.file, output.ok);
    int error = errno;
    if (!done) unlink(path);
    errno = error;
    return done;
}
