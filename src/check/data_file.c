#include "check/data_file.h"

#include "base/files/file.h"
#include "base/text/number.h"
#include "persist/command_reader.h"
#include "persist/function_code.h"
#include "persist/rdb_file.h"
#include "table/command.h"
#include "types/value.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_SHOWN = 60 };

struct input {
    int fd;
    struct progress *progress;
};

/* A struct rdb_source's read. */
static ssize_t read_input(void *arg, void *bytes, size_t room) {
    struct input *input = arg;
    ssize_t count = file_read_some(input->fd, bytes, room);
    if (count > 0) progress_add(input->progress, (uint64_t)count);
    return count;
}

/* The text in quotes, cut when it is long. */
static sds append_shown(sds out, struct slice text) {
    bool is_long = text.len > TEXT_SHOWN;
    if (is_long) text.len = TEXT_SHOWN;
    out = sds_append_quoted(out, text);
    return is_long ? sds_append_cstr(out, "…") : out;
}

static void note_wrong(struct finding *finding, uint64_t at, const char *what) {
    finding->wrong = sds_new(slice_of_cstr(what));
    finding->wrong_at = at;
}

/* --- Snapshots --- */

static void note_foreign(struct finding *finding, const struct rdb_file_item *item,
                         uint64_t database) {
    bool is_key = item->key.ptr;
    finding->others += !is_key;
    if (++finding->foreign > FINDING_NAMES_MAX) return;
    sds names = finding->foreign_names ? finding->foreign_names : sds_new(SLICE(""));
    names = sds_append_format(names, "%s%s", sds_len(names) ? ", " : "", item->type_name);
    if (is_key) {
        names = append_shown(sds_append_cstr(names, " "), item->key);
        names = sds_append_format(names, " of database %llu", (unsigned long long)database);
    }
    finding->foreign_names = names;
}

/* Checks what is known of a library without running it: its first line. */
static bool check_library(struct rdb_file *file, struct slice code) {
    struct function_code parsed;
    sds error;
    if (function_code_parse(&parsed, code, &error)) {
        function_code_free(&parsed);
        return true;
    }
    rdb_reader_fail(&file->reader, "a library of functions is bad: %s", error);
    sds_free(error);
    return false;
}

/* Takes the items of the snapshot; false when it is bad. *database gets the last one. */
static bool take_items(struct rdb_file *file, struct finding *finding, uint64_t *database) {
    struct rdb_file_item item;
    do {
        if (!rdb_file_next(file, &item)) return false;
        if (item.kind == RDB_ITEM_DATABASE) {
            *database = item.database;
            finding->databases++;
        } else if (item.kind == RDB_ITEM_ENTRY) {
            finding->keys++;
            finding->expiring += entry_expiry(item.entry) >= 0;
            value_free(item.entry);
        } else if (item.kind == RDB_ITEM_FUNCTION) {
            finding->libraries++;
            if (!check_library(file, item.text)) return false;
        } else if (item.kind == RDB_ITEM_EMPTY) {
            finding->empty++;
        } else if (item.kind == RDB_ITEM_SKIPPED) {
            note_foreign(finding, &item, *database);
        }
    } while (item.kind != RDB_ITEM_END);
    return true;
}

/* Reads the snapshot; false when it is bad. */
static bool read_snapshot(struct input *input, struct finding *finding) {
    struct rdb_file_options options = {
        .values = {.limits = value_limits_default}, .checksum = true, .skip_unknown = true};
    struct rdb_file file;
    uint64_t database = 0;
    finding->has_snapshot = true;
    rdb_file_start(&file, (struct rdb_source){read_input, input}, &options);
    bool good = take_items(&file, finding, &database);
    if (!good) {
        note_wrong(finding, rdb_reader_error_offset(&file.reader), rdb_reader_error(&file.reader));
        finding->wrong =
            sds_append_format(finding->wrong, ", database %llu", (unsigned long long)database);
    }
    finding->version = file.version;
    finding->whole = good ? rdb_reader_offset(&file.reader) : 0;
    rdb_file_finish(&file);
    return good;
}

/* --- Commands --- */

/* The database that is selected after the command. */
static void note_select(const struct command_parser *command, int64_t *database) {
    if (command->argc == 2 && slice_is(command->argv[0], "select"))
        number_parse_int64(command->argv[1], database);
}

