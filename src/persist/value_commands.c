#include "persist/value_commands.h"

#include "base/checked.h"
#include "base/text/number.h"

/* --- Parts of commands --- */

/* Writes a line such as "*3\r\n": the number of arguments, or the length of one. */
static void write_count(struct rdb_writer *writer, char kind, uint64_t count) {
    char line[1 + INT64_TEXT_MAX + 2] = {kind};
    size_t len = 1 + number_format_uint64(line + 1, count);
    line[len++] = '\r';
    line[len++] = '\n';
    rdb_write_bytes(writer, line, len);
}

void value_commands_text(struct rdb_writer *writer, struct slice text) {
    write_count(writer, '$', text.len);
    rdb_write_bytes(writer, text.ptr, text.len);
    rdb_write_bytes(writer, "\r\n", 2);
}

void value_commands_text_capture(struct rdb_writer *writer, struct capture *capture) {
    char part[8 * 1024];
    size_t len = text_capture_len(capture), size;
    write_count(writer, '$', len);
    for (size_t at = 0; at < len && !writer->error; at += size) {
        size = len - at < sizeof(part) ? len - at : sizeof(part);
        text_capture_read(capture, at, part, size);
        text_capture_pass(capture, at + size);
        rdb_write_bytes(writer, part, size);
    }
    rdb_write_bytes(writer, "\r\n", 2);
}

void value_commands_begin(struct rdb_writer *writer, const char *name, struct slice key,
                          size_t arguments) {
    write_count(writer, '*', 2 + arguments);
    value_commands_text(writer, slice_of_cstr(name));
    value_commands_text(writer, key);
}

void value_commands_write(struct rdb_writer *writer, const struct slice *words, size_t count) {
    write_count(writer, '*', count);
    for (size_t i = 0; i < count; i++) value_commands_text(writer, words[i]);
}

void value_commands_member(struct value_commands_members *members) {
    if (members->room == 0) {
        CHECKED_ASSERT(members->left > 0);
        members->room =
            members->left < VALUE_COMMANDS_MEMBERS ? members->left : VALUE_COMMANDS_MEMBERS;
        members->left -= members->room;
        value_commands_begin(members->writer, members->name, members->key,
                             members->arguments * members->room);
    }
    members->room--;
}

/* --- Whole commands --- */

void value_commands_write_expiry(struct rdb_writer *writer, const struct entry *entry) {
    char digits[INT64_TEXT_MAX];
    if (entry_expiry(entry) < 0) return;
    VALUE_COMMAND(writer, SLICE("PEXPIREAT"), entry_key(entry),
                  number_text(digits, entry_expiry(entry)));
}

void value_commands_select(struct rdb_writer *writer, int database) {
    char digits[INT64_TEXT_MAX];
    VALUE_COMMAND(writer, SLICE("SELECT"), number_text(digits, database));
}

void value_commands_load_function(struct rdb_writer *writer, struct slice code) {
    VALUE_COMMAND(writer, SLICE("FUNCTION"), SLICE("LOAD"), code);
}
