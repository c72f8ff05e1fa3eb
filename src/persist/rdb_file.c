#include "persist/rdb_file.h"

#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "base/text/sds.h"
#include "persist/rdb_skip.h"
#include "persist/type_format.h"
#include "types/value.h"

#include <stdio.h>
#include <string.h>

/* --- Writing --- */

static void write_aux(struct rdb_writer *writer, const char *name, struct slice text) {
    rdb_write_byte(writer, RDB_AUX);
    rdb_write_string(writer, slice_of_cstr(name));
    rdb_write_string(writer, text);
}

static void write_aux_integer(struct rdb_writer *writer, const char *name, int64_t value) {
    rdb_write_byte(writer, RDB_AUX);
    rdb_write_string(writer, slice_of_cstr(name));
    rdb_write_integer(writer, value);
}

void rdb_write_header(struct rdb_writer *writer, const struct rdb_facts *facts) {
    char magic[RDB_MAGIC_SIZE + 1];
    if (writer->for_valkey)
        snprintf(magic, sizeof(magic), "%s%03d", RDB_MAGIC_VALKEY, RDB_VERSION_VALKEY);
    else
        snprintf(magic, sizeof(magic), "%s%04d", RDB_MAGIC, RDB_VERSION);
    rdb_write_bytes(writer, magic, RDB_MAGIC_SIZE);
    write_aux(writer, "redis-ver", slice_of_cstr(facts->server_version));
    write_aux_integer(writer, "redis-bits", 8 * (int64_t)sizeof(void *));
    write_aux_integer(writer, "ctime", facts->created_s);
    write_aux_integer(writer, "used-mem", (int64_t)facts->used_memory);
    if (facts->history) {
        write_aux_integer(writer, "repl-stream-db", (int64_t)facts->history->database);
        write_aux(writer, "repl-id", facts->history->id);
        write_aux_integer(writer, "repl-offset", (int64_t)facts->history->offset);
    }
    write_aux_integer(writer, "aof-base", facts->aof_base);
}

void rdb_write_function(struct rdb_writer *writer, struct slice code) {
    rdb_write_byte(writer, RDB_FUNCTION2);
    rdb_write_string(writer, code);
}

void rdb_write_select(struct rdb_writer *writer, uint64_t database) {
    rdb_write_byte(writer, RDB_SELECTDB);
    rdb_write_length(writer, database);
}

void rdb_write_database(struct rdb_writer *writer, uint64_t database, uint64_t keys,
                        uint64_t expiring_keys) {
    rdb_write_select(writer, database);
    rdb_write_byte(writer, RDB_RESIZEDB);
    rdb_write_length(writer, keys);
    rdb_write_length(writer, expiring_keys);
}

void rdb_write_key(struct rdb_writer *writer, const struct entry *entry, struct rdb_usage usage) {
    int64_t expiry_ms = entry_expiry(entry);
    if (expiry_ms >= 0) {
        rdb_write_byte(writer, RDB_EXPIRETIME_MS);
        rdb_write_uint64(writer, (uint64_t)expiry_ms);
    }
    if (usage.kind == RDB_USAGE_IDLE) {
        rdb_write_byte(writer, RDB_IDLE);
        rdb_write_length(writer, usage.value);
    } else if (usage.kind == RDB_USAGE_FREQUENCY) {
        rdb_write_byte(writer, RDB_FREQ);
        rdb_write_byte(writer, (uint8_t)usage.value);
    }
    rdb_write_byte(writer, (uint8_t)type_format_for_writer(writer, type_format_written(entry)));
    rdb_write_string(writer, entry_key(entry));
}

void rdb_write_entry(struct rdb_writer *writer, const struct entry *entry, struct rdb_usage usage) {
    rdb_write_key(writer, entry, usage);
    type_format_write(writer, entry);
}

bool rdb_write_end(struct rdb_writer *writer) {
    rdb_write_byte(writer, RDB_EOF);
    rdb_write_uint64(writer, rdb_writer_checksum(writer));
    return rdb_writer_flush(writer);
}

/* --- Reading --- */

void rdb_file_start(struct rdb_file *file, struct rdb_source source,
                    const struct rdb_file_options *options) {
    *file = (struct rdb_file){.options = *options};
    rdb_reader_start(&file->reader, source, options->checksum);
}

void rdb_file_finish(struct rdb_file *file) {
    rdb_reader_end(&file->reader);
    mem_free(file->kept.bytes);
    file->kept = (struct rdb_scratch){0};
}