/* What is known of the item at which reading ended: a command and its key, or how it begins. */
static sds append_item(sds out, const struct command_reader *reader) {
    const struct command_parser *item = &reader->parser;
    out = sds_append_cstr(out, "; ");
    if (item->argc == 0) out = append_shown(out, command_reader_rest(reader));
    for (size_t i = 0; i < item->argc && i < 2; i++) {
        if (i > 0) out = sds_append_cstr(out, " ");
        out = append_shown(out, item->argv[i]);
    }
    return sds_append_format(out, " at byte %llu", (unsigned long long)reader->offset);
}

/* Returns whether a server runs it from a file. The values of its arguments are not looked at. */
static bool is_known(const struct slice *argv, size_t argc) {
    return argc > 0 && command_find_in_file(argv, argc);
}

/* Records a command that no Packlist server runs from a file. */
static void note_command(struct finding *finding, const struct command_reader *reader) {
    const struct command_parser *command = &reader->parser;
    if (is_known(command->argv, command->argc)) return;
    if (++finding->foreign_commands == 1)
        finding->foreign_command =
            sds_append_format(append_shown(sds_new(SLICE("")), command->argv[0]), " at byte %llu",
                              (unsigned long long)reader->offset);
}

static void note_place(struct finding *finding, const struct command_reader *reader,
                       int64_t database) {
    if (command_reader_rest(reader).len > 0) finding->wrong = append_item(finding->wrong, reader);
    finding->wrong = sds_append_format(finding->wrong, ", database %lld", (long long)database);
    if (reader->in_multi)
        finding->wrong = sds_append_format(finding->wrong, ", transaction from byte %llu on",
                                           (unsigned long long)reader->multi_offset);
}

static void note_end(struct finding *finding, const struct command_reader *reader,
                     enum command_read read, int64_t database) {
    size_t rest = command_reader_rest(reader).len;
    uint64_t end = reader->next_offset + rest;
    if (read == COMMAND_READ_END) return;
    if (read == COMMAND_READ_FAILED)
        note_wrong(finding, end, strerror(errno));
    else if (read == COMMAND_READ_BAD)
        note_wrong(finding, reader->error_offset, reader->error);
    else
        note_wrong(finding, end,
                   rest > 0 ? "the file ends inside a command" : "the file ends before EXEC");
    note_place(finding, reader, database);
    finding->can_be_cut = read != COMMAND_READ_FAILED;
}

static void read_commands(struct input *input, struct finding *finding) {
    struct command_reader reader;
    enum command_read read;
    int64_t database = 0;
    command_reader_start(&reader, (struct rdb_source){read_input, input}, finding->whole);
    while ((read = command_reader_next(&reader)) <= COMMAND_READ_ANNOTATION) {
        finding->commands += read == COMMAND_READ_COMMAND;
        finding->transactions += read == COMMAND_READ_EXEC;
        if (read != COMMAND_READ_COMMAND) continue;
        note_select(&reader.parser, &database);
        note_command(finding, &reader);
    }
    note_end(finding, &reader, read, database);
    finding->whole = reader.whole;
    command_reader_end(&reader);
}

/* --- Files --- */

/* Commands begin with an array or an annotation. A file that begins otherwise is not taken for one
 * that could be cut. */
static bool may_be_commands(struct slice bytes) {
    return bytes.len == 0 || bytes.ptr[0] == '*' || bytes.ptr[0] == '#';
}

void data_file_read(int fd, struct progress *progress, struct finding *finding) {
    struct input input = {fd, progress};
    char bytes[RDB_MAGIC_SIZE];
    ssize_t count = pread(fd, bytes, sizeof(bytes), 0);
    *finding = (struct finding){0};
    if (count < 0) {
        note_wrong(finding, 0, strerror(errno));
        return;
    }
    struct slice begin = slice_make(bytes, (size_t)count);
    if (rdb_file_begins(begin)) {
        if (!read_snapshot(&input, finding)) return;
        /* Read ahead: the commands begin where the snapshot ends. */
        if (lseek(fd, (off_t)finding->whole, SEEK_SET) < 0) {
            note_wrong(finding, finding->whole, strerror(errno));
            return;
        }
    } else if (!may_be_commands(begin)) {
        note_wrong(finding, 0, "neither a snapshot nor commands begin here");
        return;
    }
    read_commands(&input, finding);
}

void finding_free(struct finding *finding) {
    sds_free(finding->wrong);
    sds_free(finding->foreign_names);
    sds_free(finding->foreign_command);
}
