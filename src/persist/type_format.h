/* type_format: what values look like outside of memory: in RDB files and DUMP payloads, in digests,
 * and as commands. Each type has one row of these, the counterpart of its row in
 * types/type_operations.h; persist/type_format.c joins them in a table.
 *
 * A type declares its functions by the names that TYPE_FORMAT forms from its prefix, and its row is
 * one line. A function that is missing does not compile. */
#ifndef PACKLIST_PERSIST_TYPE_FORMAT_H
#define PACKLIST_PERSIST_TYPE_FORMAT_H

#include "persist/digest.h"
#include "persist/rdb_value.h"
#include "persist/value_commands.h"

/* Every function gets entries of its type only, and takes O(value). */
struct type_format {
    uint32_t read_types; /* each enum rdb_type that read() reads: RDB_TYPE_BIT of it */

    /* See rdb_value_type: what write() will write of this entry. O(1). */
    unsigned (*written)(const struct entry *entry);

    /* See rdb_write_value. */
    void (*write)(struct rdb_writer *writer, const struct entry *entry);

    /* Writes the same for a capture, whose state is the type's own: rdb_write_capture. */
    void (*write_capture)(struct rdb_writer *writer, void *state);

    /* See rdb_read_value; `type` is one of read_types. */
    struct entry *(*read)(struct rdb_reader *reader, unsigned type, struct slice key,
                          const struct rdb_load_options *options);

    /* Mixes the members of the value into `to`: those that have an order by digest_mix, others by
     * digest_add. */
    void (*digest)(struct digest *digest, uint8_t to[DIGEST_SIZE], const struct entry *entry);

    /* Adds the commands that make the value under its key; false as soon as value_commands_end
     * returns false. A command has at most VALUE_COMMANDS_MEMBERS members of a collection. */
    bool (*write_commands)(struct value_commands *commands, const struct entry *entry);
};

/* The bit that stands for an enum rdb_type in read_types. */
#define RDB_TYPE_BIT(type) ((uint32_t)1 << (type))

/* The row of the type whose functions begin with `prefix`. The initialisers stand in the order of
 * the members, and the compiler refuses a row that lacks the last ones. */
#define TYPE_FORMAT(prefix, read_types)                                                            \
    {                                                                                              \
        (read_types), prefix##_format_written, prefix##_format_write,                              \
            prefix##_format_write_capture, prefix##_format_read, prefix##_format_digest,           \
            prefix##_format_write_commands                                                         \
    }
#pragma GCC diagnostic error "-Wmissing-field-initializers"

/* The rows. */
extern const struct type_format string_format; /* persist/string_format.c */
extern const struct type_format list_format;   /* persist/list_format.c */
extern const struct type_format set_format;    /* persist/set_format.c */
extern const struct type_format hash_format;   /* persist/hash_format.c */

/* The row of a type (any number); NULL when there are no values of it. O(1). */
const struct type_format *type_format_of(enum value_type type);

/* The row of the entry's type; the process ends when there are no values of it. O(1). */
const struct type_format *type_format_of_entry(const struct entry *entry);

/* The row that reads values of this form (an enum rdb_type, or any byte), or NULL. O(types). */
const struct type_format *type_format_reading(unsigned rdb_type);

#endif
