#include "durability/aof_commands.h"

#include "base/number.h"
#include "durability/child.h"
#include "durability/disk_file.h"
#include "durability/key_delay.h"
#include "server/server.h"
#include "types/list.h"
#include "types/string.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum {
    WRITE_AT = 64 * 1024,
    ELEMENTS_PER_COMMAND = 64,
    KEYS_PER_NOTE = 1024 /* between two looks at the time */
};

struct output {
    struct disk_file file;
    struct reply bytes;
    uint64_t keys;
    bool ok;
};

/* Behind each command: what has gathered is written now and then. */
static void end_command(struct output *output, size_t at_least) {
    if (!output->ok || output->bytes.len < at_least) return;
    output->ok = disk_file_write(&output->file, output->bytes.data, output->bytes.len);
    output->bytes.len = 0;
    child_note_keys(output->keys);
}

static void begin_command(struct output *output, const char *name, struct slice key,
                          size_t arguments) {
    reply_array(&output->bytes, 2 + arguments);
    reply_bulk_cstr(&output->bytes, name);
    reply_bulk(&output->bytes, key);
}

static void write_string(struct output *output, const struct entry *entry) {
    char buffer[INT64_TEXT_MAX];
    begin_command(output, "SET", entry_key(entry), 1);
    reply_bulk(&output->bytes, string_text(entry, buffer));
    end_command(output, WRITE_AT);
}

static void write_list(struct output *output, const struct entry *entry) {
    struct list_iter iter;
    uint64_t left = list_length(entry);
    list_iter_start(&iter, entry, 0, LIST_FORWARD);
    while (left > 0 && output->ok) {
        size_t count = left < ELEMENTS_PER_COMMAND ? (size_t)left : ELEMENTS_PER_COMMAND;
        begin_command(output, "RPUSH", entry_key(entry), count);
        for (size_t i = 0; i < count; i++)
            reply_listpack_element(&output->bytes, list_iter_next(&iter));
        end_command(output, WRITE_AT);
        left -= count;
    }
    list_iter_end(&iter);
}

static void write_entry(struct output *output, const struct entry *entry) {
    if (entry_type(entry) == VALUE_LIST)
        write_list(output, entry);
    else
        write_string(output, entry);
    if (entry_expiry(entry) < 0) return;
    begin_command(output, "PEXPIREAT", entry_key(entry), 1);
    reply_bulk_integer(&output->bytes, entry_expiry(entry));
}

static void write_database(struct output *output, int number) {
    struct keyspace_iter iter;
    const struct entry *entry;
    char buffer[INT64_TEXT_MAX];
    if (keyspace_count(server.keyspaces[number]) == 0) return;
    begin_command(output, "SELECT", number_text(buffer, number), 0);
    keyspace_iter_start(&iter, server.keyspaces[number]);
    while (output->ok && (entry = keyspace_iter_next(&iter))) {
        key_delay(server.config.rdb_key_save_delay, output->keys);
        write_entry(output, entry);
        if (++output->keys % KEYS_PER_NOTE == 0) child_note_keys(output->keys);
    }
}

void aof_commands_annotate(struct reply *bytes, int64_t time_s) {
    char line[32];
    int len = snprintf(line, sizeof(line), "#TS:%lld\r\n", (long long)time_s);
    reply_raw(bytes, slice_make(line, (size_t)len));
}

bool aof_commands_write_file(const char *path, bool incremental) {
    struct output output = {.ok = true};
    if (!disk_file_create(&output.file, path, incremental)) return false;
    reply_init(&output.bytes, WRITE_AT);
    if (server.config.aof_timestamps) aof_commands_annotate(&output.bytes, server.now_ms / 1000);
    for (int i = 0; i < server.config.databases; i++) write_database(&output, i);
    end_command(&output, 0);
    reply_free(&output.bytes);
    bool done = disk_file_close(&output.file, output.ok);
    int error = errno;
    if (!done) unlink(path);
    errno = error;
    return done;
}
