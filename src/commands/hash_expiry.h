/* hash_expiry: what the commands share that let fields of a hash expire: their arguments, and what
 * follows a change. */
#ifndef PACKLIST_COMMANDS_HASH_EXPIRY_H
#define PACKLIST_COMMANDS_HASH_EXPIRY_H

#include "commands/hash_common.h"

#define FIELD_COUNT_ERROR "ERR Number of fields must be a positive integer"

/* FIELDS count field …: a part of the call's arguments. */
struct field_list {
    const struct slice *first;
    size_t count;
};

/* Parses it: the word FIELDS stands at argv[index], the last field at the end. Otherwise replies
 * the error (`count_error` for a count that is not a number above 0) and returns false. */
bool field_list_parse(struct call *call, size_t index, const char *count_error,
                      struct field_list *fields);

/* Parses the time at argv[index], in units of `unit_ms` milliseconds, counted from `base_ms`;
 * otherwise replies the error and returns false. An expiry after HASH_EXPIRY_MAX_MS is an error of
 * a client; where the command is repeated it becomes HASH_EXPIRY_MAX_MS. */
bool field_expiry_parse(struct call *call, size_t index, int64_t unit_ms, int64_t base_ms,
                        int64_t *expiry_ms);

/* Returns whether the word is EX, PX, EXAT or PXAT. */
bool field_expiry_is_option(struct slice word);

/* Parses such a word at argv[index] with its time after it; else replies the error and returns
 * false. */
bool field_expiry_option(struct call *call, size_t index, int64_t *expiry_ms);

/* The fields whose expiry a command has set (HGETEX PERSIST: taken away), and those that it has
 * deleted: HGETDEL any field, other commands a field whose new expiry had already passed. Each
 * array has space for the `capacity` of field_changes_begin. The fields are views. */
struct field_changes {
    struct slice *expiring;
    struct slice *deleted;
    size_t expiring_count;
    size_t deleted_count;
};

void field_changes_begin(struct field_changes *changes, size_t capacity);
void field_changes_note(struct field_changes *changes, struct slice field,
                        enum hash_expiry_result result);

/* Reports what was noted of the hash under argv[1]: events, propagation as HPEXPIREAT and HDEL. */
void field_changes_report(struct call *call, struct keyref *ref,
                          const struct field_changes *changes, int64_t expiry_ms);
void field_changes_end(struct field_changes *changes);

/* Propagates the words, the number of fields, and the fields, as `words FIELDS count field …`. */
void field_propagate(struct call *call, const struct slice *words, size_t word_count,
                     const struct slice *fields, size_t count);

/* Propagates HDEL of the fields. */
void field_propagate_deleted(struct call *call, const struct slice *fields, size_t count);

#endif