/* Returns the number in the digits after the magic, or 0 when some byte is not a digit. */
static unsigned read_version(struct slice digits) {
    unsigned version = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (!number_is_digit(digits.ptr[i])) return 0;
        version = 10 * version + (unsigned)(digits.ptr[i] - '0');
    }
    return version;
}

bool rdb_file_begins(struct slice bytes) {
    return slice_begins(bytes, SLICE(RDB_MAGIC)) || slice_begins(bytes, SLICE(RDB_MAGIC_VALKEY));
}

bool rdb_file_is_named(const char *path) {
    return slice_ends(slice_of_cstr(path), SLICE(".rdb"));
}

static bool read_magic(struct rdb_file *file) {
    const uint8_t *bytes;
    if (!rdb_read_bytes(&file->reader, RDB_MAGIC_SIZE, &bytes)) return false;
    struct slice magic = slice_make(bytes, RDB_MAGIC_SIZE);
    if (!rdb_file_begins(magic))
        return rdb_reader_fail(&file->reader,
                               "not an RDB file (Wrong signature trying to load DB from file)");
    bool valkey = slice_begins(magic, SLICE(RDB_MAGIC_VALKEY));
    size_t prefix = sizeof(RDB_MAGIC) - 1;
    if (valkey) prefix = sizeof(RDB_MAGIC_VALKEY) - 1;
    file->version = read_version(slice_make(bytes + prefix, RDB_MAGIC_SIZE - prefix));
    bool known = valkey ? rdb_version_is_valkey(file->version)
                        : file->version >= 1 && file->version <= RDB_VERSION_MAX;
    return known || rdb_reader_fail(&file->reader,
                                    "unknown RDB version %.*s (Can't handle RDB format version %u)",
                                    RDB_MAGIC_SIZE, (const char *)bytes, file->version);
}

/* What may precede a key. */
struct key_facts {
    int64_t expiry_ms;
    struct rdb_usage usage;
};

/* Adds the key, or its beginning, to the error, in printable characters. Always false. */
static bool fail_in_key(struct rdb_file *file, const struct rdb_file_item *item) {
    enum { SHOWN_MAX = 30 };
    char error[RDB_READER_ERROR_MAX];
    bool is_long = item->key.len > SHOWN_MAX && !file->options.hide_keys;
    struct slice begin = slice_make(item->key.ptr, is_long ? SHOWN_MAX : item->key.len);
    sds shown = file->options.hide_keys ? sds_new(SLICE(RDB_HIDDEN_KEY))
                                        : sds_append_quoted(sds_new(SLICE("")), begin);
    memcpy(error, file->reader.error, sizeof(error));
    snprintf(file->reader.error, sizeof(file->reader.error), "%.90s, in key %s%s of type %s", error,
             shown, is_long ? "…" : "", item->type_name);
    sds_free(shown);
    return false;
}

/* Skips a key with a value of an unsupported type. */
static bool skip_entry(struct rdb_file *file, unsigned type, struct rdb_file_item *item) {
    item->kind = RDB_ITEM_SKIPPED;
    item->can_be_skipped = rdb_can_skip_value(type);
    if (!file->options.skip_unknown || !item->can_be_skipped)
        rdb_reader_fail(&file->reader, "values of this type can't be %s",
                        file->options.skip_unknown ? "skipped" : "loaded");
    else if (rdb_skip_value(&file->reader, type))
        return true;
    return fail_in_key(file, item);
}

static bool read_entry(struct rdb_file *file, unsigned type, const struct key_facts *facts,
                       struct rdb_file_item *item) {
    if (!rdb_read_kept_string(&file->reader, &file->kept, &item->key)) return false;
    item->type_name = rdb_type_name(type);
    if (!type_format_reading(type)) return skip_entry(file, type, item);
    item->kind = RDB_ITEM_ENTRY;
    item->usage = facts->usage;
    item->entry = type_format_read(&file->reader, type, item->key, &file->options.values);
    if (!item->entry) {
        item->kind = RDB_ITEM_EMPTY; /* unless it is bad */
        return rdb_reader_pass_empty(&file->reader) || fail_in_key(file, item);
    }
    if (facts->expiry_ms >= 0)
        item->entry = entry_set_expiry(item->entry, facts->expiry_ms, value_size(item->entry));
    return true;
}

static bool read_end(struct rdb_file *file, struct rdb_file_item *item) {
    uint64_t stored, computed = rdb_reader_checksum(&file->reader);
    item->kind = RDB_ITEM_END;
    if (file->version < RDB_CHECKSUM_VERSION_MIN) return true;
    if (!rdb_read_uint64(&file->reader, &stored)) return false;
    return !file->options.checksum || stored == 0 || stored == computed ||
           rdb_reader_fail(&file->reader,
                           "wrong checksum (RDB CRC error): %016llx is expected, %016llx is found",
                           (unsigned long long)computed, (unsigned long long)stored);
}

/* Reads an opcode that precedes a key; *is_prefix tells whether this opcode does. */
static bool read_prefix(struct rdb_file *file, uint8_t opcode, struct key_facts *facts,
                        bool *is_prefix) {
    struct rdb_reader *reader = &file->reader;
    uint64_t word;
    uint32_t seconds;
    uint8_t byte;
    *is_prefix = true;
    switch (opcode) {
    case RDB_EXPIRETIME_MS:
        if (!rdb_read_uint64(reader, &word)) return false;
        facts->expiry_ms = (int64_t)word;
        return facts->expiry_ms >= 0 || rdb_reader_fail(reader, "invalid expiry");
    case RDB_EXPIRETIME:
        if (!rdb_read_uint32(reader, &seconds)) return false;
        facts->expiry_ms = (int64_t)seconds * 1000;
        return true;
    case RDB_IDLE:
        facts->usage.kind = RDB_USAGE_IDLE;
        return rdb_read_length(reader, &facts->usage.value);
    case RDB_FREQ:
        if (!rdb_read_byte(reader, &byte)) return false;
        facts->usage = (struct rdb_usage){RDB_USAGE_FREQUENCY, byte};
        return true;
    }
    *is_prefix = false;
    return true;
}

static bool read_aux(struct rdb_file *file, struct rdb_file_item *item) {
    item->kind = RDB_ITEM_AUX;
    return rdb_read_kept_string(&file->reader, &file->kept, &item->name) &&
           rdb_read_string(&file->reader, &item->text);
}

static bool read_resize(struct rdb_file *file, struct rdb_file_item *item) {
    item->kind = RDB_ITEM_RESIZE;
    return rdb_read_length(&file->reader, &item->keys) &&
           rdb_read_length(&file->reader, &item->expiring_keys);
}

static bool skip_foreign(struct rdb_file *file, uint8_t opcode, struct rdb_file_item *item) {
    item->kind = RDB_ITEM_SKIPPED;
    bool is_valkey = rdb_version_is_valkey(file->version);
    item->type_name = rdb_foreign_name(opcode, is_valkey);
    item->can_be_skipped = rdb_can_skip_foreign(opcode, is_valkey);
    if (!file->options.skip_unknown || !item->can_be_skipped)
        return rdb_reader_fail(&file->reader, "a %s can't be %s", item->type_name,
                               file->options.skip_unknown ? "skipped" : "loaded");
    return rdb_skip_foreign(&file->reader, opcode, is_valkey);
}

bool rdb_file_next(struct rdb_file *file, struct rdb_file_item *item) {
    struct key_facts facts = {.expiry_ms = -1};
    uint8_t opcode;
    bool is_prefix, has_prefix = false;
    *item = (struct rdb_file_item){0};
    if (file->version == 0 && !read_magic(file)) return false;
    for (;; has_prefix |= is_prefix) {
        if (!rdb_read_byte(&file->reader, &opcode)) return false;
        if (!read_prefix(file, opcode, &facts, &is_prefix)) return false;
        if (is_prefix) continue;
        if (opcode != RDB_SLOT_INFO || has_prefix) break;
        if (!rdb_skip_slot_info(&file->reader)) return false; /* a hint */
    }
    if (rdb_type_name(opcode)) return read_entry(file, opcode, &facts, item);
    if (has_prefix && opcode != RDB_KEY_META)
        return rdb_reader_fail(&file->reader, "a key was expected, not %u", opcode);
    switch (opcode) {
    case RDB_EOF: return read_end(file, item);
    case RDB_AUX: return read_aux(file, item);
    case RDB_RESIZEDB: return read_resize(file, item);
    case RDB_FUNCTION2:
        item->kind = RDB_ITEM_FUNCTION;
        return rdb_read_string(&file->reader, &item->text);
    case RDB_SELECTDB:
        item->kind = RDB_ITEM_DATABASE;
        return rdb_read_length(&file->reader, &item->database);
    }
    if (rdb_foreign_name(opcode, rdb_version_is_valkey(file->version)))
        return skip_foreign(file, opcode, item);
    return rdb_reader_fail(&file->reader, "unknown type %u", opcode);
}
